//! Keeping a session's listing of files up to date with its workspace.

mod baseline;
mod events;
mod rollback;
mod scan;
mod stale;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use wink_fs::{Event, Result as FileResult, TreePath, Workspace, WorkspaceBuilder};

use self::baseline::Known;
pub(crate) use self::events::Changing;
use self::events::{Heard, Pending};
use self::rollback::{TakenBack, last_operation};
use self::scan::{Found, look};
use self::stale::sort_out;
use crate::checkpoint::{self, WentBack};
use crate::session::{
    FileChange, FilesChanged, Listed, Session, SessionError, SnapshotName, VirtualFileSystem,
};
use crate::util::lock;

/// Follows the changes of a workspace, for a session's [`VirtualFileSystem`].
///
/// [`update`](Self::update) reports changes to the session, so that a call which fails and is rolled back never
/// shows: what one thread is changing is reported when it is done, whichever thread asks meanwhile. Only
/// if a call makes several changes, each shows when it is made, as it does to all readers of the files.
///
/// With the listing, the [`Event`]s of the workspace come to the subscribers of the session, in their order
/// and when nothing is locked. Of a call that failed they get what it changed and then, at once, the
/// [`Event::Replaced`] that took it back. Those of calls that end at the same time may come mixed.
///
/// ```
/// use wink_agent::file_index::Follower;
/// use wink_agent::session::{Session, VirtualFileSystem};
/// use wink_fs::{MemoryBackend, Workspace};
///
/// let session = Session::new();
/// let (files, follower) = Follower::begin(&session, Workspace::builder(MemoryBackend::new()))?;
/// files.write("a.txt", "hello")?;
/// follower.update()?;
/// let listing = session.query::<VirtualFileSystem>()?.latest().unwrap();
/// assert_eq!(listing.files().map(|file| file.size_bytes).collect::<Vec<_>>(), [5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Follower {
    session: Session,
    filesystem_key: Option<Arc<str>>,
    workspace: Workspace,
    heard: Arc<Heard>,
    followed: Mutex<Followed>,
    began_after: u64,
    is_over: AtomicBool,
}

/// The known files, and the session's listing of them.
#[derive(Default)]
struct Followed {
    known: Known,
    listing: VirtualFileSystem,
    /// The epoch of the session's state at the last update.
    epoch: u64,
}

/// A change that an event reported, with the scan at that time.
type Change = (FileChange, Option<Found>);

impl Follower {
    /// Makes a workspace and follows it; notifies the session of the files that are there already, which are
    /// not read to guess their encoding.
    ///
    /// Of those that its listing names, as that of a session which was loaded may do, it is told only where
    /// they are gone or of another size.
    pub fn begin(
        session: &Session,
        builder: WorkspaceBuilder,
    ) -> Result<(Workspace, Self), SessionError> {
        Self::begin_by(session, None, builder)
    }

    /// Like [`begin`](Self::begin), for files that the session knows by a key, beside other files.
    ///
    /// ```
    /// use wink_agent::file_index::Follower;
    /// use wink_agent::session::{Session, VirtualFileSystem};
    /// use wink_fs::{MemoryBackend, Workspace};
    ///
    /// let session = Session::new();
    /// for key in ["drafts", "results"] {
    ///     let builder = Workspace::builder(MemoryBackend::new());
    ///     let (files, follower) = Follower::begin_for(&session, key, builder)?;
    ///     files.write("a.txt", "hello")?;
    ///     follower.update()?;
    /// }
    /// let listings = session.query::<VirtualFileSystem>()?;
    /// let keys: Vec<_> = listings.all().map(|listing| listing.filesystem_key()).collect();
    /// assert_eq!(keys, [Some("drafts"), Some("results")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin_for(
        session: &Session,
        filesystem_key: &str,
        builder: WorkspaceBuilder,
    ) -> Result<(Workspace, Self), SessionError> {
        Self::begin_by(session, Some(filesystem_key.into()), builder)
    }

    fn begin_by(
        session: &Session,
        filesystem_key: Option<Arc<str>>,
        builder: WorkspaceBuilder,
    ) -> Result<(Workspace, Self), SessionError> {
        let heard = Arc::new(Heard::default());
        let listener = heard.clone();
        let workspace = builder.observe(move |event| listener.hear(event)).build();
        // Nothing is heard before the workspace is returned.
        let _ = heard.tree.set(Arc::downgrade(&workspace.tree()));
        let session = session.clone();
        let followed = Mutex::default();
        let began_after = last_operation(&workspace);
        let follower = Self {
            session,
            filesystem_key,
            workspace: workspace.clone(),
            heard,
            followed,
            began_after,
            is_over: AtomicBool::new(false),
        };
        let mut turn = follower.followed();
        turn.known.begin(follower.look(&[TreePath::root()])?);
        follower.compare_with_listing(turn)?;
        Ok((workspace, follower))
    }

    /// Tells the session what changed since the last update, if anything did.
    ///
    /// After a rollback of the session alone, its listing names the files of before, and must be corrected.
    pub fn update(&self) -> Result<(), SessionError> {
        let mut turn = self.followed();
        let mut pending = self.heard.take_settled(&self.workspace);
        if self.is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        let events = std::mem::take(&mut pending.events);
        let told = match self.learn(&mut turn.known, pending) {
            Ok(changes) => self.tell(changes, turn),
            Err(error) => {
                drop(turn);
                Err(error)
            }
        };
        self.publish(&events);
        told
    }

    /// Forwards events of the workspace to the session's subscribers.
    fn publish(&self, events: &[Event]) {
        events.iter().for_each(|event| drop(self.session.publish(event)));
    }

    /// Returns the session whose listing this updates.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Stops updating the session: it has other files now.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A thread that is notifying the session right now has finished when this returns.
        drop(self.followed());
    }

    /// Applies the events, and scans the paths whose events do not say what changed.
    fn learn(&self, known: &mut Known, pending: Pending) -> Result<Vec<FileChange>, SessionError> {
        let Pending { mut changes, unknown, .. } = pending;
        if unknown.is_empty() {
            return Ok(known.learn(changes));
        }
        let (unknown, overtaken) = sort_out(unknown, &mut changes);
        let taken_back = TakenBack::of(overtaken.iter(), &self.workspace, self.began_after);
        let found = self.look(&unknown)?;
        let mut learnt = known.learn(changes);
        learnt.extend(known.compare(found, &unknown, &*self.workspace.tree(), &taken_back));
        Ok(learnt)
    }

    /// Changes the listing while the caller still holds its turn, and notifies subscribers after it.
    fn tell(
        &self,
        changes: Vec<FileChange>,
        turn: MutexGuard<'_, Followed>,
    ) -> Result<(), SessionError> {
        if changes.is_empty() && turn.epoch == self.session.epoch() {
            return Ok(());
        }
        let told = self.session.change_listing(self.filesystem_key.as_ref(), |now, epoch| {
            if epoch == turn.epoch {
                changes
            } else {
                now.changes_to(&turn.listing.after(&self.changed(changes)))
            }
        })?;
        self.told(told, turn);
        Ok(())
    }

    /// Starts from the session's listing, and corrects it where files certainly differ.
    fn compare_with_listing(&self, turn: MutexGuard<'_, Followed>) -> Result<(), SessionError> {
        let key = self.filesystem_key.as_ref();
        let told = self.session.change_listing(key, |now, _| turn.known.differences(now))?;
        self.told(told, turn);
        Ok(())
    }

    /// Keeps what the session was told, and tells others.
    fn told(&self, told: Listed, mut turn: MutexGuard<'_, Followed>) {
        (turn.listing, turn.epoch) = (told.listing, told.epoch);
        // A subscriber may call tools, which tell of what they changed here.
        drop(turn);
        if let Some(event) = told.event {
            self.session.publish(&*event);
        }
    }

    fn changed(&self, changes: Vec<FileChange>) -> FilesChanged {
        FilesChanged::new(self.session.now(), changes)
    }

    /// Scans all files, also for changes by other programs, and updates the session.
    pub fn rescan(&self) -> Result<(), SessionError> {
        self.heard.look_at_all();
        self.update()
    }

    /// Takes the session's listing for what the files are, after both went back together; where one is gone
    /// or of another size, the session is told.
    pub fn settle(&self) -> Result<(), SessionError> {
        let mut turn = self.followed();
        let everything = [TreePath::root()];
        let found = self.look(&everything)?;
        let events = self.heard.take_events();
        turn.known.compare(found, &everything, &*self.workspace.tree(), &TakenBack::default());
        let told = self.compare_with_listing(turn);
        self.publish(&events);
        told
    }

    /// Restores files and session from a [checkpoint], the listing included.
    pub fn go_back(
        &self,
        filesystem_key: &str,
        name: impl Into<SnapshotName>,
    ) -> Result<WentBack, SessionError> {
        let back = checkpoint::go_back(&self.session, &self.workspace, filesystem_key, name)?;
        // Both are restored. If the files cannot be scanned, the next update tries again.
        let _ = self.settle();
        Ok(back)
    }

    /// Returns the session's listing of these files at the last update.
    pub fn listing(&self) -> Result<VirtualFileSystem, SessionError> {
        self.session.listing(self.filesystem_key.as_deref())
    }

    /// Scans some paths and below; if that fails, the next update scans all.
    fn look(&self, paths: &[TreePath]) -> FileResult<BTreeMap<TreePath, Found>> {
        let again = |_: &_| self.heard.look_at_all();
        look(&*self.workspace.tree(), paths).inspect_err(again)
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        lock(&self.followed)
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Follower").field(&self.session).field(&self.workspace).finish()
    }
}
