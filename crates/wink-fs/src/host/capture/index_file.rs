//! The file that keeps the index from one process to the next.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Result;

use super::index::Index;
use super::stamp::{self, Moment, Stamp};

/// Reads the index; one that is missing or damaged is an empty one, and every file is read again.
pub(crate) fn load(path: &Path) -> Index {
    let index = read(path).ok().and_then(|(bytes, written)| Index::from_bytes(bytes, written));
    index.unwrap_or_default()
}

/// Returns what is in the file, and when that was written.
fn read(path: &Path) -> std::io::Result<(Vec<u8>, Moment)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let written = stamp::look_at(&file)?;
    Ok((bytes, Stamp::of(&written).modified()))
}

/// Replaces the file in one step; not synced, because what a loss of power leaves is checked.
pub(crate) fn save(path: &Path, index: &Index) -> std::io::Result<()> {
    let temporary = beside(path);
    let written = write(&temporary, index).and_then(|()| Ok(rustix::fs::rename(&temporary, path)?));
    if written.is_err() {
        let _ = rustix::fs::unlinkat(CWD, &temporary, AtFlags::empty());
    }
    written
}

fn write(path: &Path, index: &Index) -> std::io::Result<()> {
    create(path)?.write_all(index.as_bytes())
}

fn create(path: &Path) -> Result<File> {
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    name.into()
}
