//! The layer that keeps what a call changes, before it does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::image::{BeforeImage, Nothing};
use crate::error::Result;
use crate::filesystem::Removed;
use crate::hash::ContentHash;
use crate::layer::{Call, Layer};
use crate::ops;
use crate::path::TreePath;
use crate::tree::Tree;

/// Records one operation at a time, between a beginning and an end; nothing otherwise.
#[derive(Default)]
pub(crate) struct Recording(Mutex<Option<Record>>);

/// What an operation has touched so far.
pub(crate) struct Record {
    image: Box<dyn BeforeImage>,
    touched: Vec<TreePath>,
    /// Content that was put, so that it need not be read again.
    hashes: BTreeMap<TreePath, ContentHash>,
}

impl Recording {
    /// Does something and records what it touches.
    pub(crate) fn during<T>(
        &self,
        image: Box<dyn BeforeImage>,
        work: impl FnOnce() -> T,
    ) -> (T, Record) {
        let new =
            || Record { image: Box::new(Nothing), touched: Vec::new(), hashes: BTreeMap::new() };
        // What a panic left is replaced here.
        *self.lock() = Some(Record { image, ..new() });
        let done = work();
        (done, self.lock().take().unwrap_or_else(new))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Record>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    pub(crate) fn touched(&self) -> &[TreePath] {
        &self.touched
    }

    pub(crate) fn tree(&self) -> Result<Arc<dyn Tree>> {
        self.image.tree()
    }

    /// Returns the hash of content that was put at a path, if it was.
    pub(crate) fn hash_of(&self, path: &TreePath) -> Option<ContentHash> {
        self.hashes.get(path).copied()
    }

    fn keep_for(&mut self, tree: &dyn Tree, call: &Call<'_>) -> Result<()> {
        changed_paths(call).into_iter().flatten().try_for_each(|path| self.keep(tree, call, path))
    }

    /// Keeps what is at a path, but for what was kept before: the first image is the one that counts.
    fn keep(&mut self, tree: &dyn Tree, call: &Call<'_>, path: &TreePath) -> Result<()> {
        // No call changes what the root itself is.
        if path.is_root() || self.touched.iter().any(|kept| path.starts_with(kept)) {
            return Ok(());
        }
        let is_kept_in_part = self.touched.iter().any(|kept| kept.starts_with(path));
        if is_kept_in_part && ops::is_dir(tree, path) {
            self.image.keep_directory(path)?;
            for child in tree.list(path)? {
                self.keep(tree, call, &path.join(&child.name)?)?;
            }
        } else if matches!(call, Call::SetMode { .. }) {
            self.image.keep_copy(path)?;
        } else {
            self.image.keep(path)?;
        }
        self.touched.push(path.clone());
        Ok(())
    }
}

fn changed_paths<'a>(call: &Call<'a>) -> [Option<&'a TreePath>; 2] {
    match *call {
        Call::Rename { from, to, .. } => [Some(from), Some(to)],
        Call::Put { path, .. }
        | Call::CreateDir { path }
        | Call::Symlink { path, .. }
        | Call::SetMode { path, .. }
        | Call::Remove { path, .. } => [Some(path), None],
        _ => [None, None],
    }
}

impl Layer for Recording {
    fn before(&self, tree: &dyn Tree, call: &Call<'_>) -> Result<()> {
        if !call.is_change() {
            return Ok(());
        }
        match &mut *self.lock() {
            Some(record) => record.keep_for(tree, call),
            None => Ok(()),
        }
    }

    fn after(&self, call: &Call<'_>, _: Removed) {
        if let (Call::Put { path, staged, .. }, Some(record)) = (call, &mut *self.lock()) {
            record.hashes.insert((*path).clone(), staged.hash());
        }
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recording({})", if self.lock().is_some() { "on" } else { "off" })
    }
}
