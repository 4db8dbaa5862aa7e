//! Collects the first results in order, from files searched in any order.

use std::collections::BTreeMap;

use parking_lot::{Mutex, RwLock};

use crate::path::TreePath;

/// Keeps the first results by path, up to a weight.
pub(super) struct Collector<T> {
    cap: usize,
    kept: Mutex<Kept<T>>,
    /// The last path that is still needed, once there are enough.
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

    /// Returns whether results of a file can still be among the first.
    pub(super) fn wants(&self, path: &TreePath) -> bool {
        let bound = self.bound.read();
        bound.as_ref().is_none_or(|last| path <= last)
    }

    /// Adds the results of a file.
    pub(super) fn add(&self, path: TreePath, weight: usize, found: T) {
        let mut kept = self.kept.lock();
        kept.by_path.insert(path, (weight, found));
        kept.weight += weight;
        if kept.weight >= self.cap {
            kept.forget_beyond(self.cap);
            let last = kept.by_path.last_key_value().map(|(path, _)| path.clone());
            *self.bound.write() = last;
        }
    }

    /// Returns the results, in order.
    pub(super) fn finish(self) -> impl Iterator<Item = (TreePath, T)> {
        let kept = self.kept.into_inner();
        kept.by_path.into_iter().map(|(path, (_, found))| (path, found))
    }
}

impl<T> Kept<T> {
    /// Drops the last files as long as the others suffice.
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
