//! Whether somebody wrote into what was kept.
//!
//! A file that is kept as a further hard link is the file itself: a program that has it open, or a name for it
//! elsewhere, can still change it.

use std::path::Path;

use rustix::fs::{CWD, OFlags};
use rustix::io::{Errno, Result as SystemResult};

use super::capture::stamp::{self, Moment, Stamp};
use super::kept;
use super::{Host, failure};
use crate::descend::descend;
use crate::error::{Error, Operation, Result};
use crate::operation::{BEFORE, beside, numbered};
use crate::path::TreePath;
use crate::tree::{Kind, Tree as _};

/// Finds the first file at or below some paths into which somebody wrote since the operation that kept it was
/// written down, in the place of that operation or for a line of its list.
pub(crate) fn first_written_since(
    record: &Path,
    place: &Path,
    lines: &[(TreePath, usize)],
    paths: &[TreePath],
) -> Result<Option<TreePath>> {
    let failed = |errno| Error::system(Operation::Undo, errno);
    let done = look(record).map_err(failed)?.modified();
    for (path, line) in lines.iter().filter(|(it, _)| paths.iter().any(|path| it.starts_with(path)))
    {
        let kept = look(&beside(place, &numbered(*line))).map_err(failed)?;
        if kept.is_written_after(done) {
            return Ok(Some(path.clone()));
        }
    }
    let Some(rest) = kept::open(&place.join(BEFORE), None)? else { return Ok(None) };
    let written = paths.iter().map(|path| written_below(&rest, path, done));
    written.filter_map(Result::transpose).next().transpose()
}

fn look(file: &Path) -> SystemResult<Stamp> {
    Ok(Stamp::of(&stamp::look(CWD, file.as_os_str().as_encoded_bytes())?))
}

fn written_below(kept: &Host, path: &TreePath, done: Moment) -> Result<Option<TreePath>> {
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

fn written_inside(kept: &Host, directory: &TreePath, done: Moment) -> Result<Option<TreePath>> {
    for entry in kept.list(directory)? {
        let written = written_below(kept, &directory.join(&entry.name)?, done)?;
        if written.is_some() {
            return Ok(written);
        }
    }
    Ok(None)
}
