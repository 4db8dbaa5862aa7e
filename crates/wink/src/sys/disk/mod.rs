//! The host files that belong to the command line itself: the only place where it touches them.
//!
//! Files of a workspace are reached through its backend, never through this.

#![allow(
    clippy::disallowed_methods,
    reason = "settings lie outside of every workspace, in places that only the person names"
)]

mod lines;

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use self::lines::append_line;

/// The largest file that is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// How long the caller waits for a lock that is held only briefly.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time between two attempts.
const TURN: Duration = Duration::from_millis(5);

/// How much of a file is read to recognise its format.
const TELLING_BYTES: u64 = 4096;

/// Resolves all links in a path.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Resolves the links in the existing part of a path.
pub(crate) fn real_path_to_be(path: &Path) -> io::Result<PathBuf> {
    match (real_path(path), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == ErrorKind::NotFound => {
            Ok(real_path_to_be(parent)?.join(name))
        }
        (real, ..) => real,
    }
}

/// Returns whether a path certainly does not exist.
pub(crate) fn is_gone(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

/// Identifies a state of a file; it changes when another process writes or replaces the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Returns the stamp of a file without reading it.
pub(crate) fn stamp(path: &Path) -> io::Result<Stamp> {
    let found = fs::metadata(path)?;
    Ok(Stamp {
        file: found.ino(),
        bytes: found.len(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    })
}

/// Returns whether a path is a file.
pub(crate) fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Returns whether a path is an executable file.
pub(crate) fn is_program(path: &Path) -> bool {
    let is_program = |it: fs::Metadata| it.is_file() && it.permissions().mode() & 0o111 != 0;
    fs::metadata(path).is_ok_and(is_program)
}

/// Returns whether only its owner has access to a directory.
pub(crate) fn is_private(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.permissions().mode() & 0o077 == 0)
}

/// Makes a directory private to its owner.
pub(crate) fn keep_private(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Returns whether a file in a directory can share the content of another; leaves nothing there.
pub(crate) fn can_clone(directory: &Path) -> io::Result<bool> {
    let place = |name: &str| directory.join(format!(".clone-{name}-{}", std::process::id()));
    let (from, to) = (place("from"), place("to"));
    let tried = write_new(&from, &[1; 4096]).and_then(|()| {
        let target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to)?;
        Ok(rustix::fs::ioctl_ficlone(&target, File::open(&from)?).is_ok())
    });
    let _ = (fs::remove_file(&from), fs::remove_file(&to));
    tried
}

/// Makes a directory and its missing parents, with default permissions.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Opens a file that only its owner has access to, for appending.
pub(crate) fn open_to_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Opens or creates a file for reading and appending, and holds a lock on it until the value is dropped;
/// WouldBlock if another process holds it.
pub(crate) fn hold(path: &Path) -> io::Result<File> {
    loop {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).mode(0o600).open(path)?;
        file.try_lock()?;
        // The last holder may have removed the file: a lock on an unlinked file excludes no other process.
        let (held, there) = (file.metadata()?, fs::metadata(path));
        if there.is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino())) {
            return Ok(file);
        }
    }
}

/// Holds a lock like [`hold`], and waits for a while if another process or thread holds it.
pub(crate) fn wait_to_hold(path: &Path) -> io::Result<File> {
    let (file, began) = (open_to_append(path)?, Instant::now());
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => thread::sleep(TURN),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the first bytes of a file; empty if it cannot be read.
pub(crate) fn beginning(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = File::open(path).and_then(|file| file.take(TELLING_BYTES).read_to_end(&mut bytes));
    bytes
}

/// Reads a small file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(MAX_BYTES).read_to_end(&mut bytes).map(|_| Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reads at most this many bytes from the end of a file; empty if it does not exist.
pub(crate) fn read_end(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(bytes),
        file => file?,
    };
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(most)))?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file that the user named, to read it; a FIFO, which would make the caller wait, is refused.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"));
    }
    File::open(path)
}

/// Reads a part of a file; less where the file ends.
pub(crate) fn read_range(path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the names in a directory, sorted; empty if it does not exist.
pub(crate) fn names(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names: Vec<_> =
        entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

/// Removes a directory of the history with everything in it.
pub(crate) fn remove_all(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Creates a directory that only its owner has access to, and its missing parents.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Returns the missing directories of a path, the innermost first.
pub(crate) fn missing(path: &Path) -> Vec<PathBuf> {
    path.ancestors().take_while(|it| is_gone(it)).map(Path::to_owned).collect()
}

/// Removes directories that were made in vain, if they are empty.
pub(crate) fn remove_empty(directories: &[PathBuf]) {
    let _ = directories.iter().try_for_each(fs::remove_dir);
}

/// Makes a directory atomically: it appears with everything that `fill` puts into it.
///
/// AlreadyExists if there is anything but an empty directory.
pub(crate) fn publish<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from(ErrorKind::AlreadyExists).into());
    };
    make_private(parent)?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".new-{}", std::process::id()));
    let temporary = parent.join(temporary);
    DirBuilder::new().mode(0o700).create(&temporary)?;
    let published = fill(&temporary).and_then(|()| Ok(put_in_place(&temporary, path, parent)?));
    if published.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    published
}

fn put_in_place(temporary: &Path, path: &Path, parent: &Path) -> io::Result<()> {
    File::open(temporary)?.sync_all()?;
    match fs::rename(temporary, path) {
        Err(error) if is_taken(error.kind()) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) => Err(error),
        Ok(()) => File::open(parent)?.sync_all(),
    }
}

fn is_taken(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory | ErrorKind::AlreadyExists
    )
}

/// Writes a new file that only its owner has access to.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Reads a small file; fails if other users can access it.
pub(crate) fn read_private(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        let why = "other users can access it; make it private with `chmod 600`";
        return Err(io::Error::new(ErrorKind::PermissionDenied, why));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text file, such as the settings of a client, as a whole; `None` if it does not exist.
pub(crate) fn read_text(path: &Path) -> io::Result<Option<String>> {
    match read(path)? {
        Some(bytes) if bytes.len() as u64 >= MAX_BYTES => Err(ErrorKind::FileTooLarge.into()),
        Some(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(ErrorKind::InvalidData.into()),
        },
        None => Ok(None),
    }
}

/// Writes the settings of a client, atomically; an existing file keeps its mode. Missing directories are made.
pub(crate) fn replace_settings(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        make_directory(parent)?;
    }
    let known = fs::metadata(path).map(|it| it.permissions());
    let temporary = beside(path);
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(bytes)?;
        if let Ok(permissions) = known {
            // Also fails where the file belongs to another user and cannot be written to.
            OpenOptions::new().write(true).open(path)?;
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Removes a file, if it is there.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Renames a file of the command line itself.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Removes a file of the command line itself.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// Writes a new private file, which appears with its whole content.
pub(crate) fn write_new_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path);
    let written =
        write_new(&temporary, bytes).and_then(|()| match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists && !path.try_exists()? => {
                // Not every file system has hard links.
                fs::rename(&temporary, path)
            }
            linked => linked,
        });
    let _ = fs::remove_file(&temporary);
    written
}

/// Returns a temporary name beside a file.
fn beside(path: &Path) -> PathBuf {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".new-{}", std::process::id()));
    temporary.into()
}

/// Writes a private file, atomically replacing an existing one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path);
    let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
