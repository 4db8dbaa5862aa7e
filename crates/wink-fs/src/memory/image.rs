//! What is about to change, kept by itself.
//!
//! To keep the whole state would be one pointer, but then every change copies all nodes above it.

use std::sync::Arc;
use std::time::SystemTime;

use super::Live;
use super::node::{Directory, Node};
use super::state::State;
use crate::error::{Operation, Result};
use crate::operation::BeforeImage;
use crate::path::TreePath;
use crate::tree::Tree;

/// Holds the entries that were kept, each at its own path.
pub(super) struct Image {
    live: Arc<Live>,
    kept: State,
    now: SystemTime,
}

impl Image {
    pub(super) fn new(live: Arc<Live>, now: SystemTime) -> Self {
        Self { live, kept: State::new(now), now }
    }

    fn put(&mut self, path: &TreePath, node: Node) {
        for parent in path.ancestors() {
            self.make(&parent);
        }
        self.kept.set(path, Some(node), self.now);
    }

    /// Makes a directory that is not there yet.
    fn make(&mut self, path: &TreePath) {
        if self.kept.find(Operation::Write, path).is_err() {
            let empty = Node::Directory(Arc::new(Directory::new(self.now)));
            self.kept.set(path, Some(empty), self.now);
        }
    }
}

impl BeforeImage for Image {
    fn keep(&mut self, path: &TreePath) -> Result<()> {
        let found = self.live.read().find(Operation::Write, path);
        if let Ok(node) = found {
            self.put(path, node);
        }
        Ok(())
    }

    fn keep_copy(&mut self, path: &TreePath) -> Result<()> {
        self.keep(path)
    }

    fn keep_directory(&mut self, path: &TreePath) -> Result<()> {
        path.ancestors().for_each(|parent| self.make(&parent));
        self.make(path);
        Ok(())
    }

    fn tree(&self) -> Result<Arc<dyn Tree>> {
        Ok(Arc::new(self.kept.clone()))
    }
}
