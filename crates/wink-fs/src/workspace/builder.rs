//! What a workspace is made of.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::fork::Origin;
use super::history::History;
use super::history::exclusions::{Excluded, Source};
use super::{Caller, Shared, Workspace};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::filesystem::event::{Event, Observers};
use crate::filesystem::guard::Guard;
use crate::filesystem::layer::Layered;
use crate::filesystem::{Backend, BackendKind, Filesystem as _};
use crate::host::HostBackend;
use crate::host_options::HostOptions;
use crate::limits::Limits;
use crate::memory::MemoryBackend;
use crate::oplog::Recording;
use crate::path::MountPoint;
use crate::snapshot::{Retention, SnapshotStore};
use crate::store::Store;
use crate::tree::scope::Exclusions;
use crate::util::progress::Progress;

/// The options of a new workspace.
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
    pub(super) guard: Guard,
    observers: Observers,
    /// What was found when the files were opened, and is to be told.
    found: Vec<Event>,
    history: Option<History>,
    pub(super) excluded: Exclusions,
    exclusion_source: Option<Source>,
    pub(super) origin: Option<Origin>,
    clock: Arc<dyn Clock>,
    pub(super) retention: Option<Retention>,
    pub(super) actor: Option<String>,
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

    /// Adds an observer that is notified of every change.
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

    /// Keeps snapshots by any strategy, and the operations beside them if they have a directory.
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
    /// was asked last, and nothing if it is the same; if it fails, so does the call.
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
        let in_memory = || (properties.backend == BackendKind::InMemory).then(History::in_memory);
        let mut history = self.history.or_else(in_memory);
        if let Some(history) = &mut history {
            history.excluded = Excluded::new(self.excluded, self.exclusion_source);
            history.clock = self.clock;
            (history.actor, history.progress) = (self.actor, self.progress);
            let usual = || history.snapshots.retention().unwrap_or_default();
            history.retention = self.retention.unwrap_or_else(usual);
            history.observers = observers.clone();
        }
        let writer = Mutex::new(guarded);
        let origin = self.origin;
        let shared = Shared { writer, live, properties, observers, recording, history, origin };
        let workspace = Workspace(Arc::new(shared), Caller::default());
        self.found.iter().for_each(|event| workspace.0.observers.tell(event));
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
        Self::host_builder_with(root, store, HostOptions::default())
    }

    /// Begins such a workspace, with options; they need not name an index, because the store has one.
    pub fn host_builder_with(
        root: impl AsRef<std::path::Path>,
        store: Store,
        options: HostOptions,
    ) -> Result<WorkspaceBuilder> {
        let options = options.index(store.index_path());
        let backend = HostBackend::open_ambient_with(root, &options)?;
        let found = backend.recovery_events().to_vec();
        Ok(WorkspaceBuilder { found, ..Self::builder(backend).store(store) })
    }

    /// Makes a workspace of any backend.
    pub fn builder(backend: impl Backend + 'static) -> WorkspaceBuilder {
        WorkspaceBuilder {
            backend: Box::new(backend),
            guard: Guard::new(Limits::default()),
            observers: Observers::default(),
            found: Vec::new(),
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
}
