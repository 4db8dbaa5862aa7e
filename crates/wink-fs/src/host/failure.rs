//! Turns error numbers into errors that name the path in the workspace, and never the host's.

use rustix::io::Errno;

use crate::error::{Error, ErrorKind, Operation};
use crate::filesystem::checks;
use crate::path::TreePath;

/// Wraps an error of a look-up: a path through a file does not exist.
pub(super) fn looking(operation: Operation, path: &TreePath, errno: Errno) -> Error {
    match errno {
        Errno::NOTDIR => Error::new(operation, ErrorKind::NotFound).with_path(path),
        _ => any(operation, path, errno),
    }
}

/// Wraps an error of creating an entry: a missing component is the parent.
pub(super) fn creating(operation: Operation, path: &TreePath, errno: Errno) -> Error {
    match errno {
        Errno::NOENT => checks::no_parent(operation, path),
        _ => any(operation, path, errno),
    }
}

/// Wraps any other error.
pub(crate) fn any(operation: Operation, path: &TreePath, errno: Errno) -> Error {
    match errno {
        Errno::LOOP => Error::through_link(operation, path),
        Errno::NXIO | Errno::NODEV => Error::new(operation, ErrorKind::SpecialFile).with_path(path),
        Errno::WOULDBLOCK => Error::new(operation, ErrorKind::Locked).with_path(path),
        Errno::MFILE | Errno::NFILE => Error::system(operation, errno)
            .with_path(path)
            .with_detail("too many files are open; try again in a moment"),
        _ => Error::system(operation, errno).with_path(path),
    }
}
