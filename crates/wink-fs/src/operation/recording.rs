//! The layer that keeps what a call changes, before it does.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::hashes::Hashes;
use super::image::{BeforeImage, Nothing};
use crate::error::Result;
use crate::filesystem::{PutCondition, Removed};
use crate::layer::{Call, Layer};
use crate::ops;
use crate::path::TreePath;
use crate::refusal;
use crate::store::failure::of_history;
use crate::tree::{Kind, Tree};

/// Records one operation at a time, between a beginning and an end; nothing otherwise.
#[derive(Default)]
pub(crate) struct Recording(Mutex<Option<Record>>);

/// What an operation has touched so far.
pub(crate) struct Record {
    image: Box<dyn BeforeImage>,
    touched: Vec<TreePath>,
    /// Whether the call that is under way is the first to touch its path.
    is_first: bool,
    /// Content that was replaced, where the call said which it is, so that it need not be read.
    replaced: Hashes,
    /// Content that was put and still stands there, so that it need not be read again.
    put: Hashes,
}

impl Record {
    fn new(image: Box<dyn BeforeImage>) -> Self {
        let (replaced, put) = (Hashes::default(), Hashes::default());
        Self { image, touched: Vec::new(), is_first: false, replaced, put }
    }
}

impl Recording {
    /// Does something and records what it touches.
    pub(crate) fn during<T>(
        &self,
        image: Box<dyn BeforeImage>,
        work: impl FnOnce() -> T,
    ) -> (T, Record) {
        // What a panic left is replaced here.
        *self.lock() = Some(Record::new(image));
        let done = work();
        (done, self.lock().take().unwrap_or_else(|| Record::new(Box::new(Nothing))))
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

    /// Returns the hashes of contents that were replaced, as far as they are known.
    pub(crate) fn replaced(&self) -> &Hashes {
        &self.replaced
    }

    /// Returns the hashes of contents that were put and still stand where they were.
    pub(crate) fn put(&self) -> &Hashes {
        &self.put
    }

    fn keep_for(&mut self, tree: &dyn Tree, call: &Call<'_>) -> Result<()> {
        let before = self.touched.len();
        let mut paths = changed_paths(call).into_iter().flatten();
        let kept = paths.try_for_each(|path| self.keep(tree, call, path));
        self.is_first = self.touched.len() > before;
        kept.map_err(of_history)
    }

    fn done(&mut self, call: &Call<'_>) {
        let Call::Put { path, staged, options } = call else {
            changed_paths(call).into_iter().flatten().for_each(|path| self.put.forget(path));
            return;
        };
        if let (PutCondition::Unchanged(hash), true) = (options.condition, self.is_first) {
            self.replaced.note(path, hash);
        }
        self.put.note(path, staged.hash());
    }

    /// Keeps what is at a path, but for what was kept before: the first image is the one that counts.
    fn keep(&mut self, tree: &dyn Tree, call: &Call<'_>, path: &TreePath) -> Result<()> {
        // No call changes what the root itself is.
        if path.is_root() {
            return Ok(());
        }
        if self.touched.iter().any(|kept| path.starts_with(kept)) {
            return match call {
                Call::Put { staged, .. } => self.image.note_replaced(path, staged.hash()),
                _ => Ok(()),
            };
        }
        let is_kept_in_part = self.touched.iter().any(|kept| kept.starts_with(path));
        if is_kept_in_part && ops::is_dir(tree, path) {
            for child in tree.list(path)? {
                let child_path = path.join(&child.name)?;
                if child.kind == Kind::Other && matches!(call, Call::Remove { .. }) {
                    return Err(refusal::holds_special(&child_path));
                }
                self.keep(tree, call, &child_path)?;
            }
            // Last: it says that all that was in it is kept.
            self.image.keep_directory(path)?;
        } else if matches!(call, Call::SetMode { .. }) {
            self.image.keep_copy(path)?;
        } else if matches!(call, Call::Rename { from, .. } if *from == path) {
            self.image.keep_moved(path)?;
        } else if let Call::Put { staged, .. } = call {
            self.image.keep_replaced(path, staged.hash())?;
        } else if matches!(call, Call::Remove { .. }) {
            self.image.keep_removed(path)?;
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
        if !call.is_change() {
            return;
        }
        if let Some(record) = &mut *self.lock() {
            record.done(call);
        }
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recording({})", if self.lock().is_some() { "on" } else { "off" })
    }
}
