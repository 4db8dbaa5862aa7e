//! What is excluded from a workspace, which a person may change while the workspace is in use.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use crate::error::{Operation, Result};
use crate::filesystem::capture::NotCaptured;
use crate::path::TreePath;
use crate::tree::scope::Exclusions;
use crate::workspace::Workspace;

/// Returns the exclusions, if they changed since the last call.
pub(crate) type Source = Box<dyn Fn() -> Result<Option<Exclusions>> + Send + Sync>;

/// What is excluded, as far as that was asked.
#[derive(Default)]
pub(crate) struct Excluded {
    known: RwLock<Exclusions>,
    source: Option<Source>,
    /// What this turn cannot capture, which it leaves alone as if it were excluded.
    left_out: Mutex<BTreeMap<TreePath, &'static str>>,
}

impl Excluded {
    pub(crate) fn new(known: Exclusions, source: Option<Source>) -> Self {
        Self { known: RwLock::new(known), source, left_out: Mutex::default() }
    }

    /// Returns what is excluded, as far as that was asked.
    pub(crate) fn known(&self) -> Exclusions {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks what is excluded now.
    ///
    /// Only who has the turn asks: what a call keeps and what it replaces must be the same.
    pub(crate) fn ask(&self) -> Result<()> {
        self.lock_left_out().clear();
        if let Some(now) = self.source.as_ref().map_or(Ok(None), |source| source())? {
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = now;
        }
        Ok(())
    }

    /// Returns what is excluded, and what this turn leaves out.
    pub(crate) fn in_turn(&self) -> Exclusions {
        let left_out: Vec<_> = self.lock_left_out().keys().map(Exclusions::pattern_of).collect();
        let known = self.known();
        // A pattern of a path always parses.
        known.and(&left_out).unwrap_or(known)
    }

    /// Leaves a path out until the next turn; returns whether that is new.
    pub(crate) fn leave_out(&self, path: TreePath, why: &'static str) -> bool {
        !path.is_root() && self.lock_left_out().insert(path, why).is_none()
    }

    /// Returns what this turn leaves out, and why.
    pub(crate) fn left_out(&self) -> Vec<NotCaptured> {
        let left_out = self.lock_left_out();
        left_out.iter().map(|(path, why)| NotCaptured::missing(path.clone(), why)).collect()
    }

    fn lock_left_out(&self) -> MutexGuard<'_, BTreeMap<TreePath, &'static str>> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workspace {
    /// Asks what is excluded now; see [`exclude_by`](crate::workspace::WorkspaceBuilder::exclude_by).
    ///
    /// Calls that take a snapshot, compare with the files as they are now, or replace files as a whole do this
    /// by themselves.
    ///
    /// ```
    /// use wink_fs::{Exclusions, MemoryBackend, Workspace};
    ///
    /// let settings = || Exclusions::parse(["target/"]).map(Some);
    /// let files = Workspace::builder(MemoryBackend::new()).exclude_by(settings).build();
    /// files.write("target/out", "built")?;
    /// files.heed_exclusions()?;
    /// assert!(files.tree_without_excluded().stat(&files.path("target/out")?).is_err());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn heed_exclusions(&self) -> Result<()> {
        let _turn = self.turn()?;
        self.history(Operation::Stat)?.excluded.ask()
    }

    /// Returns what is excluded, as far as that was asked; without a history nothing is.
    ///
    /// ```
    /// use wink_fs::{Exclusions, MemoryBackend, Workspace};
    ///
    /// let files = Workspace::builder(MemoryBackend::new());
    /// let files = files.exclude(Exclusions::parse(["target/"])?).build();
    /// assert_eq!(files.excluded().patterns().collect::<Vec<_>>(), ["target/"]);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn excluded(&self) -> Exclusions {
        self.0.history.as_ref().map(|history| history.excluded.known()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::memory::MemoryBackend;

    #[test]
    fn single_files_are_read_and_changed_without_asking_what_is_excluded() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let source = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(None)
        };
        let files = Workspace::builder(MemoryBackend::new()).exclude_by(source).build();
        files.write("a", "one").unwrap();
        files.read("a").unwrap();
        files.list("").unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        files.snapshot("one").unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_fork_is_kept_without_what_was_excluded_since_it_was_made() {
        let is_secret = Arc::new(AtomicBool::new(false));
        let told = is_secret.clone();
        let source =
            move || told.load(Ordering::Relaxed).then(|| Exclusions::parse([".env"])).transpose();
        let files = Workspace::builder(MemoryBackend::new()).exclude_by(source).build();
        let fork = files.fork(&files.snapshot("start").unwrap()).unwrap();
        fork.write(".env", "TOKEN=secret").unwrap();
        fork.write("a", "one").unwrap();
        is_secret.store(true, Ordering::Relaxed);
        let kept = files.keep_fork(&fork, "kept").unwrap().unwrap();
        let tree = files.tree_at(&kept).unwrap();
        assert!(tree.stat(&files.path("a").unwrap()).is_ok());
        assert!(tree.stat(&files.path(".env").unwrap()).is_err());
    }
}
