//! The id of a snapshot.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::error::{Error, ErrorKind, Operation};

/// Crockford's base32, which has no letters that look like digits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// How many characters 128 bits take, five bits each.
const BASE32_CHARACTERS: usize = 26;

/// The last character has room for two bits more than there are.
const PADDING_BITS: u32 = 2;

const SHORT_CHARACTERS: usize = 8;
const UUID_CHARACTERS: usize = 36;

/// Identifies a snapshot: a random UUID (version 4).
///
/// Its text is the UUID. People type its base32 form or the start of it: 26 characters of
/// `0123456789abcdefghjkmnpqrstvwxyz`, five bits each from the most significant bit on, the last one
/// filled up with two zero bits. [`short`](Self::short) is its first eight characters.
///
/// ```
/// use wink_fs::SnapshotId;
///
/// let id: SnapshotId = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse()?;
/// assert_eq!(id.base32(), "czjn0h0gp516z4j7qdm0wqz0s0");
/// assert_eq!(id.base32().parse::<SnapshotId>()?, id);
/// assert_eq!(id.short(), "czjn0h0g");
/// assert!(id.matches_prefix("czjn") && id.matches_prefix(&id.to_string()));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotId(Uuid);

impl SnapshotId {
    /// How many characters of its base32 form name a snapshot at least; fewer are a slip of the fingers.
    pub const MIN_PREFIX: usize = 4;

    /// Makes a new id, which no other snapshot has.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// Returns the first eight characters of the base32 form.
    pub fn short(&self) -> String {
        self.base32()[..SHORT_CHARACTERS].to_string()
    }

    /// Returns all 26 characters of the base32 form.
    pub fn base32(&self) -> String {
        let bits = self.0.as_u128();
        (0..BASE32_CHARACTERS as u32).map(|at| character(bits, at)).collect()
    }

    /// Returns whether text names this snapshot: the start of its base32 form, or its whole UUID.
    ///
    /// A start of less than [four characters](Self::MIN_PREFIX) names none.
    pub fn matches_prefix(&self, text: &str) -> bool {
        text.len() >= Self::MIN_PREFIX && self.begins_with(text)
    }

    /// Returns whether text is the start of its base32 form, however short, or its whole UUID.
    pub(crate) fn begins_with(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        self.base32().starts_with(&text) || self.to_string() == text
    }
}

/// Returns the character of the five bits at a place, counted from the most significant ones.
fn character(bits: u128, at: u32) -> char {
    let end = 128 + PADDING_BITS - 5 * (at + 1);
    let five =
        if end >= PADDING_BITS { bits >> (end - PADDING_BITS) } else { bits << PADDING_BITS };
    ALPHABET[(five & 31) as usize].into()
}

/// Reads the base32 form; `None` if the text is not one.
fn from_base32(text: &str) -> Option<SnapshotId> {
    if text.len() != BASE32_CHARACTERS {
        return None;
    }
    let digit = |byte: u8| ALPHABET.iter().position(|known| *known == byte.to_ascii_lowercase());
    let (start, last) = text.as_bytes().split_at(BASE32_CHARACTERS - 1);
    let mut bits = 0;
    for byte in start {
        bits = bits << 5 | digit(*byte)? as u128;
    }
    let last = digit(last[0])? as u128;
    let padded = last & ((1 << PADDING_BITS) - 1) != 0;
    let bits = bits << (5 - PADDING_BITS) | last >> PADDING_BITS;
    (!padded).then(|| SnapshotId(Uuid::from_u128(bits)))
}

impl FromStr for SnapshotId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let uuid = Some(text).filter(|text| text.len() == UUID_CHARACTERS);
        let uuid = uuid.and_then(|text| Uuid::try_parse(text).ok()).map(Self);
        uuid.or_else(|| from_base32(text)).ok_or_else(|| {
            Error::new(Operation::Resolve, ErrorKind::InvalidArgument).with_detail(
                "a snapshot's id is a UUID or its 26 characters; list the snapshots to see theirs",
            )
        })
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

impl fmt::Debug for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_lead_back_to_the_id() {
        for bits in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef] {
            let id = SnapshotId(Uuid::from_u128(bits));
            assert_eq!(id.base32().len(), BASE32_CHARACTERS);
            for text in [id.to_string(), id.base32(), id.base32().to_ascii_uppercase()] {
                assert_eq!(text.parse::<SnapshotId>().unwrap(), id, "{text}");
                assert!(id.matches_prefix(&text));
            }
        }
    }

    #[test]
    fn text_that_is_no_whole_id_is_refused() {
        let zeros = "0".repeat(BASE32_CHARACTERS);
        let padded = format!("{}1", &zeros[1..]);
        for text in ["", "0", &zeros[1..], &padded, "u0000000000000000000000000", "{x}"] {
            assert!(text.parse::<SnapshotId>().is_err(), "{text}");
        }
        let simple = "67e5504410b1426f9247bb680e5fe0c8";
        assert!(simple.parse::<SnapshotId>().is_err(), "one spelling of a UUID is enough");
    }

    #[test]
    fn ids_order_as_their_short_forms_do() {
        let ids = [SnapshotId::random(), SnapshotId::random(), SnapshotId::random()];
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            assert_eq!(ids[a].cmp(&ids[b]), ids[a].base32().cmp(&ids[b].base32()));
        }
    }

    #[test]
    fn a_start_that_is_too_short_names_none() {
        let id: SnapshotId = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap();
        assert!(["czjn", "CZJN0", "czjn0h0g"].iter().all(|start| id.matches_prefix(start)));
        assert!(["", "c", "cz", "czj", "67e5"].iter().all(|start| !id.matches_prefix(start)));
    }
}
