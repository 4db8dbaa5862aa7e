//! System errors whose text was written in this crate.

use std::fmt;
use std::io;

/// What an [`io::Error`] carries when its text may be shown to anybody.
#[derive(Debug)]
pub(super) struct Worded(String);

impl fmt::Display for Worded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Worded {}

/// Makes a system error that becomes an [`Error`](crate::Error) with this very sentence.
pub(crate) fn worded(kind: io::ErrorKind, text: impl Into<String>) -> io::Error {
    io::Error::new(kind, Worded(text.into()))
}

/// Makes the system error of stored data that is not what it was.
pub(crate) fn damaged(text: impl Into<String>) -> io::Error {
    worded(io::ErrorKind::InvalidData, text)
}
