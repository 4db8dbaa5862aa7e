//! Pre-images in memory, as nodes.
//!
//! Keeping the whole state would be one pointer, but then every change would copy all nodes above it.

use std::sync::Arc;
use std::time::SystemTime;

use super::Live;
use super::node::Node;
use super::state::State;
use crate::error::{Operation, Result};
use crate::oplog::{BeforeImage, KeptEntries, KeptEntry};
use crate::path::TreePath;

/// Collects pre-images, one for each line.
pub(super) struct Image {
    live: Arc<Live>,
    entries: Vec<Option<Node>>,
    now: SystemTime,
}

impl Image {
    pub(super) fn new(live: Arc<Live>, now: SystemTime) -> Self {
        Self { live, entries: Vec::new(), now }
    }

    fn find(&self, path: &TreePath) -> Option<Node> {
        self.live.0.read().find(Operation::Write, path).ok()
    }
}

impl BeforeImage for Image {
    fn begin(&mut self, _: &str, displaced: Option<&TreePath>) -> Result<()> {
        let entry = displaced.and_then(|path| self.find(path));
        self.entries.push(entry);
        Ok(())
    }

    /// Does nothing, because no other program writes into files in memory.
    fn keep_copy(&mut self, _: &TreePath) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, _: &str) -> Result<()> {
        self.entries.push(None);
        Ok(())
    }

    fn kept(&self) -> Arc<dyn KeptEntries> {
        Arc::new(Kept { entries: self.entries.clone(), now: self.now })
    }
}

struct Kept {
    entries: Vec<Option<Node>>,
    now: SystemTime,
}

impl KeptEntries for Kept {
    fn entry(&self, line: usize) -> Result<Option<KeptEntry>> {
        let Some(Some(node)) = self.entries.get(line) else { return Ok(None) };
        let at = TreePath::parse("kept")?;
        let mut state = State::new(self.now);
        state.set(&at, Some(node.clone()), self.now);
        Ok(Some(KeptEntry { tree: Arc::new(state), at }))
    }
}
