//! Snapshots with names, each in an archive of its own.

#![allow(
    clippy::disallowed_methods,
    reason = "this is the ambient authority that the constructors' names speak of"
)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::archive::{ArchiveLimits, ArchiveTree, ExportOptions, export_ambient};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::snapshot::is_plain_name;
use crate::workspace::Workspace;

/// Where archives are kept in the temporary directory, if the caller names no directory.
const DIRECTORY: &str = "wink-fs-snapshots";

const SUFFIX: &str = ".fs.zip";

/// Keeps states of any workspace by name, as archives that every other workspace can read.
///
/// It is made for few snapshots that go elsewhere: each is a whole copy. A workspace's own
/// [`snapshot`](Workspace::snapshot) is faster and smaller.
///
/// ```
/// use wink_fs::{NamedSnapshots, Workspace};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let place = directory.path().join("archives");
/// let snapshots = NamedSnapshots::open_ambient(Workspace::memory(), &place)?;
/// let files = snapshots.filesystem();
/// files.write("src/main.py", "print('hello')")?;
/// snapshots.snapshot("before-refactor")?;
/// files.write("src/main.py", "print('broken')")?;
///
/// assert_eq!(snapshots.rollback("before-refactor")?, 1);
/// assert_eq!(files.read("src/main.py")?.content, "print('hello')");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NamedSnapshots {
    filesystem: Workspace,
    directory: PathBuf,
}

/// Describes an archive that a state was kept in.
///
/// ```
/// use wink_fs::{NamedSnapshots, Workspace};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let snapshots = NamedSnapshots::open_ambient(Workspace::memory(), directory.path())?;
/// let info = snapshots.snapshot("empty")?;
/// assert_eq!((info.snapshot_id.as_str(), info.file_count), ("empty", 0));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NamedSnapshot {
    /// Its name.
    pub snapshot_id: String,
    /// Where its archive is.
    pub archive_path: PathBuf,
    /// How many files and links it holds.
    pub file_count: u64,
    /// The bytes of their contents and targets.
    pub total_bytes: u64,
    /// When it was made, by the clock of that time.
    pub created_at: SystemTime,
}

impl NamedSnapshots {
    /// Keeps archives in a directory, which is created if it does not exist; those in it are found again.
    pub fn open_ambient(filesystem: Workspace, directory: impl AsRef<Path>) -> Result<Self> {
        let directory = directory.as_ref().to_path_buf();
        fs::create_dir_all(&directory).map_err(failed)?;
        Ok(Self { filesystem, directory })
    }

    /// Keeps archives in the temporary directory, where no other user may read them.
    pub fn temporary(filesystem: Workspace) -> Result<Self> {
        let directory = std::env::temp_dir().join(DIRECTORY);
        make_own(&directory)?;
        Ok(Self { filesystem, directory })
    }

    /// Returns the workspace whose states are kept.
    pub fn filesystem(&self) -> &Workspace {
        &self.filesystem
    }

    /// Takes a snapshot; a name that is in use is AlreadyExists.
    pub fn snapshot(&self, id: &str) -> Result<NamedSnapshot> {
        let archive_path = self.place(id)?;
        let created_at = SystemTime::now();
        let options = ExportOptions::default().created_at(created_at).only_new(true);
        let exported =
            export_ambient(&*self.filesystem.tree_without_excluded(), &archive_path, &options);
        let exported = exported.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => in_use(id),
            _ => error.during(Operation::Snapshot),
        })?;
        let (file_count, total_bytes) = (exported.file_count, exported.total_bytes);
        let snapshot_id = id.to_owned();
        Ok(NamedSnapshot { snapshot_id, archive_path, file_count, total_bytes, created_at })
    }

    /// Makes the files those of a name, and returns how many there are.
    pub fn rollback(&self, id: &str) -> Result<u64> {
        self.restore(self.place(id)?)
    }

    /// Makes the files those of an archive, wherever it is, and returns how many there are.
    pub fn restore(&self, archive: impl AsRef<Path>) -> Result<u64> {
        let imported = self.filesystem.import_archive(archive);
        let imported = imported.map_err(|error| match error.kind() {
            ErrorKind::NotFound => not_found(),
            _ => error.during(Operation::Restore),
        })?;
        Ok(imported.file_count)
    }

    /// Returns what is known of a name; `None` if there is none, or its archive is damaged.
    pub fn get(&self, id: &str) -> Option<NamedSnapshot> {
        describe(&self.directory, id)
    }

    /// Returns all snapshots whose archive is whole, oldest first.
    pub fn list(&self) -> Result<Vec<NamedSnapshot>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
            found.extend(id.and_then(|id| self.get(id)));
        }
        found.sort_by_cached_key(|it| (it.created_at, modified_at(it), it.snapshot_id.clone()));
        Ok(found)
    }

    /// Removes a snapshot with its archive, and returns whether it was there.
    pub fn delete(&self, id: &str) -> Result<bool> {
        match fs::remove_file(self.place(id)?) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true).map_err(failed),
        }
    }

    /// Returns the path of an archive, after a look at what it is to be named by.
    fn place(&self, id: &str) -> Result<PathBuf> {
        check_id(id)?;
        Ok(self.directory.join(format!("{id}{SUFFIX}")))
    }
}

/// Tells archives of one second apart, which is all that a manifest says.
fn modified_at(snapshot: &NamedSnapshot) -> Option<SystemTime> {
    fs::metadata(&snapshot.archive_path).and_then(|found| found.modified()).ok()
}

fn describe(directory: &Path, id: &str) -> Option<NamedSnapshot> {
    check_id(id).ok()?;
    let archive_path = directory.join(format!("{id}{SUFFIX}"));
    let archive = ArchiveTree::open_ambient(&archive_path, &ArchiveLimits::default()).ok()?;
    Some(NamedSnapshot {
        snapshot_id: id.to_owned(),
        archive_path,
        file_count: archive.file_count(),
        total_bytes: archive.total_bytes(),
        created_at: archive.created_at(),
    })
}

/// Refuses a name that is not safe as a part of a path or of a command line.
fn check_id(id: &str) -> Result<()> {
    if is_plain_name(id) {
        return Ok(());
    }
    Err(Error::new(Operation::Snapshot, ErrorKind::InvalidArgument).with_detail(
        "a name has up to 100 letters, digits, `.`, `-` and `_`, and begins with a letter or digit",
    ))
}

/// Creates a directory that no other user may enter; one that another user created or may enter is refused.
fn make_own(directory: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_own(directory),
        made => made.map_err(failed),
    }
}

#[cfg(unix)]
fn check_own(directory: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::symlink_metadata(directory).map_err(failed)?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if found.is_dir() && is_own && found.mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(Error::new(Operation::Snapshot, ErrorKind::PermissionDenied).with_detail(
            "other users can reach the temporary directory of snapshots; name one of your own",
        ))
    }
}

#[cfg(not(unix))]
fn check_own(_: &Path) -> Result<()> {
    Ok(())
}

fn failed(error: io::Error) -> Error {
    Error::system(Operation::Snapshot, error)
}

fn in_use(id: &str) -> Error {
    Error::new(Operation::Snapshot, ErrorKind::AlreadyExists)
        .with_path_text(id)
        .with_detail("a snapshot has this name already; give another, or delete that one")
}

fn not_found() -> Error {
    Error::new(Operation::Restore, ErrorKind::SnapshotNotFound)
        .with_detail("there is no such archive; list the snapshots there are")
}
