//! Events of a workspace since the last update of the session.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, OnceLock, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

use wink_fs::{ErrorKind, Event, Tree, TreePath, Workspace};

use super::Change;
use super::scan::{self, encoding};
use crate::session::FileChange;
use crate::util::lock;

thread_local! {
    /// Whether this thread is at an operation.
    static CHANGING: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as being within an operation until it is dropped.
///
/// Calls that are made and end within the operation have not settled it.
#[must_use]
pub(crate) struct Changing {
    before: bool,
}

impl Changing {
    pub(crate) fn begin() -> Self {
        Self { before: CHANGING.replace(true) }
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        CHANGING.set(self.before);
    }
}

/// Listens to a workspace.
#[derive(Default)]
pub(super) struct Heard {
    /// Were it held, the files, which know their observers, would hold themselves.
    pub(super) tree: OnceLock<Weak<dyn Tree>>,
    noted: Mutex<Vec<Noted>>,
}

/// One event.
struct Noted {
    /// The thread that did it.
    by: ThreadId,
    event: Option<Event>,
    what: Option<What>,
}

/// What it means for the files.
enum What {
    Changed(Change),
    /// The changes are unknown until these paths, and those below, are scanned.
    Unknown(Vec<TreePath>),
}

/// Finished changes: which files have changed, and the events for the session's subscribers.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) changes: Vec<Change>,
    pub(super) unknown: Vec<TreePath>,
    pub(super) events: Vec<Event>,
}

impl Heard {
    /// Notes a change; sizes are those of the moment, because the next change may move the file.
    pub(super) fn hear(&self, event: &Event) {
        self.note(Some(event.clone()), self.meaning(event));
    }

    fn meaning(&self, event: &Event) -> Option<What> {
        let (change, found) = match event {
            Event::FileWritten { path, .. } => {
                let tree = self.tree.get()?.upgrade()?;
                let found = scan::at(&*tree, path).ok()??.hashed(&*tree, path);
                (found.written(path.clone(), encoding(&*tree, path)), Some(found))
            }
            Event::FileDeleted { path, .. } => (FileChange::removed(path.clone()), None),
            Event::Renamed { from, to } => (FileChange::renamed(from.clone(), to.clone()), None),
            Event::Replaced { paths } => return Some(What::Unknown(paths.clone())),
            _ => return None,
        };
        Some(What::Changed((change, found)))
    }

    /// Makes the next update scan all files.
    pub(super) fn look_at_all(&self) {
        self.note(None, Some(What::Unknown(vec![TreePath::root()])));
    }

    fn note(&self, event: Option<Event>, what: Option<What>) {
        self.noted().push(Noted { by: thread::current().id(), event, what });
    }

    /// Removes and returns the events that are settled; the rest stays for a later update.
    ///
    /// Changes of an operation that a thread has not finished may yet be rolled back. Writers take turns, so they
    /// are the last events.
    pub(super) fn take_settled(&self, workspace: &Workspace) -> Pending {
        let (all, perhaps_open) = self.count();
        let settled =
            if perhaps_open > 0 && !is_idle(workspace) { all - perhaps_open } else { all };
        let mut pending = Pending::default();
        for noted in self.noted().drain(..settled) {
            pending.events.extend(noted.event);
            match noted.what {
                Some(What::Changed(change)) => pending.changes.push(change),
                Some(What::Unknown(paths)) => pending.unknown.extend(paths),
                None => {}
            }
        }
        pending
    }

    /// Counts what was heard, and how much at its end was done by a thread that may not have finished.
    fn count(&self) -> (usize, usize) {
        let noted = self.noted();
        let this = thread::current().id();
        let perhaps_open = match noted.last().map(|last| last.by) {
            Some(by) if by != this || CHANGING.get() => {
                noted.iter().rev().take_while(|it| it.by == by).count()
            }
            _ => 0,
        };
        (noted.len(), perhaps_open)
    }

    /// Removes and returns all events.
    pub(super) fn take_events(&self) -> Vec<Event> {
        self.noted().drain(..).filter_map(|noted| noted.event).collect()
    }

    fn noted(&self) -> MutexGuard<'_, Vec<Noted>> {
        lock(&self.noted)
    }
}

/// Returns whether no writer was active at some moment since this was called.
fn is_idle(workspace: &Workspace) -> bool {
    // It needs the writer's turn, and little else.
    let turn = workspace.waiting_at_most(Duration::ZERO).heed_exclusions();
    !turn.is_err_and(|error| error.kind() == ErrorKind::Deadline)
}
