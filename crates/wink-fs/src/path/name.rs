//! One segment of a path.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::escape;
use crate::error::{Error, ErrorKind, Operation, Result};

/// The longest name the contract allows, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// Holds the name of one entry of a directory.
///
/// - It is not empty, not `.` and not `..`, and has at most 255 bytes.
/// - It contains neither `/` nor NUL; every other byte is allowed, because disks hold such names.
/// - Its text ([`Display`](fmt::Display)) is the reversible escape described in [`TreePath`](crate::TreePath).
/// - Names order bytewise.
///
/// ```
/// use wink_fs::Name;
///
/// let name = Name::from_disk(b"notes\n.txt")?;
/// assert_eq!(name.to_string(), r"notes\x0a.txt");
/// assert_eq!(name.as_bytes(), b"notes\n.txt");
/// assert!(Name::from_disk(b"..").is_err());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Name(Arc<[u8]>);

impl Name {
    /// Checks a name as a directory on disk or an archive holds it.
    pub fn from_disk(name: &[u8]) -> Result<Self> {
        check(name).map_err(|why| invalid(name, why))?;
        Ok(Self(name.into()))
    }

    /// Wraps a segment that a [`TreePath`](crate::TreePath) has already checked.
    pub(crate) fn from_segment(segment: &[u8]) -> Self {
        debug_assert!(check(segment).is_ok());
        Self(segment.into())
    }

    /// Returns the name's own bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Says what is wrong with the bytes of a name.
pub(crate) fn check(name: &[u8]) -> Result<(), &'static str> {
    match name {
        b"" => Err("a name cannot be empty; give one"),
        b"." | b".." => Err("`.` and `..` are not names; give another one"),
        _ if name.len() > MAX_NAME_BYTES => {
            Err("a name has at most 255 bytes; choose a shorter one")
        }
        _ if name.contains(&0) => Err("a name cannot contain a NUL byte; leave it out"),
        _ if name.contains(&b'/') => Err("a name cannot contain `/`; give one segment of the path"),
        _ => Ok(()),
    }
}

fn invalid(name: &[u8], why: &'static str) -> Error {
    Error::new(Operation::Resolve, ErrorKind::InvalidPath)
        .with_path_text(&escape::escape(name))
        .with_detail(why)
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        // States of one workspace share their names, which need no look then.
        match Arc::ptr_eq(&self.0, &other.0) {
            true => Ordering::Equal,
            false => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape::escape(&self.0))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({self})")
    }
}
