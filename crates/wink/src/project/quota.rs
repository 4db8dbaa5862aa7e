//! The quota of a history, and whether it prevents the next snapshot.

use std::error::Error as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wink_fs::{Error, ErrorKind, Result as FsResult, Usage};

use crate::cli::context::Opened;
use crate::cli::state_ref;
use crate::error::CliError;
use crate::project::retention;
use crate::sys::disk;
use crate::ui::format;

/// The file beside the settings that records a refused snapshot.
const FILE: &str = "refused.json";

/// The space that a history takes, and may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quota {
    pub(crate) used: Usage,
    pub(crate) max_bytes: Option<u64>,
}

/// A refused snapshot: unless one of these values changes, the next one is refused too.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    /// The last snapshot at that time.
    last: Option<String>,
    bytes: u64,
    max_bytes: Option<u64>,
    /// What the history would have taken with it.
    #[serde(default)]
    needed: u64,
}

impl Quota {
    pub(crate) fn of(opened: &Opened) -> Result<Self, CliError> {
        let max_bytes = retention::of(&opened.project)?.max_bytes;
        Ok(Self { used: opened.files.usage()?, max_bytes })
    }

    /// Returns a warning if the history is nearly full.
    pub(crate) fn warning(self) -> Option<String> {
        let max = self.max_bytes.filter(|max| self.used.is_nearly_full(Some(*max)))?;
        let (bytes, most) = (format::size(self.used.bytes), format::size(max));
        Some(format!("warning: the history takes {bytes} of {most}; see `wink prune --help`"))
    }

    /// Says why the next snapshot may be refused, if it may: the last one was and nothing has changed, or so many new
    /// bytes may not fit.
    pub(crate) fn shortage(
        self,
        opened: &Opened,
        new_bytes: u64,
    ) -> Result<Option<String>, CliError> {
        let Some(max) = self.max_bytes else { return Ok(None) };
        let taken = format!("{} of {}", format::size(self.used.bytes), format::size(max));
        if let Some(needed) = was_refused(opened, self)? {
            let needed = format::size(needed);
            return Ok(Some(format!(
                "the last snapshot did not fit: the history takes {taken}, and would have taken {needed}"
            )));
        }
        if opened.files.has_room_for(new_bytes)? {
            return Ok(None);
        }
        let new = format::size(new_bytes);
        Ok(Some(format!(
            "the next snapshot may not fit: it may store up to {new}, and the history takes {taken}"
        )))
    }
}

/// Records that the quota refused a snapshot, until one succeeds; errors are ignored.
pub(crate) fn remember<T>(opened: &Opened, taken: &FsResult<T>) {
    match taken {
        Ok(_) => drop(disk::remove(&note(opened))),
        Err(error) if is_of_bound(error) => {
            let refused = Quota::of(opened).and_then(|quota| Refused::now(opened, quota));
            let text = refused.ok().and_then(|refused| serde_json::to_vec(&refused).ok());
            drop(text.map(|text| disk::replace(&note(opened), &text)));
        }
        Err(_) => {}
    }
}

/// Returns whether the quota was the reason, and not the disk: how full the disk will be when the user
/// next asks is unknown.
fn is_of_bound(error: &Error) -> bool {
    error.kind() == ErrorKind::NoSpace && error.source().is_none()
}

impl Refused {
    fn now(opened: &Opened, quota: Quota) -> Result<Self, CliError> {
        let last = state_ref::last(&opened.files)?.map(|it| it.id.to_string());
        let needed = opened.files.refused_bytes();
        Ok(Self { last, bytes: quota.used.bytes, max_bytes: quota.max_bytes, needed })
    }
}

/// Returns what the history would have taken with the snapshot that was refused last, if nothing has changed since.
fn was_refused(opened: &Opened, quota: Quota) -> Result<Option<u64>, CliError> {
    let noted = disk::read(&note(opened)).ok().flatten();
    let Some(refused) = noted.and_then(|text| serde_json::from_slice::<Refused>(&text).ok()) else {
        return Ok(None);
    };
    let now = Refused::now(opened, quota)?;
    let is_same = refused.last == now.last
        && refused.max_bytes >= now.max_bytes
        && refused.bytes <= now.bytes;
    Ok(is_same.then_some(refused.needed))
}

fn note(opened: &Opened) -> PathBuf {
    opened.project.directory.join(FILE)
}
