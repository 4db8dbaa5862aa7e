//! The refusals every backend words alike.

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::Kind;

/// The longest target a link on disk can have.
const MAX_TARGET_BYTES: usize = 4095;

/// Refuses to remove, rename or replace the root.
pub(crate) fn check_not_root(operation: Operation, path: &TreePath) -> Result<()> {
    if !path.is_root() {
        return Ok(());
    }
    Err(Error::new(operation, ErrorKind::PermissionDenied)
        .with_path(path)
        .with_detail("it is the workspace's root, which always stays; name an entry in it"))
}

/// Refuses an entry that is not a file where only a file will do.
pub(crate) fn check_file(operation: Operation, path: &TreePath, kind: Kind) -> Result<()> {
    match kind {
        Kind::File => Ok(()),
        Kind::Directory => Err(Error::new(operation, ErrorKind::IsADirectory).with_path(path)),
        Kind::Symlink => Err(Error::through_link(operation, path)),
        Kind::Other => Err(Error::new(operation, ErrorKind::SpecialFile).with_path(path)),
    }
}

/// Refuses an entry that cannot be listed.
pub(crate) fn check_directory(path: &TreePath, kind: Kind) -> Result<()> {
    match kind {
        Kind::Directory => Ok(()),
        Kind::Symlink => Err(Error::through_link(Operation::List, path)),
        Kind::File | Kind::Other => Err(Error::new(Operation::List, ErrorKind::NotADirectory)
            .with_path(path)
            .with_detail("it is not a directory; list its parent, or read it")),
    }
}

/// Refuses to let an entry take the place of one of another kind.
pub(crate) fn check_replaceable(moved: Kind, there: Kind, to: &TreePath) -> Result<()> {
    let kind = match (moved, there) {
        (Kind::Directory, Kind::Directory) => return Ok(()),
        (Kind::Directory, _) => ErrorKind::NotADirectory,
        (_, Kind::Directory) => ErrorKind::IsADirectory,
        _ => return Ok(()),
    };
    Err(Error::new(Operation::Rename, kind).with_path(to).with_detail(
        "a directory and something else cannot take each other's place; delete it first",
    ))
}

/// Refuses a link's target that no link on disk could have.
pub(crate) fn check_target(path: &TreePath, target: &[u8]) -> Result<()> {
    let why = match target {
        [] => "a link's target cannot be empty; give one",
        _ if target.contains(&0) => "a link's target cannot contain a NUL byte; leave it out",
        _ if target.len() > MAX_TARGET_BYTES => {
            "a link's target has at most 4095 bytes; give a shorter one"
        }
        _ => return Ok(()),
    };
    Err(Error::new(Operation::Symlink, ErrorKind::InvalidArgument).with_path(path).with_detail(why))
}

/// Says that the place of a new entry has no directory to be in.
pub(crate) fn no_parent(operation: Operation, path: &TreePath) -> Error {
    Error::new(operation, ErrorKind::NotFound)
        .with_path(path)
        .with_detail("its parent directory is not there; make that first")
}

/// Refuses to let a directory go into itself.
pub(crate) fn check_not_into_itself(
    operation: Operation,
    kind: Kind,
    from: &TreePath,
    to: &TreePath,
) -> Result<()> {
    if kind != Kind::Directory || from == to || !to.starts_with(from) {
        return Ok(());
    }
    Err(Error::new(operation, ErrorKind::InvalidArgument)
        .with_path(from)
        .with_detail("a directory cannot go into itself; choose a place outside it"))
}

/// Says that only a link has a target.
pub(crate) fn not_a_link(path: &TreePath) -> Error {
    Error::new(Operation::Read, ErrorKind::InvalidArgument)
        .with_path(path)
        .with_detail("it is not a symbolic link and has no target; read or list it")
}

/// Says that the file is not the one the caller knew.
pub(crate) fn conflict(path: &TreePath, current: Option<ContentHash>) -> Error {
    let error = Error::new(Operation::Write, ErrorKind::Conflict).with_path(path);
    match current {
        Some(hash) => error.with_current_hash(hash).with_detail(format!(
            "it changed since it was read and its hash is now {hash}; \
             read it again and redo the change on what is there"
        )),
        None => error.with_detail("no file is there any more; write it without an expected hash"),
    }
}

/// Says that an entry is not the one that was to be removed.
pub(crate) fn not_expected(path: &TreePath) -> Error {
    Error::new(Operation::Delete, ErrorKind::Conflict)
        .with_path(path)
        .with_detail("it changed since it was looked at; look at it again")
}

/// Says that a directory holds what no path can name, so that it could not be brought back.
pub(crate) fn not_all_named(path: &TreePath) -> Error {
    Error::new(Operation::Delete, ErrorKind::TooLarge).with_path(path).with_detail(
        "the directory holds entries whose paths are longer than 4096 bytes, which could not be \
         brought back; remove these from outside of the workspace first",
    )
}

/// Says that no path could name what is in a directory, where it would be.
pub(crate) fn not_all_nameable(to: &TreePath) -> Error {
    Error::new(Operation::Rename, ErrorKind::TooLarge).with_path(to).with_detail(
        "paths in the directory would be longer than 4096 bytes there, and could not be moved back; \
         move it to a shorter path",
    )
}

/// Says that a file that may not be read could not be compared with what is there later, and so not brought back.
pub(crate) fn unreadable(operation: Operation, path: &TreePath) -> Error {
    Error::new(operation, ErrorKind::PermissionDenied).with_path(path).with_detail(
        "it may not be read, so that undo could not bring it back; nothing was changed. Make it \
         readable first",
    )
}

/// Says that something in a directory could not be brought back.
pub(crate) fn holds_special(path: &TreePath) -> Error {
    Error::new(Operation::Delete, ErrorKind::SpecialFile).with_path(path).with_detail(
        "it is a FIFO, socket or device, which could not be brought back with the directory it is \
         in; delete it by itself first, if it is not needed",
    )
}

/// Says that something which is not captured lies where something else must go.
pub(crate) fn in_the_way(path: &TreePath) -> Error {
    Error::new(Operation::Replace, ErrorKind::Conflict).with_path(path).with_detail(
        "the directory holds something that is not captured and must give way to something else; \
         move it away first",
    )
}

/// Says that the directory of the workspace is there no more.
pub(crate) fn root_is_gone(operation: Operation) -> Error {
    Error::new(operation, ErrorKind::Unavailable).with_detail(
        "the directory of the workspace was deleted while it was in use, and its history was not; \
         make it again, open the workspace anew and restore a snapshot",
    )
}
