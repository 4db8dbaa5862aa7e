//! Moving an entry from one place to another.

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::{Errno, Result as SystemResult};

use super::entry;
use super::failure;
use super::root::Slot;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Replacement;
use crate::path::TreePath;
use crate::refusal;
use crate::tree::Kind;

/// What stands at a place: its kind, and which file it is.
pub(super) struct Found {
    pub(super) kind: Kind,
    identity: (u64, u64),
}

/// Looks at the entry that is to be moved.
pub(super) fn look_at_source(source: &Slot<'_>, from: &TreePath) -> Result<Found> {
    look(source).map_err(|errno| failure::looking(Operation::Rename, from, errno))
}

/// Moves the entry at `source` to `target`.
pub(super) fn relocate(
    source: &Slot<'_>,
    moved: &Found,
    target: &Slot<'_>,
    to: &TreePath,
    replacement: Replacement,
) -> Result<()> {
    let failed = |errno| failure::any(Operation::Rename, to, errno);
    match replacement {
        Replacement::Refuse => rename(source, target, RenameFlags::NOREPLACE).map_err(failed),
        Replacement::Replace => match look(target) {
            Err(Errno::NOENT) => rename(source, target, RenameFlags::empty()).map_err(failed),
            Err(errno) => Err(failed(errno)),
            Ok(there) => replace(source, moved, target, &there, to),
        },
    }
}

fn replace(
    source: &Slot<'_>,
    moved: &Found,
    target: &Slot<'_>,
    there: &Found,
    to: &TreePath,
) -> Result<()> {
    let failed = |errno| match errno {
        Errno::EXIST => Error::new(Operation::Rename, ErrorKind::NotEmpty).with_path(to),
        _ => failure::any(Operation::Rename, to, errno),
    };
    refusal::check_replaceable(moved.kind, there.kind, to)?;
    rename(source, target, RenameFlags::empty()).map_err(failed)?;
    // Between two hard links of one file the kernel renames nothing and reports success.
    if moved.identity == there.identity && !same_entry(source, target) {
        rustix::fs::unlinkat(&source.directory, source.name, AtFlags::empty()).map_err(failed)?;
    }
    Ok(())
}

fn rename(source: &Slot<'_>, target: &Slot<'_>, flags: RenameFlags) -> SystemResult<()> {
    rustix::fs::renameat_with(&source.directory, source.name, &target.directory, target.name, flags)
}

fn look(slot: &Slot<'_>) -> SystemResult<Found> {
    let stat = rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Found { kind: entry::kind_of(stat.st_mode), identity: (stat.st_dev, stat.st_ino) })
}

/// Tells whether two places are one: the same name in the same directory.
fn same_entry(a: &Slot<'_>, b: &Slot<'_>) -> bool {
    let directory =
        |slot: &Slot<'_>| rustix::fs::fstat(&slot.directory).map(|stat| (stat.st_dev, stat.st_ino));
    a.name == b.name && matches!((directory(a), directory(b)), (Ok(a), Ok(b)) if a == b)
}
