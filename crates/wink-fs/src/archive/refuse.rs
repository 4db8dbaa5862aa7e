//! Errors of bad archives.

use std::io;

use crate::error::{Error, ErrorKind, Operation};
use crate::path::escape;

/// How much of an entry's name is considered for a message.
const SHOWN_BYTES: usize = 800;

/// Returns the error for a damaged archive.
pub(super) fn damaged(why: impl Into<String>) -> Error {
    Error::new(Operation::OpenArchive, ErrorKind::Corrupt).with_detail(why)
}

/// Returns the error for a damaged entry.
pub(super) fn entry(name: &[u8], why: impl Into<String>) -> Error {
    damaged(why).with_path_text(&shown(name))
}

/// Returns the error for an entry that uses an unsupported part of the ZIP format.
pub(super) fn unsupported(name: &[u8], why: impl Into<String>) -> Error {
    Error::new(Operation::OpenArchive, ErrorKind::Unsupported)
        .with_path_text(&shown(name))
        .with_detail(why)
}

/// Returns the error for a limit, with the value and the setting's name.
pub(super) fn too_large(what: &str, found: u64, limit: u64, setting: &str) -> Error {
    Error::new(Operation::OpenArchive, ErrorKind::TooLarge)
        .with_detail(format!("{what} {found}; at most {limit} (limit {setting})"))
}

/// Wraps an error of reading the archive; an early end means that it was truncated.
pub(super) fn reading(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("the archive was cut off"),
        io::ErrorKind::InvalidData => damaged(error.to_string()),
        _ => Error::system(Operation::OpenArchive, error),
    }
}

/// Wraps an error of reading one entry.
pub(super) fn reading_entry(name: &[u8], error: io::Error) -> Error {
    reading(error).with_path_text(&shown(name))
}

fn shown(name: &[u8]) -> String {
    escape(&name[..name.len().min(SHOWN_BYTES)]).into_owned()
}
