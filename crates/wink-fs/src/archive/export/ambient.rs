//! An archive as a file of the host, complete or not there.

use std::fs::{File, Permissions};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::{Exported, write};
use crate::archive::options::ExportOptions;
use crate::error::{Error, Operation, Result};
use crate::tree::Tree;

/// Makes an archive at a path of the host, with the ambient authority of the process.
///
/// It is written without a name beside the target, synced and renamed: whatever happens, the target is
/// what it was or the complete archive, and where the file system can, nothing else is left.
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
    let draft = Draft::create(directory).map_err(failed)?;
    let exported = write(tree, draft.file(), options)?;
    draft.publish(target, directory, options.only_new).map_err(failed)?;
    Ok(exported)
}

/// An archive that is not complete.
enum Draft {
    /// Goes with the process, whatever ends that.
    Unnamed(File),
    /// For file systems on which every file has a name.
    Named(NamedTempFile),
}

impl Draft {
    fn create(directory: &Path) -> io::Result<Self> {
        match unnamed(directory) {
            Some(file) => Ok(Self::Unnamed(file)),
            None => named(directory).map(Self::Named),
        }
    }

    fn file(&self) -> &File {
        match self {
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    fn publish(self, target: &Path, directory: &Path, only_new: bool) -> io::Result<()> {
        // After a failure the kernel may have dropped the pages: the file is removed, and no caller retries the sync.
        self.file().sync_all()?;
        let path = match self {
            // Only a rename takes the place of what is there, and only a name can be renamed.
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

fn named(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = names();
    if let Some(permissions) = usual_permissions() {
        builder.permissions(permissions);
    }
    builder.tempfile_in(directory)
}

#[cfg(target_os = "linux")]
fn unnamed(directory: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)).ok().map(File::from)
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};

    let itself = crate::host::root::by_handle(file);
    Ok(rustix::fs::linkat(CWD, itself, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns what every other program gives a new file, of which the umask takes its part.
fn usual_permissions() -> Option<Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    None
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
