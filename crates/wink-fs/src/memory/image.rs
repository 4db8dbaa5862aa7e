//! What is about to change, kept by itself.
//!
//! To keep the whole state would be one pointer, but then every change copies all nodes above it.

use std::any::Any;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use super::Live;
use super::node::{Directory, Node};
use super::state::State;
use crate::content::Content;
use crate::error::{Operation, Result};
use crate::hash::ContentHash;
use crate::operation::BeforeImage;
use crate::path::TreePath;
use crate::tree::{Entry, Kind, Stat, Tree};
use crate::tree_hash::TreeHash;

/// Collects the entries that are kept.
pub(super) struct Image {
    live: Arc<Live>,
    entries: Vec<(TreePath, Node)>,
    now: SystemTime,
}

impl Image {
    pub(super) fn new(live: Arc<Live>, now: SystemTime) -> Self {
        Self { live, entries: Vec::new(), now }
    }
}

impl BeforeImage for Image {
    fn keep(&mut self, path: &TreePath) -> Result<()> {
        let found = self.live.read().find(Operation::Write, path);
        self.entries.extend(found.ok().map(|node| (path.clone(), node)));
        Ok(())
    }

    fn keep_copy(&mut self, path: &TreePath) -> Result<()> {
        self.keep(path)
    }

    fn keep_directory(&mut self, path: &TreePath) -> Result<()> {
        let empty = Node::Directory(Arc::new(Directory::new(self.now)));
        self.entries.push((path.clone(), empty));
        Ok(())
    }

    fn tree(&self) -> Result<Arc<dyn Tree>> {
        let (mut entries, now) = (self.entries.clone(), self.now);
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Arc::new(Kept { entries, now, state: OnceLock::new() }))
    }
}

/// The entries that were kept, each at its own path.
///
/// Most operations change one file, and most are never taken back: it is a list until somebody looks at
/// more than a file of it.
struct Kept {
    /// In the order of paths, so that a directory comes before what is in it.
    entries: Vec<(TreePath, Node)>,
    now: SystemTime,
    state: OnceLock<State>,
}

impl Kept {
    /// Returns a file or link, where it is found at once.
    fn leaf(&self, path: &TreePath) -> Option<&Node> {
        let at = self.entries.binary_search_by(|(kept, _)| kept.cmp(path)).ok()?;
        Some(&self.entries[at].1).filter(|node| node.kind() != Kind::Directory)
    }

    fn state(&self) -> &State {
        self.state.get_or_init(|| {
            let mut state = State::new(self.now);
            for (path, node) in &self.entries {
                path.ancestors().for_each(|parent| make(&mut state, &parent, self.now));
                state.set(path, Some(node.clone()), self.now);
            }
            state
        })
    }
}

/// Makes a directory that is not there yet.
fn make(state: &mut State, path: &TreePath, now: SystemTime) {
    if state.find(Operation::Write, path).is_err() {
        let empty = Node::Directory(Arc::new(Directory::new(now)));
        state.set(path, Some(empty), now);
    }
}

impl Tree for Kept {
    fn stat(&self, path: &TreePath) -> Result<Stat> {
        self.leaf(path).map_or_else(|| self.state().stat(path), |node| Ok(node.stat()))
    }

    fn list(&self, path: &TreePath) -> Result<Vec<Entry>> {
        self.state().list(path)
    }

    fn open(&self, path: &TreePath) -> Result<Content> {
        self.state().open(path)
    }

    fn read_link(&self, path: &TreePath) -> Result<Vec<u8>> {
        self.state().read_link(path)
    }

    fn known_hash(&self, path: &TreePath) -> Option<ContentHash> {
        match self.leaf(path) {
            Some(Node::File(file)) => Some(file.hash),
            _ => self.state().known_hash(path),
        }
    }

    fn known_tree_hash(&self, path: &TreePath) -> Option<TreeHash> {
        self.state().known_tree_hash(path)
    }

    fn own_state(&self) -> Option<&dyn Any> {
        Some(self.state())
    }
}
