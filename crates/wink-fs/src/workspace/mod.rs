//! The handle programs work with: paths as text, many readers, one writer.

mod at;
mod change;
mod excluded;
mod execute;
mod fork;
mod history;
mod keep_fork;
mod look;
mod merge;
mod prune;
mod recover_executed;
mod repair;
mod replacement;
mod restore;
mod room;
mod snapshot_after;
mod snapshots;
mod turn;
mod undo;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use self::at::At;
pub use self::execute::{Execution, ExecutionPlace};
pub use self::prune::{PruneOptions, Pruned};
pub use self::restore::{Receipt, RestoreOptions};
pub use self::snapshots::SnapshotOptions;
pub use self::undo::Undone;

use self::excluded::{Excluded, Source};
use self::fork::Origin;
use self::history::History;
use self::turn::{Turn, Turns};
use crate::clock::{Clock, SystemClock};
use crate::compare::compare;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::event::{Event, Observers};
use crate::excluding::Excluding;
use crate::filesystem::{Backend, Filesystem, Properties};
use crate::guard::Guard;
use crate::host::HostBackend;
use crate::host_options::HostOptions;
use crate::layer::Layered;
use crate::limits::Limits;
use crate::memory::MemoryBackend;
use crate::operation::{Record, Recording};
use crate::path::{MountPoint, TreePath};
use crate::progress::Progress;
use crate::scope::{Exclusions, Scope};
use crate::snapshot::{Retention, SnapshotStore};
use crate::store::Store;
use crate::tree::Tree;

/// Gives a program one workspace, whatever it is made of; a clone is another handle to the same one.
///
/// Its methods take paths as text and are the program's own: limits do not apply to them. What is done
/// for an agent goes through [`as_agent`](Self::as_agent). Readers never wait for a writer that is busy;
/// writers take turns.
///
/// ```
/// use wink_fs::{ErrorKind, Workspace};
///
/// let files = Workspace::memory();
/// files.write("src/main.py", "print('hello')")?;
/// assert_eq!(files.read("src/main.py")?.content, "print('hello')");
/// assert_eq!(files.read("../secret").unwrap_err().kind(), ErrorKind::PermissionDenied);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone)]
pub struct Workspace(Arc<Shared>, Option<Duration>);

struct Shared {
    writer: Turns<Layered<Guard>>,
    live: Arc<dyn Tree>,
    properties: Properties,
    observers: Arc<Observers>,
    recording: Arc<Recording>,
    history: Option<History>,
    origin: Option<Origin>,
}

/// What a backend in memory says of itself.
const MEMORY: &str = "in_memory";

/// Says what a workspace is made of and bounded by.
///
/// ```
/// use wink_fs::{MemoryBackend, MountPoint, Workspace};
///
/// let files = Workspace::builder(MemoryBackend::new())
///     .mount_point(MountPoint::parse("/workspace")?)
///     .build();
/// files.write("/workspace/a.txt", "hello")?;
/// assert!(files.is_file("a.txt"));
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub struct WorkspaceBuilder {
    backend: Box<dyn Backend>,
    guard: Guard,
    observers: Observers,
    history: Option<History>,
    excluded: Exclusions,
    exclusion_source: Option<Source>,
    origin: Option<Origin>,
    clock: Arc<dyn Clock>,
    retention: Option<Retention>,
    actor: Option<String>,
    progress: Option<Progress>,
}

impl WorkspaceBuilder {
    /// Sets what bounds the calls made for an agent.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.guard = self.guard.limits(limits);
        self
    }

    /// Sets whether every change is refused, the program's own included.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.guard = self.guard.read_only(read_only);
        self
    }

    /// Sets the absolute prefix under which a model knows the workspace.
    #[must_use]
    pub fn mount_point(mut self, mount_point: MountPoint) -> Self {
        self.guard = self.guard.mount_point(mount_point);
        self
    }

    /// Adds somebody who is told of every change.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observers = self.observers.and(observer);
        self
    }

    /// Keeps the history (snapshots and operations) in a store's directory.
    ///
    /// Without one, a workspace in memory keeps its history in memory, and any other keeps none.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.history = Some(History::stored(store));
        self
    }

    /// Keeps snapshots by any strategy, and the operations beside them where they have a directory.
    ///
    /// Where they have none, operations are kept in memory, which only a workspace in memory can use.
    #[must_use]
    pub fn snapshots(mut self, snapshots: Arc<dyn SnapshotStore>) -> Self {
        self.history = Some(History::beside(snapshots));
        self
    }

    /// Sets what is neither captured by a snapshot nor touched by a restore.
    #[must_use]
    pub fn exclude(mut self, excluded: Exclusions) -> Self {
        self.excluded = excluded;
        self
    }

    /// Sets who says what is excluded, where that may change while the workspace is in use.
    ///
    /// It is asked at the beginning of each call that takes a snapshot, compares with the files as they are
    /// now, or replaces files as a whole, and by [`heed_exclusions`](Workspace::heed_exclusions); never by a call that
    /// reads or changes single files. It returns what is excluded where that is something else than when it
    /// was asked last, and nothing where it is the same; where it fails, so does the call.
    ///
    /// ```
    /// use wink_fs::{Exclusions, MemoryBackend, TreePath, Workspace};
    ///
    /// let settings = || Exclusions::parse([".env"]).map(Some);
    /// let files = Workspace::builder(MemoryBackend::new()).exclude_by(settings).build();
    /// files.write(".env", "TOKEN=secret")?;
    /// let kept = files.snapshot("kept")?;
    /// assert!(files.tree_at(&kept)?.stat(&TreePath::parse(".env")?).is_err());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn exclude_by(
        mut self,
        source: impl Fn() -> Result<Option<Exclusions>> + Send + Sync + 'static,
    ) -> Self {
        self.exclusion_source = Some(Box::new(source));
        self
    }

    /// Sets what tells when snapshots and operations were made; their order does not depend on it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::SystemTime;
    /// use wink_fs::{Clock, MemoryBackend, Workspace};
    ///
    /// struct Stopped;
    /// impl Clock for Stopped {
    ///     fn now(&self) -> SystemTime {
    ///         SystemTime::UNIX_EPOCH
    ///     }
    /// }
    ///
    /// let files = Workspace::builder(MemoryBackend::new()).clock(Arc::new(Stopped)).build();
    /// assert_eq!(files.snapshot("first")?.created_at, SystemTime::UNIX_EPOCH);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets who makes the changes, which is written down with each operation.
    ///
    /// ```
    /// use wink_fs::{MemoryBackend, Workspace};
    ///
    /// let files = Workspace::builder(MemoryBackend::new()).actor("session 1").build();
    /// files.write("a.txt", "hello")?;
    /// assert_eq!(files.operations()?[0].by.as_deref(), Some("session 1"));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.actor = Some(actor.into());
        self
    }

    /// Sets which snapshots are kept; the others go after each one that is taken.
    ///
    /// Where it is not set, it is [`Retention::default`], or what [`StrategyOptions`](crate::StrategyOptions) say.
    ///
    /// ```
    /// use wink_fs::{MemoryBackend, Retention, SnapshotOptions, Workspace};
    ///
    /// let files = Workspace::builder(MemoryBackend::new())
    ///     .retention(Retention::default().max_count(2))
    ///     .build();
    /// for _ in 0..5 {
    ///     files.snapshot_with(&SnapshotOptions::default())?;
    /// }
    /// assert_eq!(files.snapshots()?.len(), 2);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = Some(retention);
        self
    }

    /// Sets where it is counted how far snapshots, restores and imports are; see [`Progress`].
    #[must_use]
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Makes the workspace.
    pub fn build(self) -> Workspace {
        let (observers, recording) = (Arc::new(self.observers), Arc::new(Recording::default()));
        let recorded = Layered::over(self.backend, recording.clone());
        let observed = Layered::over(Box::new(recorded), observers.clone());
        let guarded = Layered::new(observed, self.guard);
        let (live, properties) = (guarded.live(), guarded.properties().clone());
        let in_memory = || (properties.backend == MEMORY).then(History::in_memory);
        let mut history = self.history.or_else(in_memory);
        if let Some(history) = &mut history {
            history.excluded = Excluded::new(self.excluded, self.exclusion_source);
            history.clock = self.clock;
            (history.actor, history.progress) = (self.actor, self.progress);
            let usual = || history.snapshots.retention().unwrap_or_default();
            history.retention = self.retention.unwrap_or_else(usual);
            history.observers = observers.clone();
        }
        let writer = Turns::new(guarded);
        let origin = self.origin;
        let shared = Shared { writer, live, properties, observers, recording, history, origin };
        let workspace = Workspace(Arc::new(shared), None);
        // Where it fails now, the first call that writes tries again and says why.
        let _ = workspace.recover();
        workspace
    }
}

impl fmt::Debug for WorkspaceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkspaceBuilder").field("guard", &self.guard).finish_non_exhaustive()
    }
}

impl Workspace {
    /// Makes an empty workspace in memory, with the default limits for agents.
    pub fn memory() -> Self {
        Self::builder(MemoryBackend::new()).build()
    }

    /// Makes a workspace of a directory of the host, with the default limits for agents.
    pub fn host(root: impl AsRef<std::path::Path>) -> Result<Self> {
        Ok(Self::builder(HostBackend::open_ambient(root)?).build())
    }

    /// Makes a workspace of a directory of the host whose history is kept in a store.
    ///
    /// ```
    /// use wink_fs::{Store, Workspace};
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let (root, place) = (directory.path().join("root"), directory.path().join("store"));
    /// # Workspace::host(directory.path())?.mkdir("root")?;
    /// let files = Workspace::host_with_store(&root, Store::create_ambient(&place)?)?;
    /// files.write("a.txt", "before")?;
    /// let before = files.snapshot("before")?;
    /// files.write("a.txt", "after")?;
    /// files.restore(&before)?;
    /// assert_eq!(files.read("a.txt")?.content, "before");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn host_with_store(root: impl AsRef<std::path::Path>, store: Store) -> Result<Self> {
        Ok(Self::host_builder(root, store)?.build())
    }

    /// Begins a workspace of a directory of the host whose history is kept in a store.
    pub fn host_builder(
        root: impl AsRef<std::path::Path>,
        store: Store,
    ) -> Result<WorkspaceBuilder> {
        let options = HostOptions::default().index(store.index_path());
        Ok(Self::builder(HostBackend::open_ambient_with(root, &options)?).store(store))
    }

    /// Makes a workspace of any backend.
    pub fn builder(backend: impl Backend + 'static) -> WorkspaceBuilder {
        WorkspaceBuilder {
            backend: Box::new(backend),
            guard: Guard::new(Limits::default()),
            observers: Observers::default(),
            history: None,
            excluded: Exclusions::default(),
            exclusion_source: None,
            origin: None,
            clock: Arc::new(SystemClock),
            retention: None,
            actor: None,
            progress: None,
        }
    }

    /// Returns a handle whose calls wait for another's turn to end no longer than this, and are then
    /// refused with Deadline.
    #[must_use]
    pub fn waiting_at_most(&self, time: Duration) -> Self {
        Self(self.0.clone(), Some(time))
    }

    /// Returns what the workspace says of itself.
    pub fn properties(&self) -> &Properties {
        &self.0.properties
    }

    /// Parses a path as a model or a person gives it: the one place where text becomes a path.
    pub fn path(&self, text: &str) -> Result<TreePath> {
        TreePath::parse_at(self.0.properties.mount_point.as_ref(), text)
    }

    /// Returns the files as they are at each look.
    pub fn tree(&self) -> Arc<dyn Tree> {
        self.0.live.clone()
    }

    /// Returns the files as they are at each look, without what is excluded: what a snapshot would hold.
    ///
    /// ```
    /// use wink_fs::{Exclusions, MemoryBackend, Store, TreePath, Workspace};
    ///
    /// let files = Workspace::builder(MemoryBackend::new()).store(Store::temporary()?);
    /// let files = files.exclude(Exclusions::parse(["target/"])?).build();
    /// files.write("target/out", "built")?;
    /// assert!(files.tree().list(&TreePath::root())?.len() == 1);
    /// assert!(files.tree_without_excluded().list(&TreePath::root())?.is_empty());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn tree_without_excluded(&self) -> Arc<dyn Tree> {
        match self.0.history.as_ref().map(|history| history.excluded.known()) {
            Some(excluded) if !excluded.is_empty() => {
                Arc::new(Excluding { tree: self.tree(), excluded })
            }
            _ => self.tree(),
        }
    }

    /// Does something for an agent, as the only writer, within the limits.
    ///
    /// It is one operation: where `work` fails, what it changed so far is taken back, and where it
    /// succeeds, [`undo`](Self::undo) takes it back. Writers take turns: `work` must use the filesystem
    /// it is given. Another call that writes through a handle to this workspace, from `work` or from an
    /// observer, would wait for itself for ever.
    pub fn as_agent<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T>,
    ) -> Result<T> {
        Ok(self.as_agent_operation(name, work)?.0)
    }

    /// Does the same, and returns also the number of the operation, for [`retract`](Self::retract).
    ///
    /// There is none where nothing changed, and in a workspace that keeps no history.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let directory = files.path("src")?;
    /// let ((), made) = files.as_agent_operation("make", |fs| fs.create_dir(&directory))?;
    /// assert_eq!(made, Some(1));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn as_agent_operation<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T>,
    ) -> Result<(T, Option<u64>)> {
        self.operate(name, self.turn()?, |writer| work(writer))
    }

    /// Does something for the program itself, as the only writer, without limits.
    ///
    /// It is one operation, as for an agent.
    pub fn as_owner<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T>,
    ) -> Result<T> {
        Ok(self.operate(name, self.turn()?, |writer| work(self.backend(writer)))?.0)
    }

    fn turn(&self) -> Result<Turn<'_, Layered<Guard>>> {
        self.0.writer.take(self.1)
    }

    /// Returns the backend for the program itself.
    fn backend<'w>(&self, writer: &'w mut Layered<Guard>) -> &'w mut dyn Backend {
        // The guard refuses every change of a read-only workspace, whoever asks.
        if self.0.properties.read_only { writer } else { writer.inner_mut() }
    }

    fn history(&self, operation: Operation) -> Result<&History> {
        self.0.history.as_ref().ok_or_else(|| {
            Error::new(operation, ErrorKind::Unsupported)
                .with_detail("this workspace keeps no history; give it a store when it is made")
        })
    }

    /// Takes back what a call had changed whose process died.
    fn recover(&self) -> Result<()> {
        let Some(history) = &self.0.history else { return Ok(()) };
        let interrupted = history.ledger.interrupted()?;
        if self.0.properties.read_only || interrupted.is_empty() {
            return Ok(());
        }
        let mut writer = self.turn()?;
        if interrupted.iter().any(|(_, paths)| !paths.is_empty()) {
            return self.alone(history, &mut writer).map(drop);
        }
        // It may be a program that runs just now, and nobody waits for that to open a workspace.
        match history.ledger.lock_if_free()? {
            Some(_alone) => history.recover(self.backend(&mut writer)),
            None => Ok(()),
        }
    }

    /// Keeps other processes out until the value is dropped, and mends what one left that died.
    fn alone(&self, history: &History, writer: &mut Layered<Guard>) -> Result<Box<dyn Any + Send>> {
        let alone = history.ledger.lock()?;
        history.recover(self.backend(writer))?;
        Ok(alone)
    }

    /// Does something as one operation: all of it or nothing, and written down under a number.
    fn operate<T>(
        &self,
        name: &str,
        mut writer: Turn<'_, Layered<Guard>>,
        work: impl FnOnce(&mut Layered<Guard>) -> Result<T>,
    ) -> Result<(T, Option<u64>)> {
        let Some(history) = &self.0.history else { return Ok((work(&mut writer)?, None)) };
        let _alone = self.alone(history, &mut writer)?;
        let (sequence, aside) = history.ledger.next()?;
        let recorded = self.0.recording.during(writer.before_image(&aside)?, || work(&mut writer));
        let (result, record) = recorded;
        let done = result
            .and_then(|done| Ok((done, history.record(sequence, name, &record, &*self.0.live)?)));
        if done.is_err() {
            self.abandon(history, &mut writer, sequence, &record);
        }
        done
    }

    /// Takes back an operation that failed; where that fails too, the next call that writes tries again.
    fn abandon(
        &self,
        history: &History,
        writer: &mut Layered<Guard>,
        sequence: u64,
        record: &Record,
    ) {
        match (self.take_back(writer, record), record.tree()) {
            (Ok(()), _) => history.ledger.discard(sequence),
            (Err(_), Ok(before)) => {
                history.ledger.remember_interrupted(sequence, record.touched(), before);
            }
            // What was kept cannot be looked at just now; it is all there is.
            (Err(_), Err(_)) => {}
        }
    }

    /// Puts back what an operation changed that failed.
    fn take_back(&self, writer: &mut Layered<Guard>, record: &Record) -> Result<()> {
        if record.touched().is_empty() {
            return Ok(());
        }
        let scope = Scope::paths(record.touched().iter().cloned());
        let before = record.tree()?;
        match compare(&*before, &*self.0.live, &scope)?.is_empty() {
            true => Ok(()),
            false => self.backend(writer).replace(&*before, &scope).map(drop),
        }
    }

    fn parse(&self, operation: Operation, text: &str) -> Result<TreePath> {
        self.path(text).map_err(|error| error.during(operation))
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.0.properties).finish()
    }
}
