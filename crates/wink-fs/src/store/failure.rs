//! Errors of a store.

use std::io;

use crate::error::{Error, ErrorKind, Operation};

const FULL: &str = "there is no space, or no inode, left on the disk of the history; free some there and try again";

/// Names the disk of the history as the full one.
pub(crate) fn of_history(error: Error) -> Error {
    match error.kind() {
        ErrorKind::NoSpace => error.with_detail(FULL),
        _ => error,
    }
}

/// Wraps an error of the store's own files, which have no path that the caller knows.
pub(crate) fn of(operation: Operation, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::new(operation, ErrorKind::Unavailable)
            .with_detail("the store's files are gone; see that its disk is mounted and try again"),
        io::ErrorKind::PermissionDenied => Error::system(operation, error)
            .with_detail("the store does not let this user in; use it as the user who made it"),
        io::ErrorKind::ReadOnlyFilesystem => Error::system(operation, error)
            .with_detail("the store is on a read-only disk; it can be read but takes no snapshot"),
        io::ErrorKind::StorageFull => Error::system(operation, error).with_detail(FULL),
        _ => Error::system(operation, error),
    }
}

/// Returns the error for an unknown snapshot.
pub(crate) fn no_snapshot(operation: Operation) -> Error {
    Error::new(operation, ErrorKind::SnapshotNotFound)
}
