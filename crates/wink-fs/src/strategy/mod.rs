//! The snapshot strategies, and how one is chosen.

mod archive;
mod capture;
#[cfg(target_os = "linux")]
mod copy;
#[cfg(unix)]
mod git;
mod keeper;
mod manifest;
mod options;
#[cfg(target_os = "linux")]
mod overlay;
#[cfg(target_os = "linux")]
mod reflink;
mod retention;
mod snapshots;
mod tar;
mod tree;

use std::fmt;
use std::str::FromStr;

pub use self::options::StrategyOptions;
#[cfg(target_os = "linux")]
pub use self::overlay::OverlayMount;
use crate::error::{Error, ErrorKind, Operation, Result};

/// A way to keep snapshots.
///
/// All of them keep the same: a workspace has the same [`tree_hash`](crate::tree_hash) with each.
///
/// ```
/// use wink_fs::Strategy;
///
/// assert_eq!("archive".parse::<Strategy>()?, Strategy::Archive);
/// assert_eq!(Strategy::Reflink.to_string(), "reflink");
/// assert_eq!(Strategy::default(), Strategy::Store);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// The first that fits the directory and the machine: `reflink` if files can be cloned, `git` for a git repository,
    /// `overlay` for a workspace of `OverlayMount`, `archive`, `copy`.
    Auto,
    /// The content-addressed store, which works everywhere and is the fastest.
    #[default]
    Store,
    /// Clones that share their space with the files; on Btrfs and XFS.
    Reflink,
    /// Objects of a bare git repository, readable by git; a prune removes those of deleted snapshots.
    Git,
    /// The difference from the base of a workspace of `OverlayMount`; the base must not change.
    Overlay,
    /// A compressed tar for each snapshot.
    Archive,
    /// A directory of copies for each snapshot.
    Copy,
}

/// Every strategy with its name in settings and results.
const NAMES: [(Strategy, &str); 7] = [
    (Strategy::Auto, "auto"),
    (Strategy::Store, "store"),
    (Strategy::Reflink, "reflink"),
    (Strategy::Git, "git"),
    (Strategy::Overlay, "overlay"),
    (Strategy::Archive, "archive"),
    (Strategy::Copy, "copy"),
];

impl Strategy {
    /// Returns its name in settings.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(strategy, _)| *strategy == self).map_or("auto", |(_, name)| name)
    }
}

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = NAMES.iter().find(|(_, name)| *name == text);
        found.map(|(strategy, _)| *strategy).ok_or_else(|| unknown(text))
    }
}

fn unknown(text: &str) -> Error {
    let names: Vec<_> = NAMES.iter().map(|(_, name)| *name).collect();
    Error::new(Operation::OpenStore, ErrorKind::InvalidArgument)
        .with_path_text(text)
        .with_detail(format!("no snapshot strategy has this name; use one of {}", names.join(", ")))
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
