//! Which states stay, and giving back the space of those that go.

use std::time::SystemTime;

use super::Workspace;
use super::history::History;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::event::Event;
use crate::operation::OperationCause;
use crate::path::TreePath;
use crate::scope::Exclusions;
use crate::snapshot::{
    Choose, Pin, Reclaimed, Redacted, Retention, Snapshot, SnapshotCause, SnapshotId, Usage,
};
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
        snapshots.extend(history.fit(retention, None)?);
        let bytes_freed = before.bytes.saturating_sub(history.snapshots.usage()?.bytes);
        Ok(Pruned { snapshots, reclaimed, bytes_freed })
    }

    /// Takes everything that matches out of all snapshots and operations, and its bytes off the disk.
    ///
    /// The pattern is one of [`Exclusions`]. The files themselves stay. Snapshots name in
    /// [`Snapshot::skipped`] what they are without; operations that kept some of it are forgotten, because
    /// undoing them would take away what is there now.
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
    /// Returns the snapshots that are not to be kept.
    fn expiring(&self, retention: &Retention) -> Result<Vec<Snapshot>> {
        let mut all = self.snapshots.list()?;
        let going = retention.expired(&all, &self.snapshots.pins()?, SystemTime::now());
        all.retain(|it| going.contains(&it.id));
        Ok(all)
    }

    /// Forgets the snapshots that are not to be kept.
    pub(super) fn expire(&self, retention: &Retention) -> Result<Vec<Snapshot>> {
        if self.expiring(retention)?.is_empty() {
            return Ok(Vec::new());
        }
        let now = SystemTime::now();
        self.forget(&|all, pins| retention.expired(all, pins, now))
    }

    fn forget(&self, choose: Choose<'_>) -> Result<Vec<Snapshot>> {
        let gone = self.snapshots.forget(choose)?;
        if !gone.is_empty() {
            let ids = gone.iter().map(|it| it.id).collect();
            self.observers.tell(&Event::SnapshotsPruned { ids });
        }
        Ok(gone)
    }

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

    /// Does what is due after a snapshot was taken, and takes it back where there is no room for it.
    pub(super) fn make_room(&self, taken: &Snapshot) -> Result<()> {
        // It is there: what could not be done now is done after the next one, or told by a prune.
        let _ = self.expire(&self.retention);
        if self.snapshots.is_fragmented().unwrap_or(false) {
            let _ = self.snapshots.reclaim();
        }
        let fitted = self.fit(&self.retention, Some(taken));
        if fitted.is_err() {
            self.snapshots.delete(&taken.id)?;
            self.snapshots.reclaim()?;
        }
        fitted.map(drop)
    }

    /// Takes away what may go until the history takes no more space than it may.
    ///
    /// First what restores and imports replaced goes, then what operations keep, then other snapshots.
    pub(super) fn fit(
        &self,
        retention: &Retention,
        taken: Option<&Snapshot>,
    ) -> Result<Vec<Snapshot>> {
        let mut gone = Vec::new();
        let Some(max) = retention.max_bytes else { return Ok(gone) };
        let mut operations_are_kept = true;
        while !self.fits(max)? {
            let next = self.forget(&|all, pins| next_to_go(retention, all, pins))?;
            if next.is_empty() && !operations_are_kept {
                return match taken {
                    Some(_) => Err(full(max)),
                    None => Ok(gone),
                };
            }
            let only_safety = next.iter().all(|it| it.cause == SnapshotCause::Safety);
            if only_safety && operations_are_kept {
                self.ledger.forget_all()?;
                operations_are_kept = false;
            }
            gone.extend(next);
            self.snapshots.reclaim()?;
        }
        Ok(gone)
    }

    /// Tells whether the space that is taken is not too much, and warns from nine tenths of it on.
    fn fits(&self, max_bytes: u64) -> Result<bool> {
        let usage = self.snapshots.usage()?;
        if usage.is_nearly_full(Some(max_bytes)) {
            self.observers.tell(&Event::StoreNearlyFull { bytes: usage.bytes, max_bytes });
        }
        Ok(usage.bytes <= max_bytes)
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

/// Chooses all of what restores and imports replaced, or a quarter of the other snapshots.
fn next_to_go(retention: &Retention, all: &[Snapshot], pins: &[Pin]) -> Vec<SnapshotId> {
    let mut order = retention.expendable(all, pins, SystemTime::now());
    let is_safety =
        |id: &SnapshotId| all.iter().any(|it| it.id == *id && it.cause == SnapshotCause::Safety);
    let safety = order.iter().take_while(|id| is_safety(id)).count();
    let count = if safety > 0 { safety } else { order.len().div_ceil(4) };
    order.truncate(count);
    order
}

fn full(max: u64) -> Error {
    Error::new(Operation::Snapshot, ErrorKind::NoSpace).with_detail(format!(
        "the history may take {max} bytes and nothing in it may go; \
         allow more, keep fewer snapshots, or delete some that have a tag"
    ))
}
