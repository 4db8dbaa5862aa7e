//! Notes about forks that are being made, so that an interrupted one is finished or cleared.
//!
//! A note lies in the history, under a name made of the directory's path. The process that makes the fork
//! holds a lock on its note, so a note without a lock is one of a process that died. The first line says
//! which fork is made and where; the second, written before any file of the fork is, names the snapshot
//! that the files come from. What is in that snapshot too can be removed without losing anything.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wink_fs::{
    EntryIdentity, ErrorKind as Error, Filesystem as _, HostBackend, Kind, Recursion, SnapshotId,
    SnapshotStore as _, Tree, TreePath,
};

use crate::error::CliError;
use crate::project::Project;
use crate::project::settings;
use crate::sys::disk;

const NOTES: &str = "making";

/// The content of a note about a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForkNote {
    name: String,
    /// Its first state, as it was typed.
    state: String,
    directory: String,
    /// Whether the directory was made for the fork.
    is_new: bool,
}

impl ForkNote {
    pub(crate) fn new(name: &str, state: &str, directory: &Path) -> Result<Self, CliError> {
        let real = disk::real_path_to_be(directory).unwrap_or_else(|_| directory.to_owned());
        let is_new = disk::is_gone(&real);
        let directory = settings::path_text(&real)?;
        Ok(Self { name: name.to_owned(), state: state.to_owned(), directory, is_new })
    }

    fn directory(&self) -> Result<PathBuf, CliError> {
        settings::text_path(&self.directory)
    }

    /// Returns whether the same command made both; a directory that the first one left is no longer new.
    fn is_by_same_command(&self, other: &Self) -> bool {
        Self { is_new: other.is_new, ..self.clone() } == *other
    }

    /// Returns the fork if it was complete except for the last steps.
    fn made(&self, project: &Project) -> Result<Option<Project>, CliError> {
        let directory = self.directory()?;
        Ok(project.find_fork(&self.name)?.filter(|fork| fork.root == directory))
    }
}

/// The note of a fork whose files are being written, with the lock on it; none of a directory that is refused.
#[derive(Debug)]
pub(crate) struct IncompleteFork(Option<Note>);

impl IncompleteFork {
    /// Notes that a directory, which is new or empty, becomes a fork; clears what an interrupted fork
    /// left in it, and fails if another process makes a fork there.
    ///
    /// Of a directory with something else in it nothing is written down: it is refused later.
    pub(crate) fn begin(project: &Project, making: &ForkNote) -> Result<Self, CliError> {
        let directory = making.directory()?;
        let notes = notes(project)?;
        disk::make_private(&notes).map_err(|error| cannot_write(&notes, error))?;
        let path = notes.join(key(&directory));
        if !disk::is_file(&path) && !is_empty(&directory) {
            return Ok(Self(None));
        }
        let file = disk::hold(&path).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => CliError::being_made(&directory),
            _ => cannot_write(&path, error),
        })?;
        let note = Note::read(path, file)?;
        if note.is_of_no_files() && !is_empty(&directory) {
            note.remove();
            return Ok(Self(None));
        }
        let mut is_new = making.is_new;
        if let Some(left) = &note.making {
            is_new |= left.is_new;
        }
        note.clear(project, &directory)?;
        note.write_first(&ForkNote { is_new, ..making.clone() })?;
        Ok(Self(Some(note)))
    }

    /// Records the snapshot of the files that are written next.
    pub(crate) fn begin_files(&self, snapshot: &SnapshotId) -> Result<(), CliError> {
        self.0.as_ref().map_or(Ok(()), |note| note.append(&format!("{snapshot}\n")))
    }

    /// Removes the note of a complete fork.
    pub(crate) fn forget(&self) {
        if let Some(note) = &self.0 {
            note.remove();
        }
    }

    /// Removes the note of a fork that could not be made, unless files of it are left.
    pub(crate) fn give_up(&self, making: &ForkNote) {
        if making.directory().is_ok_and(|directory| is_empty(&directory)) {
            self.forget();
        }
    }
}

/// Finishes the fork of a command that was interrupted when all but the last steps were done; returns it
/// where the same command is given again.
pub(crate) fn finish(project: &Project, making: &ForkNote) -> Result<Option<Project>, CliError> {
    let path = notes(project)?.join(key(&making.directory()?));
    let Some(note) = Note::left(path)? else { return Ok(None) };
    let Some(left) = &note.making else { return Ok(None) };
    let Some(fork) = left.made(project)? else { return Ok(None) };
    fork.announce();
    note.remove();
    Ok(making.is_by_same_command(left).then_some(fork))
}

/// Clears what interrupted forks left in other directories. If that fails, the command that
/// was interrupted says why when it is given again.
pub(crate) fn clear_others(project: &Project, making: &ForkNote) -> Result<(), CliError> {
    let notes = notes(project)?;
    let own = key(&making.directory()?);
    let names = disk::names(&notes).unwrap_or_default();
    for name in names.iter().filter(|name| *name != own.as_str()) {
        if let Err(failure) = clear_other(project, notes.join(name)) {
            tracing::warn!("what an interrupted fork left is not cleared: {}", failure.message());
        }
    }
    Ok(())
}

fn clear_other(project: &Project, path: PathBuf) -> Result<(), CliError> {
    let Some(note) = Note::left(path)? else { return Ok(()) };
    let Some(making) = &note.making else { return Ok(()) };
    let directory = making.directory()?;
    if let Some(fork) = making.made(project)? {
        fork.announce();
    } else if !note.is_of_no_files() && Project::of(&directory)?.is_none() {
        note.clear(project, &directory)?;
        if making.is_new {
            disk::remove_empty(&[directory]);
        }
    }
    note.remove();
    Ok(())
}

/// A note, with the lock on it.
#[derive(Debug)]
struct Note {
    path: PathBuf,
    file: File,
    /// The fork that a process began to make; `None` if it died before it recorded it.
    making: Option<ForkNote>,
    /// The snapshot whose files it began to write.
    snapshot: Option<SnapshotId>,
}

impl Note {
    /// Reads the note of a process that died; `None` if there is none.
    fn left(path: PathBuf) -> Result<Option<Self>, CliError> {
        if !disk::is_file(&path) {
            return Ok(None);
        }
        match disk::hold(&path) {
            Ok(file) => Self::read(path, file).map(Some),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(cannot_write(&path, error)),
        }
    }

    fn read(path: PathBuf, file: File) -> Result<Self, CliError> {
        let mut text = String::new();
        let read = (&file).read_to_string(&mut text);
        read.map_err(|error| CliError::host("cannot read", &path, error))?;
        // A line without a newline was cut off when the process died.
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let making = lines.next().and_then(|line| serde_json::from_str(line).ok());
        let snapshot = lines.next().and_then(|line| line.parse().ok());
        Ok(Self { path, file, making, snapshot })
    }

    /// Returns whether the process died before it wrote any file of the fork.
    fn is_of_no_files(&self) -> bool {
        self.making.is_some() && self.snapshot.is_none()
    }

    /// Writes the first line, which names the fork.
    fn write_first(&self, making: &ForkNote) -> Result<(), CliError> {
        let line = serde_json::to_string(making).map_err(|error| CliError::other(&error))?;
        self.file.set_len(0).map_err(|error| cannot_write(&self.path, error))?;
        self.append(&format!("{line}\n"))
    }

    fn append(&self, line: &str) -> Result<(), CliError> {
        let written = (&self.file).write_all(line.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(|error| cannot_write(&self.path, error))
    }

    fn remove(&self) {
        // One that stays says something of an empty directory, or of one that is a workspace.
        let _ = disk::remove(&self.path);
    }

    /// Removes the files that an interrupted fork left, unless there are other files.
    fn clear(&self, project: &Project, directory: &Path) -> Result<(), CliError> {
        if disk::is_gone(directory) {
            return Ok(());
        }
        let unknown = |_| CliError::half_made(directory, &[]);
        // Opening finishes a change that was interrupted, and what was staged for it goes: also a directory
        // that is empty may have files then.
        let mut files = HostBackend::open_ambient(directory).map_err(unknown)?;
        if files.list(&TreePath::root()).map_err(unknown)?.is_empty() {
            return Ok(());
        }
        let snapshot = self.snapshot.ok_or_else(|| CliError::half_made(directory, &[]))?;
        let state = project.open_store()?.load(&snapshot).map_err(unknown)?;
        let own = remove_parts(&mut files, &*state).map_err(unknown)?;
        if own.is_empty() { Ok(()) } else { Err(CliError::half_made(directory, &own)) }
    }
}

/// Removes files that are all the same in a state; returns those that are not, for which all stay.
fn remove_parts(files: &mut HostBackend, state: &dyn Tree) -> wink_fs::Result<Vec<TreePath>> {
    let mut found = Found::default();
    look(files, state, &TreePath::root(), &mut found)?;
    for (path, kind) in found.same.iter().take_while(|_| found.own.is_empty()) {
        let recursion = match (kind, EntryIdentity::at(state, path)?) {
            (Kind::File | Kind::Symlink, Some(identity)) => Recursion::Unchanged(identity),
            _ => Recursion::OnlyEmpty,
        };
        match files.remove(path, recursion) {
            // Another program changed it since it was looked at, or put something into it.
            Err(error) if matches!(error.kind(), Error::Conflict | Error::NotEmpty) => {
                return Ok(vec![path.clone()]);
            }
            removed => removed?,
        };
    }
    Ok(found.own)
}

/// What is in a directory.
#[derive(Default)]
struct Found {
    /// What is the same in the state; a directory comes after what is in it.
    same: Vec<(TreePath, Kind)>,
    own: Vec<TreePath>,
}

fn look(
    files: &dyn Tree,
    state: &dyn Tree,
    directory: &TreePath,
    found: &mut Found,
) -> wink_fs::Result<()> {
    for entry in files.list(directory)? {
        let path = directory.join(&entry.name)?;
        if !is_same(files, state, &path, entry.kind)? {
            found.own.push(path);
            continue;
        }
        if entry.kind == Kind::Directory {
            look(files, state, &path, found)?;
        }
        found.same.push((path, entry.kind));
    }
    Ok(())
}

/// Returns whether the state has the same at a path; of a directory, only that it has one too.
fn is_same(
    files: &dyn Tree,
    state: &dyn Tree,
    path: &TreePath,
    kind: Kind,
) -> wink_fs::Result<bool> {
    if !state.stat(path).is_ok_and(|stat| stat.kind == kind) {
        return Ok(false);
    }
    match kind {
        Kind::Directory => Ok(true),
        Kind::File | Kind::Symlink => {
            Ok(EntryIdentity::at(files, path)? == EntryIdentity::at(state, path)?)
        }
        _ => Ok(false),
    }
}

fn notes(project: &Project) -> Result<PathBuf, CliError> {
    Ok(project.shared()?.join(NOTES))
}

fn cannot_write(path: &Path, error: std::io::Error) -> CliError {
    CliError::host("cannot write", path, error)
}

fn is_empty(directory: &Path) -> bool {
    disk::names(directory).is_ok_and(|names| names.is_empty())
}

fn key(directory: &Path) -> String {
    blake3::hash(directory.as_os_str().as_bytes()).to_hex().to_string()
}
