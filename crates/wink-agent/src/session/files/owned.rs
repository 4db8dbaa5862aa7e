//! The files of a session: made when they are first used, and again after a reset.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use wink_fs::{Result as FileResult, Workspace, WorkspaceBuilder};

use crate::checkpoint::{self, Checkpoint, Dumped, WentBack};
use crate::file_index::Follower;
use crate::session::{
    Session, SessionError, SessionReset, SnapshotName, Subscription, VirtualFileSystem,
    load_session_tree,
};
use crate::tool::context::ToolContext;
use crate::util::lock;

type Make = dyn Fn() -> FileResult<WorkspaceBuilder> + Send + Sync;

/// A session together with its workspace.
///
/// The workspace is made when it is first used. After [`Session::reset`] the next use makes a fresh one
/// in the same way, so what the program mounts there is mounted anew.
///
/// ```
/// use wink_agent::SessionFiles;
/// use wink_agent::session::Session;
/// use wink_fs::{MemoryBackend, Workspace};
///
/// let session = Session::new();
/// let files = SessionFiles::new(&session, "vfs", || Ok(Workspace::builder(MemoryBackend::new())));
/// files.workspace()?.write("a.txt", "hello")?;
/// files.take("turn-5")?;
/// files.workspace()?.write("a.txt", "changed")?;
/// files.go_back("turn-5")?;
/// assert_eq!(files.workspace()?.read("a.txt")?.content, "hello");
///
/// session.reset();
/// assert!(!files.workspace()?.exists("a.txt"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SessionFiles {
    session: Session,
    filesystem_key: Arc<str>,
    make: Box<Make>,
    current: Arc<Mutex<Option<Current>>>,
    _until_reset: Subscription,
}

#[derive(Clone)]
struct Current {
    workspace: Workspace,
    follower: Arc<Follower>,
    context: ToolContext,
}

impl SessionFiles {
    /// Says how the workspace of a session is made, and the key that its snapshots and its listing are
    /// known by.
    ///
    /// Each call must give a fresh backend, with what the program mounts already in it. Neither it nor a
    /// subscriber that is told of the first listing may ask for the workspace, which is not there yet.
    pub fn new(
        session: &Session,
        filesystem_key: impl Into<Arc<str>>,
        make: impl Fn() -> FileResult<WorkspaceBuilder> + Send + Sync + 'static,
    ) -> Self {
        let current: Arc<Mutex<Option<Current>>> = Arc::default();
        // Were it held, the session would hold itself.
        let weak = Arc::downgrade(&current);
        let until_reset = session.subscribe(move |_: &SessionReset| {
            let gone = weak.upgrade().and_then(|current| lock(&current).take());
            gone.iter().for_each(|gone| gone.follower.end());
        });
        Self {
            session: session.clone(),
            filesystem_key: filesystem_key.into(),
            make: Box::new(make),
            current,
            _until_reset: until_reset,
        }
    }

    /// Returns the workspace; the first use makes it, and tells the session of the files in it.
    pub fn workspace(&self) -> Result<Workspace, SessionError> {
        Ok(self.current()?.workspace)
    }

    /// Tells the session what changed in the files, after a call.
    pub fn update(&self) -> Result<(), SessionError> {
        self.current()?.follower.update()
    }

    /// Tells the session what changed in the files, also what others changed on the disk.
    pub fn rescan(&self) -> Result<(), SessionError> {
        self.current()?.follower.rescan()
    }

    /// Like [`rescan`](Self::rescan), but does nothing if there is no workspace yet.
    pub(crate) fn rescan_what_is_made(&self) -> Result<(), SessionError> {
        let made = lock(&self.current).clone();
        made.map_or(Ok(()), |current| current.follower.rescan())
    }

    /// Returns the context of calls for the session on these files, which remembers what was read.
    pub fn context(&self) -> Result<ToolContext, SessionError> {
        Ok(self.current()?.context)
    }

    /// Gives the files up; the next use makes them anew, and the session's listing begins again.
    ///
    /// Of the session nothing else changes. A handle to the old workspace still works.
    pub fn reset(&self) -> Result<(), SessionError> {
        let mut current = lock(&self.current);
        current.iter().for_each(|gone| gone.follower.end());
        self.session.forget_listing(&self.filesystem_key)?;
        let gone = current.take();
        drop(current);
        drop(gone);
        Ok(())
    }

    /// Keeps files and session under one tag; see [`checkpoint::take`].
    pub fn take(&self, tag: &str) -> Result<Checkpoint, SessionError> {
        let Current { workspace, follower, .. } = self.current()?;
        follower.update()?;
        let taken = checkpoint::take(&self.session, &workspace, &self.filesystem_key, tag);
        // Who subscribed is told of the snapshot. Where that fails, the next update tries again.
        let _ = follower.update();
        taken
    }

    /// Makes files and session what they were at a checkpoint; see [`checkpoint::go_back`].
    pub fn go_back(&self, name: impl Into<SnapshotName>) -> Result<WentBack, SessionError> {
        self.current()?.follower.go_back(&self.filesystem_key, name)
    }

    /// Writes session and files side by side; see [`checkpoint::dump_with_files`].
    pub fn dump(&self, target: impl AsRef<Path>) -> Result<Dumped, SessionError> {
        let Current { workspace, follower, .. } = self.current()?;
        follower.update()?;
        checkpoint::dump_with_files(&self.session, &workspace, target)
    }

    /// Writes also the snapshots that the session refers to; see [`checkpoint::dump_with_history`].
    pub fn dump_with_history(&self, target: impl AsRef<Path>) -> Result<Dumped, SessionError> {
        let Current { workspace, follower, .. } = self.current()?;
        follower.update()?;
        checkpoint::dump_with_history(&self.session, &workspace, target)
    }

    /// Makes the files those beside a dump that the session was loaded from, whatever they were in then.
    ///
    /// The session's listing becomes that of the dump, so no file is new by that, whatever was there before.
    /// A history beside the dump is brought in as by [`checkpoint::resume`].
    pub fn resume(&self, dump: impl AsRef<Path>) -> Result<(), SessionError> {
        let listing = self.listing_beside(dump.as_ref())?;
        let Current { workspace, follower, .. } = self.current()?;
        let brought = checkpoint::bring_in(&self.session, dump.as_ref(), &workspace)?;
        workspace.import_archive(checkpoint::archive_beside(dump.as_ref()))?;
        let brought = brought.known_by(&self.filesystem_key, listing.filesystem_key());
        brought.keep(&self.session);
        self.session.take_over(&listing, &self.filesystem_key)?;
        follower.settle()
    }

    /// Returns the listing that a dump has of the files: since it was loaded, the session may have been told
    /// of those that are there now.
    fn listing_beside(&self, dump: &Path) -> Result<VirtualFileSystem, SessionError> {
        let dumped = load_session_tree(dump)?.walk();
        let own = dumped.iter().find(|session| session.id() == self.session.id());
        own.unwrap_or(&self.session).listing_to_take_over(&self.filesystem_key)
    }

    fn current(&self) -> Result<Current, SessionError> {
        let mut current = lock(&self.current);
        if let Some(current) = &*current {
            return Ok(current.clone());
        }
        let (workspace, follower) =
            Follower::begin_for(&self.session, &self.filesystem_key, (self.make)()?)?;
        let follower = Arc::new(follower);
        let context = ToolContext::over(&workspace).session(&self.session);
        let context = context.follower(follower.clone());
        let made = Current { workspace, follower, context };
        Ok(current.insert(made).clone())
    }
}

impl fmt::Debug for SessionFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SessionFiles");
        shown.field("session", &self.session).field("filesystem_key", &self.filesystem_key);
        shown.finish_non_exhaustive()
    }
}
