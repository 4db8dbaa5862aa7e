//! The snapshots of files that a session refers to, and its own, in a directory beside its dump.

#![allow(
    clippy::disallowed_methods,
    reason = "a dump is the program's own, by the ambient authority of the process"
)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use wink_fs::{
    Error, ErrorKind, NewSnapshot, Operation, Result as FileResult, Snapshot, SnapshotId,
    SnapshotStore, Store, Workspace, tree_hash,
};

use super::{owner, pin};
use crate::session::{
    FilesystemSnapshotRef, LoadOptions, Session, SessionError, States, ToolInvoked, open_dump,
    read_states, write_states,
};

/// What the name of a history beside a dump ends with.
const HISTORY: &str = "history";

/// The file in it with the states that the sessions keep.
const STATES: &str = "checkpoints.jsonl";

/// A history under a temporary name, which is deleted unless it is published.
pub(super) struct Draft {
    place: TempDir,
    /// What the session refers to and the workspace does not keep any more.
    pub(super) gone: Vec<SnapshotId>,
}

impl Draft {
    /// Writes all that a session and those below it refer to.
    pub(super) fn write(
        session: &Session,
        workspace: &Workspace,
        directory: &Path,
    ) -> Result<Self, SessionError> {
        let from = workspace.snapshot_store()?;
        let place = temporary(directory).map_err(failed)?;
        let to = Store::create_ambient(place.path())?;
        let (found, gone) = find(&*from, referred(session)?)?;
        for snapshot in &found {
            to.save(&*from.load(&snapshot.id)?, &NewSnapshot::copy_of(snapshot))?;
        }
        let mut states = BufWriter::new(File::create(place.path().join(STATES)).map_err(failed)?);
        write_states(session, &mut states)?;
        let synced = states.flush().and_then(|()| states.get_ref().sync_all());
        synced.map_err(failed)?;
        Ok(Self { place, gone })
    }

    /// Renames it to its place beside the dump of a session, replacing an older one.
    pub(super) fn publish(
        self,
        session: &Session,
        directory: &Path,
    ) -> Result<PathBuf, SessionError> {
        let target = directory.join(format!("{}.{HISTORY}", session.id()));
        self.rename(directory, &target).map_err(failed)?;
        Ok(target)
    }

    /// A rename cannot replace a directory that is not empty, so the old one is moved away first.
    fn rename(&self, directory: &Path, target: &Path) -> io::Result<()> {
        let aside = temporary(directory)?;
        let older = aside.path().join(HISTORY);
        let had_older = match fs::rename(target, &older) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            renamed => renamed.map(|()| true)?,
        };
        if let Err(error) = fs::rename(self.place.path(), target) {
            if had_older {
                fs::rename(&older, target)?;
            }
            return Err(error);
        }
        #[cfg(unix)]
        File::open(directory)?.sync_all()?;
        Ok(())
    }
}

fn temporary(directory: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(".wink-dump-").suffix(".tmp").tempdir_in(directory)
}

fn failed(error: io::Error) -> SessionError {
    Error::system(Operation::Write, error).into()
}

/// Returns the ids of all snapshots of files that a session and those below it refer to.
fn referred(root: &Session) -> Result<BTreeSet<SnapshotId>, SessionError> {
    let mut ids = BTreeSet::new();
    for session in root.walk() {
        let references = session.query::<FilesystemSnapshotRef>()?;
        ids.extend(references.all().filter_map(|it| it.snapshot_id()));
        let kept = session.snapshots();
        let kept = kept.iter().flat_map(|it| &it.files);
        ids.extend(kept.filter_map(FilesystemSnapshotRef::snapshot_id));
        for call in session.query::<ToolInvoked>()?.all() {
            let around = [&call.snapshot_before, &call.snapshot_after];
            ids.extend(around.into_iter().flatten().filter_map(|id| id.parse::<SnapshotId>().ok()));
        }
    }
    Ok(ids)
}

/// Returns the snapshots that are there, in their order, and the ids of those that are not.
fn find(
    store: &dyn SnapshotStore,
    ids: BTreeSet<SnapshotId>,
) -> FileResult<(Vec<Snapshot>, Vec<SnapshotId>)> {
    let mut found = Vec::new();
    let mut gone = Vec::new();
    for id in ids {
        match store.describe(&id) {
            Err(error) if error.kind() == ErrorKind::SnapshotNotFound => gone.push(id),
            described => found.push(described?),
        }
    }
    found.sort_by_key(|snapshot| snapshot.sequence);
    Ok((found, gone))
}

/// A history imported from beside a dump, which is deleted unless it is kept.
#[derive(Default)]
pub(crate) struct Brought {
    states: States,
    to: Option<Arc<dyn SnapshotStore>>,
    owner: String,
    /// All that the history has of what the session refers to.
    found: BTreeSet<SnapshotId>,
    /// Those of them that were not there before.
    added: Vec<SnapshotId>,
}

/// Gives a workspace the snapshots beside a dump that a session which was loaded from it refers to.
///
/// If there is no history beside it nothing is imported, and into a workspace without a history
/// only the session's own snapshots.
pub(crate) fn bring_in(
    session: &Session,
    dump: &Path,
    workspace: &Workspace,
) -> Result<Brought, SessionError> {
    let place = dump.with_extension(HISTORY);
    if place.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(Brought::default());
    }
    let from = Store::open_ambient(&place)?;
    let states = read_states(&mut open_dump(&place.join(STATES))?, &LoadOptions::default())?;
    let mut ids = referred(session)?;
    ids.extend(states.files().filter_map(FilesystemSnapshotRef::snapshot_id));
    let to = match workspace.snapshot_store() {
        Err(error) if error.kind() == ErrorKind::Unsupported => None,
        store => Some(store?),
    };
    let mut brought = Brought::default();
    (brought.states, brought.to, brought.owner) = (states, to, owner(session));
    for snapshot in find(&from, ids)?.0 {
        brought.add(session, &from, &snapshot)?;
        brought.found.insert(snapshot.id);
    }
    Ok(brought)
}

impl Brought {
    /// Says by which key the session knows the files in which the snapshots are now, and by which one its
    /// listing knew them.
    pub(crate) fn known_by(mut self, filesystem_key: &Arc<str>, listed_by: Option<&str>) -> Self {
        self.states.rename_files(filesystem_key, &self.found);
        self.states.rename_listing(listed_by, filesystem_key);
        self
    }

    /// Keeps the imported snapshots, and gives the session its own back.
    pub(crate) fn keep(mut self, session: &Session) {
        self.added.clear();
        std::mem::take(&mut self.states).give_to(session);
    }

    fn add(&mut self, session: &Session, from: &Store, snapshot: &Snapshot) -> FileResult<()> {
        let Some(to) = self.to.clone() else { return Ok(()) };
        match to.describe(&snapshot.id) {
            Err(error) if error.kind() == ErrorKind::SnapshotNotFound => {
                to.save(&*from.load(&snapshot.id)?, &free(&*to, snapshot)?)?;
                self.added.push(snapshot.id);
            }
            there => check_same(&*to, &there?, snapshot)?,
        }
        pin(session, &*to, snapshot.id, session.now())
    }
}

/// Copies a snapshot, without its tag if another one has it.
fn free(store: &dyn SnapshotStore, snapshot: &Snapshot) -> FileResult<NewSnapshot> {
    let mut copy = NewSnapshot::copy_of(snapshot);
    let is_taken = copy.tag.is_some() && store.list()?.iter().any(|it| it.tag == copy.tag);
    if is_taken {
        copy.tag = None;
    }
    Ok(copy)
}

/// Refuses a snapshot that has the id of another one.
fn check_same(store: &dyn SnapshotStore, there: &Snapshot, brought: &Snapshot) -> FileResult<()> {
    let hash = match there.tree_hash {
        Some(hash) => hash,
        None => tree_hash(&*store.load(&there.id)?)?,
    };
    if brought.tree_hash == Some(hash) {
        Ok(())
    } else {
        Err(Error::new(Operation::Restore, ErrorKind::SnapshotIncompatible)
            .with_path_text(&there.id.to_string())
            .with_detail("another snapshot has this id here; resume in another workspace"))
    }
}

impl Drop for Brought {
    fn drop(&mut self) {
        let Some(to) = &self.to else { return };
        for id in &self.added {
            // One too many does no harm.
            let _ = to.unpin(id, &self.owner).and_then(|_| to.delete(id));
        }
    }
}
