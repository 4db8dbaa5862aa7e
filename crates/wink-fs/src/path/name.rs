//! One segment of a path.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::escape;
use crate::error::{Error, ErrorKind, Operation, Result};

/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// The name of a directory's entry.
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
#[derive(Clone)]
pub struct Name(Held);

/// The longest name that is stored inline.
const IN_PLACE: usize = 22;

/// The bytes of a name. Most are so short that copying them is faster than a pointer.
#[derive(Clone)]
enum Held {
    InPlace { len: u8, bytes: [u8; IN_PLACE] },
    Shared(Arc<[u8]>),
}

impl Held {
    fn new(name: &[u8]) -> Self {
        let mut bytes = [0; IN_PLACE];
        match bytes.get_mut(..name.len()) {
            Some(place) => {
                place.copy_from_slice(name);
                Self::InPlace { len: name.len() as u8, bytes }
            }
            None => Self::Shared(name.into()),
        }
    }
}

/// Returns two numbers with the order of the bytes, which compare much faster.
///
/// The padding zeros are in no name and sort first, so lengths need not be compared.
fn words(bytes: &[u8; IN_PLACE]) -> (Option<u128>, Option<u64>) {
    let first = bytes.first_chunk().copied().map(u128::from_be_bytes);
    // The two overlap, but only in bytes that are equal when the second is compared.
    (first, bytes.last_chunk().copied().map(u64::from_be_bytes))
}

impl Name {
    /// Checks a name from a directory on disk or an archive.
    pub fn from_disk(name: &[u8]) -> Result<Self> {
        check(name).map_err(|why| invalid(name, why))?;
        Ok(Self(Held::new(name)))
    }

    /// Wraps a segment that a [`TreePath`](crate::TreePath) has checked.
    pub(crate) fn from_segment(segment: &[u8]) -> Self {
        debug_assert!(check(segment).is_ok());
        Self(Held::new(segment))
    }

    /// Returns the name's own bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Held::InPlace { len, bytes } => &bytes[..usize::from(*len)],
            Held::Shared(bytes) => bytes,
        }
    }
}

/// Returns what is wrong with a name.
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

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Name {}

/// Hashes like the bytes, by which maps of names are looked up.
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Held::InPlace { bytes: own, .. }, Held::InPlace { bytes: their, .. }) => {
                words(own).cmp(&words(their))
            }
            _ => self.as_bytes().cmp(other.as_bytes()),
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
        self.as_bytes()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape::escape(self.as_bytes()))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_length_hold_their_bytes_and_order_by_them() {
        let names: Vec<Vec<u8>> = (1..=MAX_NAME_BYTES).map(|len| vec![b'x'; len]).collect();
        let held: Vec<Name> = names.iter().map(|name| Name::from_disk(name).unwrap()).collect();
        assert!(held.iter().zip(&names).all(|(held, name)| held.as_bytes() == name));
        assert!(held.is_sorted() && held.iter().zip(held.clone()).all(|(a, b)| *a == b));
        assert_eq!(size_of::<Name>(), 24);
    }

    #[test]
    fn names_order_by_their_bytes_however_they_are_held() {
        let long = "b".repeat(IN_PLACE + 1);
        let texts = ["a", "a ", "a\u{1}", "aa", "ab", "b", &long[..IN_PLACE], &long, "c", "é", "~"];
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            let name = |text: &str| Name::from_disk(text.as_bytes()).unwrap();
            assert_eq!(name(a).cmp(&name(b)), a.as_bytes().cmp(b.as_bytes()), "{a:?} and {b:?}");
        }
    }
}
