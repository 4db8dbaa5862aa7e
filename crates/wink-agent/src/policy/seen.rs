//! What a session has seen of files.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard};

use wink_fs::ContentHash;

use crate::lock::lock;

/// How many contents are remembered; the oldest is forgotten first.
const MOST: usize = 65_536;

/// Remembers which contents were read or written.
///
/// It goes by content, not by path or time: what was seen once may be overwritten wherever it is, so a
/// rollback, a move or an equal rewrite by somebody else never makes a file unread.
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

#[derive(Debug, Default)]
struct Seen {
    hashes: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl SeenContents {
    /// Remembers a content.
    pub fn note(&self, hash: ContentHash) {
        let mut seen = self.seen();
        let hash = *hash.as_bytes();
        if !seen.hashes.insert(hash) {
            return;
        }
        seen.order.push_back(hash);
        if seen.order.len() > MOST
            && let Some(oldest) = seen.order.pop_front()
        {
            seen.hashes.remove(&oldest);
        }
    }

    /// Tells whether a content was seen.
    pub fn contains(&self, hash: &ContentHash) -> bool {
        self.seen().hashes.contains(hash.as_bytes())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.0)
    }
}
