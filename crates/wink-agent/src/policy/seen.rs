//! The contents that a session has seen.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::mem;
use std::sync::Mutex;

use wink_fs::ContentHash;

use crate::util::lock;

/// How many of the newest contents are remembered at least, and at most twice as many.
const FEWEST: usize = 65_536;

/// Remembers which contents were read or written.
///
/// It remembers contents, not paths or times: a content that was seen may be overwritten at any path, so a
/// rollback, a move or an identical rewrite by another program never makes a file unread.
///
/// ```
/// use serde_json::json;
/// use wink_agent::session::Session;
/// use wink_agent::{ToolContext, call};
///
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "one")?;
/// let context = ToolContext::over(&files).session(&Session::new());
/// let overwrite = json!({"path": "a.txt", "content": "two"});
/// assert_eq!(call(&context, "write_file", overwrite.clone()).code(), Some("conflict"));
///
/// assert!(call(&context, "read_file", json!({"path": "a.txt"})).ok());
/// assert!(call(&context, "write_file", overwrite).ok());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct SeenContents(Mutex<Seen>);

/// Contents in two halves; the older one is forgotten as a whole when the newer one is full.
#[derive(Debug, Default)]
struct Seen {
    newer: Hashes,
    older: Hashes,
}

type Hashes = HashSet<[u8; 32], BuildHasherDefault<FirstBytes>>;

impl SeenContents {
    /// Remembers a content.
    pub fn note(&self, hash: ContentHash) {
        let mut seen = lock(&self.0);
        if seen.newer.len() >= FEWEST {
            seen.older = mem::take(&mut seen.newer);
        }
        seen.newer.insert(*hash.as_bytes());
    }

    /// Returns whether a content was seen.
    pub fn contains(&self, hash: &ContentHash) -> bool {
        let seen = lock(&self.0);
        [&seen.newer, &seen.older].iter().any(|half| half.contains(hash.as_bytes()))
    }
}

/// Hashes by the first bytes of a content hash, which are as good as a hash of all of it.
#[derive(Debug, Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        // The last that is written is the hash; before it comes its length.
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_ne_bytes(*first);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher as _;

    use super::*;

    fn hash(number: usize) -> ContentHash {
        ContentHash::of(&number.to_le_bytes())
    }

    #[test]
    fn the_newest_contents_are_remembered_and_the_oldest_forgotten() {
        let seen = SeenContents::default();
        let most = 2 * FEWEST + 1;
        (0..most).for_each(|number| seen.note(hash(number)));
        assert!((most - FEWEST..most).all(|number| seen.contains(&hash(number))));
        assert!(!(0..FEWEST).any(|number| seen.contains(&hash(number))));
    }

    #[test]
    fn a_content_that_is_seen_again_is_new_again() {
        let seen = SeenContents::default();
        (0..FEWEST).for_each(|number| seen.note(hash(number)));
        seen.note(hash(0));
        (FEWEST..2 * FEWEST).for_each(|number| seen.note(hash(number)));
        assert!(seen.contains(&hash(0)) && !seen.contains(&hash(1)));
    }

    #[test]
    fn hashes_are_told_apart_by_their_first_bytes() {
        let first =
            |number| BuildHasherDefault::<FirstBytes>::default().hash_one(hash(number).as_bytes());
        assert_eq!((0..1_000).map(first).collect::<HashSet<_>>().len(), 1_000);
    }
}
