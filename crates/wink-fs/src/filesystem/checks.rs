//! Errors that are the same on every backend, those of other crates included.

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::Kind;

/// The longest target of a link on disk.
const MAX_TARGET_BYTES: usize = 4095;

/// Refuses the root.
pub fn check_not_root(operation: Operation, path: &TreePath) -> Result<()> {
    if !path.is_root() {
        return Ok(());
    }
    Err(Error::new(operation, ErrorKind::PermissionDenied)
        .with_path(path)
        .with_detail("it is the workspace's root, which always stays; name an entry in it"))
}

/// Refuses anything but a file.
pub fn check_file(operation: Operation, path: &TreePath, kind: Kind) -> Result<()> {
    match kind {
        Kind::File => Ok(()),
        Kind::Directory => Err(Error::new(operation, ErrorKind::IsADirectory).with_path(path)),
        Kind::Symlink => Err(Error::through_link(operation, path)),
        Kind::Other => Err(Error::new(operation, ErrorKind::SpecialFile).with_path(path)),
    }
}

/// Refuses anything but a directory.
pub fn check_directory(path: &TreePath, kind: Kind) -> Result<()> {
    match kind {
        Kind::Directory => Ok(()),
        Kind::Symlink => Err(Error::through_link(Operation::List, path)),
        Kind::File | Kind::Other => Err(Error::new(Operation::List, ErrorKind::NotADirectory)
            .with_path(path)
            .with_detail("it is not a directory; list its parent, or read it")),
    }
}

/// Refuses to replace an entry by one of another kind.
pub fn check_replaceable(moved: Kind, there: Kind, to: &TreePath) -> Result<()> {
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

/// Refuses a target that no link on disk can have.
pub fn check_target(path: &TreePath, target: &[u8]) -> Result<()> {
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

/// Returns the error for a missing parent.
pub fn no_parent(operation: Operation, path: &TreePath) -> Error {
    Error::new(operation, ErrorKind::NotFound)
        .with_path(path)
        .with_detail("its parent directory is not there; make that first")
}

/// Refuses to move a directory into itself.
pub fn check_not_into_itself(
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

/// Returns the error for reading the target of something else than a link.
pub fn not_a_link(path: &TreePath) -> Error {
    Error::new(Operation::Read, ErrorKind::InvalidArgument)
        .with_path(path)
        .with_detail("it is not a symbolic link and has no target; read or list it")
}

/// Returns the error for a file that is not in the expected state.
pub fn conflict(path: &TreePath, current: Option<ContentHash>) -> Error {
    let error = Error::new(Operation::Write, ErrorKind::Conflict).with_path(path);
    match current {
        Some(hash) => error.with_current_hash(hash).with_detail(format!(
            "it changed since it was read and its hash is now {hash}; \
             read it again and redo the change on what is there"
        )),
        None => error.with_detail("no file is there any more; write it without an expected hash"),
    }
}

/// Returns the error for an entry that is not the one to be removed.
pub fn not_expected(path: &TreePath) -> Error {
    Error::new(Operation::Delete, ErrorKind::Conflict)
        .with_path(path)
        .with_detail("it changed since it was looked at; look at it again")
}

/// Returns the error for a directory with entries too deep to have a path, which could not be restored.
pub(crate) fn not_all_named(path: &TreePath) -> Error {
    Error::new(Operation::Delete, ErrorKind::TooLarge).with_path(path).with_detail(
        "the directory holds entries whose paths are longer than 4096 bytes, which could not be \
         brought back; remove these from outside of the workspace first",
    )
}

/// Returns the error for a move that would make entries too deep to have a path.
pub(crate) fn not_all_nameable(to: &TreePath) -> Error {
    Error::new(Operation::Rename, ErrorKind::TooLarge).with_path(to).with_detail(
        "paths in the directory would be longer than 4096 bytes there, and could not be moved back; \
         move it to a shorter path",
    )
}

/// Returns the error for an unreadable file, which undo could not compare.
pub(crate) fn unreadable(operation: Operation, path: &TreePath) -> Error {
    Error::new(operation, ErrorKind::PermissionDenied).with_path(path).with_detail(
        "it may not be read, so that undo could not bring it back; nothing was changed. Make it \
         readable first",
    )
}

/// Returns the error for an entry that could not be restored.
pub(crate) fn holds_special(path: &TreePath) -> Error {
    Error::new(Operation::Delete, ErrorKind::SpecialFile).with_path(path).with_detail(
        "it is a FIFO, socket or device, which could not be brought back with the directory it is \
         in; delete it by itself first, if it is not needed",
    )
}

/// Returns the error for an uncaptured entry in the way.
pub(crate) fn in_the_way(path: &TreePath) -> Error {
    Error::new(Operation::Replace, ErrorKind::Conflict).with_path(path).with_detail(
        "the directory holds something that is not captured and must give way to something else; \
         move it away first",
    )
}

/// Returns the error for a deleted workspace directory.
pub(crate) fn root_is_gone(operation: Operation) -> Error {
    Error::new(operation, ErrorKind::Unavailable).with_detail(
        "the directory of the workspace was deleted while it was in use, and its history was not; \
         make it again, open the workspace anew and restore a snapshot",
    )
}
