//! How a bad archive is refused: one wording for each kind.

use std::io;

use crate::error::{Error, ErrorKind, Operation};
use crate::path::escape;

/// How much of an entry's name is looked at for a message.
const SHOWN_BYTES: usize = 800;

/// Says that the archive as a whole is not what an archive must be.
pub(super) fn damaged(why: impl Into<String>) -> Error {
    Error::new(Operation::OpenArchive, ErrorKind::Corrupt).with_detail(why)
}

/// Says that one entry is not what an entry must be.
pub(super) fn entry(name: &[u8], why: impl Into<String>) -> Error {
    damaged(why).with_path_text(&shown(name))
}

/// Says that an entry uses a part of the ZIP format that is not read here.
pub(super) fn unsupported(name: &[u8], why: impl Into<String>) -> Error {
    Error::new(Operation::OpenArchive, ErrorKind::Unsupported)
        .with_path_text(&shown(name))
        .with_detail(why)
}

/// Says that a limit is passed, by how much, and what it is called.
pub(super) fn too_large(what: &str, found: u64, limit: u64, setting: &str) -> Error {
    Error::new(Operation::OpenArchive, ErrorKind::TooLarge)
        .with_detail(format!("{what} {found}; at most {limit} (limit {setting})"))
}

/// Words a failure to read the archive; what ends too soon was cut off.
pub(super) fn reading(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("the archive was cut off"),
        io::ErrorKind::InvalidData => damaged(error.to_string()),
        _ => Error::system(Operation::OpenArchive, error),
    }
}

/// Words a failure to read one entry's content.
pub(super) fn reading_entry(name: &[u8], error: io::Error) -> Error {
    reading(error).with_path_text(&shown(name))
}

fn shown(name: &[u8]) -> String {
    escape(&name[..name.len().min(SHOWN_BYTES)]).into_owned()
}
