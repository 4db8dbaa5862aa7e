//! An archive as a file of the host, complete or not there.

use std::fs::Permissions;
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::{Exported, write};
use crate::archive::options::ExportOptions;
use crate::error::{Error, Operation, Result};
use crate::tree::Tree;

/// Makes an archive at a path of the host, with the ambient authority of the process.
///
/// It is written beside the target, synced and renamed: whatever happens, the target is what it was or
/// the complete archive.
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
    let file = temporary(directory).map_err(failed)?;
    let exported = write(tree, file.as_file(), options)?;
    publish(file, target, directory).map_err(failed)?;
    Ok(exported)
}

fn temporary(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wink-export-").suffix(".tmp");
    if let Some(permissions) = usual_permissions() {
        builder.permissions(permissions);
    }
    builder.tempfile_in(directory)
}

/// Returns what every other program gives a new file, of which the umask takes its part.
fn usual_permissions() -> Option<Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    None
}

fn publish(file: NamedTempFile, target: &Path, directory: &Path) -> io::Result<()> {
    // After a failure the kernel may have dropped the pages: the file goes, and nobody tries again.
    file.as_file().sync_all()?;
    file.persist(target).map_err(|failed| failed.error)?;
    sync_directory(directory)
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
