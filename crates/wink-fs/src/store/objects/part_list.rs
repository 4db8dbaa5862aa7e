//! The list of the parts of a large file.

use super::object::KEY_BYTES;
use super::take;
use crate::hash::ContentHash;

const PART_BYTES: usize = KEY_BYTES + 4;

/// One part of a large file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) hash: ContentHash,
    pub(crate) len: u32,
}

/// Encodes a list: the file's size, then each part's hash and length.
pub(crate) fn encode(parts: &[Part]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + PART_BYTES * parts.len());
    bytes.extend_from_slice(&size(parts).to_le_bytes());
    for part in parts {
        bytes.extend_from_slice(part.hash.as_bytes());
        bytes.extend_from_slice(&part.len.to_le_bytes());
    }
    bytes
}

/// Decodes a list; `None` if it is damaged.
pub(crate) fn decode(mut bytes: &[u8]) -> Option<Vec<Part>> {
    let total = u64::from_le_bytes(take(&mut bytes)?);
    let mut parts = Vec::with_capacity(bytes.len() / PART_BYTES);
    while !bytes.is_empty() {
        let hash = ContentHash::from_bytes(take(&mut bytes)?);
        let len = u32::from_le_bytes(take(&mut bytes)?);
        parts.push(Part { hash, len });
    }
    let whole = parts.iter().all(|part| part.len > 0) && size(&parts) == total;
    whole.then_some(parts)
}

/// Decodes the list of a file of a known size.
pub(crate) fn decode_sized(bytes: &[u8], file_size: u64) -> Option<Vec<Part>> {
    decode(bytes).filter(|parts| size(parts) == file_size)
}

/// Returns the size of the file.
pub(crate) fn size(parts: &[Part]) -> u64 {
    parts.iter().map(|part| u64::from(part.len)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_is_decoded_and_nothing_else() {
        let part = |len| Part { hash: ContentHash::of(&[len as u8]), len };
        let bytes = encode(&[part(3), part(1)]);
        assert_eq!(decode(&bytes).unwrap(), [part(3), part(1)]);
        assert_eq!(bytes.len(), 8 + 2 * PART_BYTES);
        (0..bytes.len()).for_each(|len| assert_eq!(decode(&bytes[..len]), None, "{len}"));
        assert_eq!(decode(&encode(&[part(0)])), None);
        let mut other = bytes;
        other[0] += 1;
        assert_eq!(decode(&other), None);
    }
}
