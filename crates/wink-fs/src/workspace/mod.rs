//! The handle programs work with: paths as text, many readers, one writer.

mod builder;
mod call;
mod exec;
mod fork;
mod history;
mod read;
mod recovery;
mod restore;
mod transaction;
mod undo;
mod write;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

pub use self::builder::WorkspaceBuilder;
pub use self::call::CallOperations;
pub use self::exec::{Execution, ExecutionPlace};
pub use self::history::operation_trees::OperationTrees;
pub use self::history::prune::{PruneOptions, Pruned};
pub use self::history::snapshots::{SnapshotOptions, TakenSnapshot};
pub use self::history::state_ref::{ResolveError, StateRef, Unresolved};
pub use self::restore::{Receipt, RestoreOptions};
pub use self::undo::Undone;

use self::fork::Origin;
use self::history::History;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::event::Observers;
use crate::filesystem::guard::Guard;
use crate::filesystem::layer::Layered;
use crate::filesystem::{Backend, Properties};
use crate::oplog::Recording;
use crate::path::TreePath;
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
pub struct Workspace(Arc<Shared>, Caller);

/// Whose calls those of a handle are.
#[derive(Clone, Default)]
struct Caller {
    /// How long they wait for their turn; for as long as it takes, where that is not said.
    patience: Option<Duration>,
    /// What their operations are known by, if that is another than for the rest of the workspace.
    name: Option<Arc<str>>,
    /// The tool call that its operations are part of.
    call: Option<Arc<CallOperations>>,
}

struct Shared {
    writer: Mutex<Layered<Guard>>,
    live: Arc<dyn Tree>,
    properties: Properties,
    observers: Arc<Observers>,
    recording: Arc<Recording>,
    history: Option<History>,
    origin: Option<Origin>,
}

impl Workspace {
    /// Returns a handle whose calls wait for another's turn to end no longer than this, and are then
    /// refused with Deadline.
    #[must_use]
    pub fn waiting_at_most(&self, time: Duration) -> Self {
        Self(self.0.clone(), Caller { patience: Some(time), ..self.1.clone() })
    }

    /// Returns a handle whose operations are recorded under an actor's name, as with
    /// [`WorkspaceBuilder::actor`] but only for this handle.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.acting_as("the first agent").write("a.txt", "")?;
    /// files.write("b.txt", "")?;
    /// let by: Vec<_> = files.operations()?.into_iter().map(|it| it.by).collect();
    /// assert_eq!(by, [Some("the first agent".to_owned()), None]);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn acting_as(&self, name: impl Into<Arc<str>>) -> Self {
        Self(self.0.clone(), Caller { name: Some(name.into()), ..self.1.clone() })
    }

    /// Returns a handle whose operations are part of a tool call: they carry its id, and it collects their numbers.
    ///
    /// ```
    /// use wink_fs::{CallOperations, Workspace};
    ///
    /// let files = Workspace::memory();
    /// let call = CallOperations::new("call-1");
    /// files.for_call(&call).write("a.txt", "")?;
    /// assert_eq!(call.numbers(), [1]);
    /// assert_eq!(files.operations()?[0].call.as_deref(), Some("call-1"));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn for_call(&self, call: &Arc<CallOperations>) -> Self {
        Self(self.0.clone(), Caller { call: Some(call.clone()), ..self.1.clone() })
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
        match &self.0.history {
            Some(history) => history.without_excluded(self.tree()),
            None => self.tree(),
        }
    }

    /// Waits for the turn of this caller, who writes alone until the guard is dropped.
    fn turn(&self) -> Result<MutexGuard<'_, Layered<Guard>>> {
        let writer = &self.0.writer;
        let turn = match self.1.patience {
            None => writer.lock(),
            Some(time) => writer.try_lock_for(time).ok_or_else(|| {
                Error::new(Operation::Write, ErrorKind::Deadline)
                    .with_detail("another call is writing; try again when it is done")
            })?,
        };
        if let Some(history) = &self.0.history {
            history.act_as(&self.1);
        }
        Ok(turn)
    }

    /// Returns the backend for the program itself.
    fn backend<'w>(&self, writer: &'w mut Layered<Guard>) -> &'w mut dyn Backend {
        // The guard refuses every change of a read-only workspace, even one that the program itself makes.
        if self.0.properties.read_only { writer } else { writer.inner_mut() }
    }

    fn history(&self, operation: Operation) -> Result<&History> {
        self.0.history.as_ref().ok_or_else(|| {
            Error::new(operation, ErrorKind::Unsupported)
                .with_detail("this workspace keeps no history; give it a store when it is made")
        })
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
