//! Writes an archive to a file of the host, which appears complete or not at all.

use std::fs::{File, Permissions};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::{Exported, write};
use crate::archive::options::ExportOptions;
use crate::error::{Error, Operation, Result};
use crate::tree::Tree;

/// Writes an archive to a path of the host, with the ambient authority of the process.
///
/// It is written to an unnamed file beside the target, synced and renamed: the target is the old file or the complete
/// archive and, if the file system supports it, nothing else is left.
///
/// ```
/// use wink_fs::archive::{self, ExportOptions};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let files = wink_fs::Workspace::memory();
/// files.write("a.txt", "hello")?;
/// let target = directory.path().join("work.fs.zip");
/// let exported = archive::export_ambient(&*files.tree(), &target, &ExportOptions::default())?;
/// assert_eq!(exported.file_count, 1);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub fn export_ambient(tree: &dyn Tree, target: &Path, options: &ExportOptions) -> Result<Exported> {
    let failed = |error| Error::system(Operation::Export, error);
    let directory = match target.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Err(failed(io::ErrorKind::IsADirectory.into())),
    };
    // As the umask leaves it.
    let mode = if options.private { 0o600 } else { 0o666 };
    let draft = Draft::create(directory, mode).map_err(failed)?;
    let exported = write(tree, draft.file(), options)?;
    draft.publish(target, directory, options.only_new).map_err(failed)?;
    Ok(exported)
}

/// An incomplete archive.
enum Draft {
    /// Disappears with the process, however that ends.
    Unnamed(File),
    /// For file systems without unnamed files.
    Named(NamedTempFile),
}

impl Draft {
    fn create(directory: &Path, mode: u32) -> io::Result<Self> {
        match unnamed(directory, mode) {
            Some(file) => Ok(Self::Unnamed(file)),
            None => named(directory, mode).map(Self::Named),
        }
    }

    fn file(&self) -> &File {
        match self {
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    fn publish(self, target: &Path, directory: &Path, only_new: bool) -> io::Result<()> {
        // Never retry a failed sync: the kernel may have dropped the pages. The file is removed instead.
        self.file().sync_all()?;
        let path = match self {
            // A link fails if the name exists; only a rename replaces, and only a named file can be renamed.
            Self::Unnamed(file) => {
                names().make_in(directory, |path| link(&file, path))?.into_temp_path()
            }
            Self::Named(file) => file.into_temp_path(),
        };
        let persisted =
            if only_new { path.persist_noclobber(target) } else { path.persist(target) };
        persisted.map_err(|failed| failed.error)?;
        sync_directory(directory)
    }
}

fn names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wink-export-").suffix(".tmp");
    builder
}

fn named(directory: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = names();
    if let Some(permissions) = permissions(mode) {
        builder.permissions(permissions);
    }
    builder.tempfile_in(directory)
}

#[cfg(target_os = "linux")]
fn unnamed(directory: &Path, mode: u32) -> Option<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::from_raw_mode(mode)).ok().map(File::from)
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};

    let itself = crate::host::root::by_handle(file);
    Ok(rustix::fs::linkat(CWD, itself, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path, _: u32) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the permissions of a new file, which the umask reduces.
fn permissions(mode: u32) -> Option<Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    return None;
}

#[cfg(target_os = "linux")]
fn sync_directory(directory: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(directory, flags, Mode::empty())?;
    Ok(rustix::fs::fsync(directory)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
