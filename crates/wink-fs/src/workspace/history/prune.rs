//! Taking snapshots and paths away, with the space they take.

use std::collections::{BTreeSet, HashMap};

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::event::Event;
use crate::oplog::{KeptEntry, OpLog};
use crate::path::TreePath;
use crate::snapshot::{Reclaimed, Redacted, Retention, Snapshot, SnapshotOrigin, Usage};
use crate::tree::compare::kind_at;
use crate::tree::descend;
use crate::tree::hash::TreeHash;
use crate::tree::scope::Exclusions;
use crate::tree::{Kind, Tree};
use crate::workspace::Workspace;
use crate::workspace::history::History;

/// Which snapshots to prune.
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

/// The result of a prune, or of its dry run.
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
    /// Returns what is kept of its snapshots.
    ///
    /// ```
    /// assert!(wink_fs::Workspace::memory().retention()?.keep_tagged);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn retention(&self) -> Result<Retention> {
        Ok(self.history(Operation::List)?.retention.clone())
    }

    /// Takes away the snapshots that are not to be kept, and gives their space back.
    pub fn prune(&self, options: &PruneOptions) -> Result<Pruned> {
        let history = self.history(Operation::Prune)?;
        let retention = options.retention.as_ref().unwrap_or(&history.retention);
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.check_clock()?;
        if options.dry_run {
            return Ok(Pruned { snapshots: history.expiring(retention)?, ..Pruned::default() });
        }
        let before = history.snapshots.usage()?;
        let mut snapshots = history.expire(retention)?;
        let reclaimed = history.snapshots.reclaim()?;
        snapshots.extend(history.fit(retention, SnapshotOrigin::User)?);
        let bytes_freed = before.bytes.saturating_sub(history.snapshots.usage()?.bytes);
        Ok(Pruned { snapshots, reclaimed, bytes_freed })
    }

    /// Takes everything that matches out of all snapshots and operations, and its bytes off the disk.
    ///
    /// The pattern is one of [`Exclusions`]. The files themselves stay. Snapshots name in
    /// [`Snapshot::skipped`] what they are without; operations that kept some of it are forgotten, because
    /// undoing them would take away what is there now, and so are those of other workspaces that share the
    /// snapshots ([`Store::for_fork`](crate::Store::for_fork)). What a repair put into the quarantine stays,
    /// and so does what a fork in memory has.
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
        let _here = self.alone(history, &mut writer)?;
        let others = history.oplog.others()?;
        // No process works in the other workspaces meanwhile, and no interrupted operation in them is left to
        // roll back.
        let _alone = others.iter().map(|(_, it)| it.lock()).collect::<Result<Vec<_>>>()?;
        others.iter().try_for_each(|(name, it)| check_nothing_begun(name, &**it, &out))?;
        let mut redacted = history.snapshots.redact(&out)?;
        redacted.operations = forget_with(&*history.oplog, &out)?;
        for (name, other) in others {
            let forgotten = forget_with(&*other, &out)?;
            redacted.elsewhere.extend((!forgotten.is_empty()).then_some((name, forgotten)));
        }
        let (snapshots, paths) = (redacted.snapshots.clone(), redacted.paths.clone());
        if !snapshots.is_empty() {
            self.0.observers.tell(&Event::PathsPruned { snapshots, paths });
        }
        Ok(redacted)
    }

    /// Dry run of [`prune_path`](Self::prune_path).
    ///
    /// ```
    /// use wink_fs::{MemoryBackend, Store, Workspace};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// let store = Store::create_ambient(directory.path())?;
    /// let files = Workspace::builder(MemoryBackend::new()).store(store).build();
    /// files.write("config/.env", "TOKEN=secret")?;
    /// files.snapshot("first")?;
    /// assert!(files.would_prune_path(".env")?.paths.contains("config/.env"));
    /// assert!(files.tree_at("first")?.stat(&files.path("config/.env")?).is_ok());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn would_prune_path(&self, pattern: &str) -> Result<Redacted> {
        let history = self.history(Operation::Prune)?;
        let out = Exclusions::parse([pattern])?;
        let mut writer = self.turn()?;
        let _here = self.alone(history, &mut writer)?;
        let mut redacted = Redacted::default();
        let mut looked_at = LookedAt::default();
        for snapshot in history.snapshots.list()? {
            let tree = history.snapshots.load(&snapshot.id)?;
            let paths = matches_below(&*tree, &TreePath::root(), &out, &mut looked_at)?;
            redacted.snapshots.extend((!paths.is_empty()).then_some(snapshot.id));
            redacted.paths.extend(paths);
        }
        redacted.operations = keeping(&*history.oplog, &out)?;
        for (name, other) in history.oplog.others()? {
            let keeping = keeping(&*other, &out)?;
            redacted.elsewhere.extend((!keeping.is_empty()).then_some((name, keeping)));
        }
        Ok(redacted)
    }

    /// Returns whether a snapshot that a person takes next would fit the quota if it stored so many new bytes.
    ///
    /// ```
    /// assert!(wink_fs::Workspace::memory().has_room_for(u64::MAX)?);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn has_room_for(&self, bytes: u64) -> Result<bool> {
        let history = self.history(Operation::Stat)?;
        match history.plan_room(&history.retention, SnapshotOrigin::User, true, bytes) {
            Err(error) if error.kind() == ErrorKind::NoSpace => Ok(false),
            planned => planned.map(|_| true),
        }
    }

    /// Returns how many bytes the history would take with what its quota refused last in this process; 0 if it
    /// refused nothing.
    ///
    /// ```
    /// assert_eq!(wink_fs::Workspace::memory().refused_bytes(), 0);
    /// ```
    pub fn refused_bytes(&self) -> u64 {
        self.0.history.as_ref().map_or(0, History::refused_bytes)
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

/// Forgets the operations of a history that keep something that matches, and returns their numbers.
fn forget_with(oplog: &dyn OpLog, out: &Exclusions) -> Result<Vec<u64>> {
    let numbers = keeping(oplog, out)?;
    oplog.forget(&numbers)?;
    Ok(numbers)
}

/// Returns the numbers of the operations of a history that keep something that matches.
fn keeping(oplog: &dyn OpLog, out: &Exclusions) -> Result<Vec<u64>> {
    let (listed, mut numbers) = (oplog.list()?, Vec::new());
    for number in oplog.numbers()? {
        let known = listed.iter().find(|it| it.sequence == number);
        let keeps = match known.map(|it| (it.saved().is_some(), &it.changes)) {
            // What was there before is in a snapshot.
            Some((true, changes)) => changes.iter().any(|change| out.matches(&change.path)),
            _ => may_keep(oplog, number, out)?,
        };
        if keeps {
            numbers.push(number);
        }
    }
    Ok(numbers)
}

/// What matches in directories that were looked at; most are the same in many snapshots.
type LookedAt = HashMap<(TreePath, TreeHash), BTreeSet<String>>;

/// Returns what matches in a directory, as texts; an entry stands for all that is below it.
fn matches_below(
    tree: &dyn Tree,
    directory: &TreePath,
    out: &Exclusions,
    looked_at: &mut LookedAt,
) -> Result<BTreeSet<String>> {
    let key = tree.known_tree_hash(directory).map(|hash| (directory.clone(), hash));
    if let Some(known) = key.as_ref().and_then(|key| looked_at.get(key)) {
        return Ok(known.clone());
    }
    let mut found = BTreeSet::new();
    for entry in tree.list(directory)? {
        let path = directory.join(&entry.name)?;
        match entry.kind {
            _ if out.matches_entry(&path) => drop(found.insert(path.to_string())),
            Kind::Directory => {
                found.append(&mut descend(|| matches_below(tree, &path, out, looked_at))?);
            }
            _ => {}
        }
    }
    looked_at.extend(key.map(|key| (key, found.clone())));
    Ok(found)
}

/// Fails if a process died in another workspace while it kept something that matches: only who opens
/// that one can take back what was begun, and needs it for that.
fn check_nothing_begun(name: &str, oplog: &dyn OpLog, out: &Exclusions) -> Result<()> {
    for number in oplog.interrupted()? {
        if may_keep(oplog, number, out)? {
            return Err(Error::new(Operation::Prune, ErrorKind::Conflict)
                .with_path_text(name)
                .with_detail(
                    "a call was interrupted in a workspace that shares the snapshots; \
                 open that one, so that it is taken back, and try again",
                ));
        }
    }
    Ok(())
}

/// Returns whether an operation keeps something that matches, or that might.
fn may_keep(oplog: &dyn OpLog, number: u64, out: &Exclusions) -> Result<bool> {
    if oplog.keeps_unused(number, &|path| out.matches(path))? {
        return Ok(true);
    }
    let recorded = match oplog.recorded(number) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        recorded => recorded?,
    };
    for (line, step) in &recorded.steps {
        let Some(kept) = recorded.kept(*line)? else { continue };
        if out.matches(step.path()) || has_match(&kept, step.path(), out)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether anything matches in a directory that was displaced at a path.
fn has_match(kept: &KeptEntry, path: &TreePath, out: &Exclusions) -> Result<bool> {
    let mut waiting = vec![(kept.at.clone(), path.clone())];
    while let Some((at, path)) = waiting.pop() {
        if kind_at(&*kept.tree, &at)? != Some(Kind::Directory) {
            continue;
        }
        for entry in kept.tree.list(&at)? {
            let path = path.join(&entry.name)?;
            if out.matches_entry(&path) {
                return Ok(true);
            }
            waiting.push((at.join(&entry.name)?, path));
        }
    }
    Ok(false)
}
