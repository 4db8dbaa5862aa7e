//! Taking snapshots and paths away, with the space they take.

use super::Workspace;
use super::history::History;
use crate::error::{Operation, Result};
use crate::event::Event;
use crate::operation::OperationCause;
use crate::path::TreePath;
use crate::scope::Exclusions;
use crate::snapshot::{Reclaimed, Redacted, Retention, Snapshot, Usage};
use crate::tree::{Kind, Tree};

/// Says what a prune is to take away.
///
/// ```
/// use wink_fs::{PruneOptions, Retention, SnapshotOptions, Workspace};
///
/// let files = Workspace::memory();
/// files.snapshot_with(&SnapshotOptions::default())?;
/// files.snapshot_with(&SnapshotOptions::default())?;
/// let options = PruneOptions::default().retention(Retention::default().max_count(1));
/// assert_eq!(files.prune(&options.clone().dry_run(true))?.snapshots.len(), 1);
/// assert_eq!(files.snapshots()?.len(), 2);
/// assert_eq!(files.prune(&options)?.snapshots.len(), 1);
/// assert_eq!(files.snapshots()?.len(), 1);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PruneOptions {
    /// Which snapshots stay; none means what the workspace was made with.
    pub retention: Option<Retention>,
    /// Whether it is only said what would go.
    pub dry_run: bool,
}

impl PruneOptions {
    /// Sets which snapshots stay, this time.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = Some(retention);
        self
    }

    /// Sets whether it is only said what would go.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// Says what a prune took away, or would.
///
/// ```
/// let pruned = wink_fs::Workspace::memory().prune(&Default::default())?;
/// assert!(pruned.snapshots.is_empty() && pruned.bytes_freed == 0);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Pruned {
    /// The snapshots that are gone, oldest first.
    pub snapshots: Vec<Snapshot>,
    /// What was done to the files that hold them.
    pub reclaimed: Reclaimed,
    /// How many bytes less the history takes on its disk.
    pub bytes_freed: u64,
}

impl Workspace {
    /// Takes away the snapshots that are not to be kept, and gives their space back.
    pub fn prune(&self, options: &PruneOptions) -> Result<Pruned> {
        let history = self.history(Operation::Prune)?;
        let retention = options.retention.as_ref().unwrap_or(&history.retention);
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        if options.dry_run {
            return Ok(Pruned { snapshots: history.expiring(retention)?, ..Pruned::default() });
        }
        let before = history.snapshots.usage()?;
        let mut snapshots = history.expire(retention)?;
        let reclaimed = history.snapshots.reclaim()?;
        snapshots.extend(history.fit(retention)?.0);
        let bytes_freed = before.bytes.saturating_sub(history.snapshots.usage()?.bytes);
        Ok(Pruned { snapshots, reclaimed, bytes_freed })
    }

    /// Takes everything that matches out of all snapshots and operations, and its bytes off the disk.
    ///
    /// The pattern is one of [`Exclusions`]. The files themselves stay. Snapshots name in
    /// [`Snapshot::skipped`] what they are without; operations that kept some of it are forgotten, because
    /// undoing them would take away what is there now. What a repair put into the quarantine stays.
    ///
    /// ```
    /// use wink_fs::{MemoryBackend, Store, Workspace};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// let store = Store::create_ambient(directory.path())?;
    /// let files = Workspace::builder(MemoryBackend::new()).store(store).build();
    /// files.write("config/.env", "TOKEN=secret")?;
    /// files.snapshot("first")?;
    /// let redacted = files.prune_path(".env")?;
    /// assert!(redacted.paths.contains("config/.env"));
    /// assert!(files.tree_at("first")?.stat(&files.path("config/.env")?).is_err());
    /// assert!(files.is_file("config/.env"));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn prune_path(&self, pattern: &str) -> Result<Redacted> {
        let history = self.history(Operation::Prune)?;
        let out = Exclusions::parse([pattern])?;
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        let mut redacted = history.snapshots.redact(&out)?;
        redacted.operations = history.forget_operations_with(&out)?;
        let (snapshots, paths) = (redacted.snapshots.clone(), redacted.paths.clone());
        self.0.observers.tell(&Event::PathsPruned { snapshots, paths });
        Ok(redacted)
    }

    /// Returns how much space the history takes.
    ///
    /// ```
    /// assert_eq!(wink_fs::Workspace::memory().usage()?.packs, 0);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn usage(&self) -> Result<Usage> {
        self.history(Operation::Stat)?.snapshots.usage()
    }
}

impl History {
    /// Forgets the operations that keep something that matches, and returns their numbers.
    fn forget_operations_with(&self, out: &Exclusions) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for operation in self.ledger.list()? {
            let keeps = match operation.cause {
                // What was there before is in a snapshot.
                OperationCause::Replacement { .. } => {
                    operation.changes.iter().any(|change| out.matches(&change.path))
                }
                _ => has_match(&*self.ledger.before(operation.sequence)?, out)?,
            };
            if keeps {
                numbers.push(operation.sequence);
            }
        }
        self.ledger.forget(&numbers)?;
        Ok(numbers)
    }
}

/// Tells whether anything in a tree matches.
fn has_match(tree: &dyn Tree, out: &Exclusions) -> Result<bool> {
    let mut waiting = vec![TreePath::root()];
    while let Some(directory) = waiting.pop() {
        for entry in tree.list(&directory)? {
            let path = directory.join(&entry.name)?;
            match entry.kind {
                _ if out.matches_entry(&path) => return Ok(true),
                Kind::Directory => waiting.push(path),
                _ => {}
            }
        }
    }
    Ok(false)
}
