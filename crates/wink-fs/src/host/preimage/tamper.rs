//! Detects programs that wrote into a pre-image.
//!
//! A pre-image is the displaced file itself, so a program that has it open can still write into it.

use std::path::Path;

use rustix::fs::{CWD, OFlags};
use rustix::io::{Errno, Result as SystemResult};

use crate::error::{Error, Operation, Result};
use crate::host::capture::stamp::{self, Moment, Stamp};
use crate::host::root::Root;
use crate::host::{HostTree, failure};
use crate::path::TreePath;
use crate::tree::descend;
use crate::tree::{Kind, Tree as _};

/// Returns the first file at or below a pre-image that a program wrote into after the operation was recorded.
///
/// Its path begins with the pre-image's name.
pub(crate) fn first_written_since(record: &Path, kept: &Path) -> Result<Option<TreePath>> {
    let failed = |errno| Error::system(Operation::Undo, errno);
    // The record's own time: the clock that stamps files lags behind the system's clock.
    let done = look(record).map_err(failed)?.modified();
    let (Some(parent), Some(name)) = (kept.parent(), kept.file_name()) else { return Ok(None) };
    let root = Root::open_ambient(parent, None).map_err(failed)?;
    let name = TreePath::from_disk(name.as_encoded_bytes())?;
    written_below(&HostTree::new(root), &name, done)
}

/// Returns whether a program may have written into a file after it was displaced.
///
/// A rename sets only the status change time, a write sets both.
pub(crate) fn may_be_written(kept: &Path) -> Result<bool> {
    let stamp = look(kept).map_err(|errno| Error::system(Operation::Undo, errno))?;
    Ok(stamp.is_written_last())
}

fn look(file: &Path) -> SystemResult<Stamp> {
    Ok(Stamp::of(&stamp::look(CWD, file.as_os_str().as_encoded_bytes())?))
}

fn written_below(kept: &HostTree, path: &TreePath, done: Moment) -> Result<Option<TreePath>> {
    let failed = |errno| failure::any(Operation::Undo, path, errno);
    let entry = match kept.root.open(path, OFlags::PATH) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let stamp = Stamp::of(&stamp::look_at(&entry).map_err(failed)?);
    match stamp.kind() {
        Kind::File => Ok(stamp.is_written_after(done).then(|| path.clone())),
        Kind::Directory => descend(|| written_inside(kept, path, done)),
        Kind::Symlink | Kind::Other => Ok(None),
    }
}

fn written_inside(kept: &HostTree, directory: &TreePath, done: Moment) -> Result<Option<TreePath>> {
    for entry in kept.list(directory)? {
        let written = written_below(kept, &directory.join(&entry.name)?, done)?;
        if written.is_some() {
            return Ok(written);
        }
    }
    Ok(None)
}
