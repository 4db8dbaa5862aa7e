//! The first results in order, from files searched in any order.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use crate::path::TreePath;

/// Keeps what comes first by path, up to a weight, and forgets the rest as soon as it can.
pub(super) struct Collector<T> {
    cap: usize,
    kept: Mutex<Kept<T>>,
    /// The last path that is still wanted, once there is enough.
    bound: RwLock<Option<TreePath>>,
}

struct Kept<T> {
    by_path: BTreeMap<TreePath, (usize, T)>,
    weight: usize,
}

impl<T> Collector<T> {
    pub(super) fn new(cap: usize) -> Self {
        let kept = Kept { by_path: BTreeMap::new(), weight: 0 };
        Self { cap, kept: Mutex::new(kept), bound: RwLock::new(None) }
    }

    /// Tells whether anything of a file can still be among the first.
    pub(super) fn wants(&self, path: &TreePath) -> bool {
        let bound = self.bound.read().unwrap_or_else(PoisonError::into_inner);
        bound.as_ref().is_none_or(|last| path <= last)
    }

    /// Adds what was found in a file.
    pub(super) fn add(&self, path: TreePath, weight: usize, found: T) {
        let mut kept = self.lock();
        kept.by_path.insert(path, (weight, found));
        kept.weight += weight;
        if kept.weight >= self.cap {
            kept.forget_beyond(self.cap);
            let last = kept.by_path.last_key_value().map(|(path, _)| path.clone());
            *self.bound.write().unwrap_or_else(PoisonError::into_inner) = last;
        }
    }

    /// Returns what was kept, in order.
    pub(super) fn finish(self) -> impl Iterator<Item = (TreePath, T)> {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        kept.by_path.into_iter().map(|(path, (_, found))| (path, found))
    }

    fn lock(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Kept<T> {
    /// Drops last files as long as the others have enough.
    fn forget_beyond(&mut self, cap: usize) {
        while let Some(last) = self.by_path.last_entry() {
            let weight = last.get().0;
            if self.weight - weight < cap {
                break;
            }
            self.weight -= weight;
            last.remove();
        }
    }
}
