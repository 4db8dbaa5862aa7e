//! How much room a history has left, and whether the next snapshot finds any.

use std::error::Error as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wink_fs::{Error, ErrorKind, Result as FsResult, Snapshot};

use crate::cli::context::Opened;
use crate::cli::state_ref;
use crate::error::CliError;
use crate::project::retention;
use crate::sys::disk;
use crate::ui::format;

/// The file that says that a snapshot was refused, beside the settings.
const FILE: &str = "refused.json";

/// Says how much space a history takes, and how much it may.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quota {
    pub(crate) bytes: u64,
    pub(crate) max_bytes: Option<u64>,
}

/// A snapshot that was refused, with all that would have to be otherwise for the next one not to be.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    /// The snapshot that was the last one.
    last: Option<String>,
    bytes: u64,
    max_bytes: Option<u64>,
}

impl Quota {
    pub(crate) fn of(opened: &Opened) -> Result<Self, CliError> {
        let max_bytes = retention::of(&opened.project)?.max_bytes;
        Ok(Self { bytes: opened.files.usage()?.bytes, max_bytes })
    }

    /// Warns where four fifths of what may be taken are.
    pub(crate) fn warning(self) -> Option<String> {
        let max = self.max_bytes.filter(|max| self.bytes >= max - max / 5)?;
        let (bytes, most) = (format::size(self.bytes), format::size(max));
        Some(format!("warning: the history takes {bytes} of {most}; see `wink prune --help`"))
    }

    /// Tells whether the next snapshot is refused: the last one was, and nothing is otherwise since, or there is
    /// too much and nothing of it may go.
    pub(crate) fn is_used_up(self, opened: &Opened) -> Result<bool, CliError> {
        if was_refused(opened, self)? {
            return Ok(true);
        }
        if self.max_bytes.is_some_and(|max| self.bytes > max) {
            Ok(opened.files.operations()?.is_empty() && !can_any_go(opened)?)
        } else {
            Ok(false)
        }
    }
}

/// Tells whether a snapshot is there that goes where there is too little space.
fn can_any_go(opened: &Opened) -> Result<bool, CliError> {
    let (all, pins) = (opened.files.snapshots()?, opened.files.snapshot_store()?.pins()?);
    let is_newest = |it: &Snapshot| {
        !all.iter().any(|other| other.line == it.line && other.sequence > it.sequence)
    };
    let is_pinned = |it: &Snapshot| pins.iter().any(|pin| pin.snapshot == it.id);
    Ok(all.iter().any(|it| it.tag.is_none() && !is_newest(it) && !is_pinned(it)))
}

/// Remembers that there was no room for a snapshot, until there is; a note that fails to be kept harms nothing.
pub(crate) fn remember(opened: &Opened, taken: &FsResult<Snapshot>) {
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

/// Tells whether the limit of the history leaves no room, and not the disk: how full the disk will be when the user
/// next asks is unknown.
fn is_of_bound(error: &Error) -> bool {
    error.kind() == ErrorKind::NoSpace && error.source().is_none()
}

impl Refused {
    fn now(opened: &Opened, quota: Quota) -> Result<Self, CliError> {
        let last = state_ref::last(&opened.files)?.map(|it| it.id.to_string());
        Ok(Self { last, bytes: quota.bytes, max_bytes: quota.max_bytes })
    }
}

fn was_refused(opened: &Opened, quota: Quota) -> Result<bool, CliError> {
    let noted = disk::read(&note(opened)).ok().flatten();
    let Some(refused) = noted.and_then(|text| serde_json::from_slice::<Refused>(&text).ok()) else {
        return Ok(false);
    };
    let now = Refused::now(opened, quota)?;
    Ok(refused.last == now.last && refused.max_bytes >= now.max_bytes && refused.bytes <= now.bytes)
}

fn note(opened: &Opened) -> PathBuf {
    opened.project.directory.join(FILE)
}
