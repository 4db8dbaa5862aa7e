//! The identity of a file's content.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Operation};

/// Identifies a file's content: the BLAKE3 hash of all its bytes.
///
/// ```
/// use wink_fs::ContentHash;
///
/// let hash = ContentHash::of(b"hello");
/// assert_eq!(hash.to_string().parse::<ContentHash>()?, hash);
/// assert!(hash.to_string().starts_with("ea8f163d"));
/// assert_eq!(ContentHash::from_bytes(*hash.as_bytes()), hash);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes bytes that are in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).into())
    }

    /// Takes the 32 bytes of a hash that was computed before.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for ContentHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        blake3::Hash::from_hex(text).map(|hash| Self(hash.into())).map_err(|_| {
            Error::new(Operation::Resolve, ErrorKind::InvalidArgument).with_detail(
                "a content hash is 64 hexadecimal digits; give one that a read or a write returned",
            )
        })
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}
