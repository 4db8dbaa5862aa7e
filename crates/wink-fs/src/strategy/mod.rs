//! The ways to keep snapshots of a directory, and how one is chosen.

mod archive;
mod capture;
#[cfg(target_os = "linux")]
mod copy;
#[cfg(unix)]
mod git;
mod keeper;
mod kept;
mod manifest;
mod options;
#[cfg(target_os = "linux")]
mod overlay;
#[cfg(target_os = "linux")]
mod reflink;
mod retention;
mod streamed;
mod tar;
mod tree;

use std::fmt;
use std::str::FromStr;

pub use self::options::StrategyOptions;
#[cfg(target_os = "linux")]
pub use self::overlay::OverlayMount;
use crate::error::{Error, ErrorKind, Operation, Result};

/// Names a way to keep snapshots.
///
/// All of them keep the same: one workspace has the same [`tree_hash`](crate::tree_hash) by each.
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
    /// The first that the directory and the machine are made for: `reflink` where files can be cloned, `git`
    /// for a git repository, `overlay` for what `OverlayMount` mounted, `archive`, `copy`.
    Auto,
    /// The content-addressed store, which works everywhere and is the fastest.
    #[default]
    Store,
    /// Clones that share their space with the files; on btrfs and XFS.
    Reflink,
    /// Objects of a bare git repository, which git can read; a prune takes those of deleted snapshots out.
    Git,
    /// What is different from the base of a workspace that `OverlayMount` mounted; the base must stay as
    /// it is.
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
    /// Returns its name, as settings spell it.
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
