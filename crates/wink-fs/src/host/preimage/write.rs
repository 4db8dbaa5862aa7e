//! Writes an operation's list of steps, and says where each step's pre-image goes.
//!
//! The rename that displaces an entry also moves it to its pre-image, so that the pre-image is what was really there,
//! even if another program saved it a moment before. It is named after the line of its step.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::read::Preimages;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::host::copy::copy_file;
use crate::host::{HostTree, entry, lease};
use crate::oplog::{BEGUN, BeforeImage, KeptEntries, beside, numbered};
use crate::path::TreePath;
use crate::tree::Kind;

/// Larger files are not copied when they move.
const MOST_COPIED: i64 = 64 * 1024 * 1024;

/// Writes the list of one operation, whose file names begin with its number.
pub(crate) struct PreimageWriter {
    host: Arc<HostTree>,
    place: PathBuf,
    list: Option<File>,
    lines: usize,
    /// Whether a line could not be written; every later pre-image would be taken for that line's.
    is_broken: bool,
}

impl PreimageWriter {
    pub(crate) fn new(host: Arc<HostTree>, place: PathBuf) -> Self {
        host.clear_preimage_paths();
        Self { host, place, list: None, lines: 0, is_broken: false }
    }

    fn list(&mut self) -> io::Result<&File> {
        if self.list.is_none() {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC;
            let list = beside(&self.place, BEGUN);
            let list = rustix::fs::openat(CWD, list, flags, Mode::RUSR | Mode::WUSR)?;
            self.list = Some(list.into());
        }
        self.list.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns the path of a line's pre-image.
    fn place_of(&self, line: usize) -> PathBuf {
        beside(&self.place, &numbered(line))
    }
}

impl BeforeImage for PreimageWriter {
    fn begin(&mut self, line: &str, displaced: Option<&TreePath>) -> Result<()> {
        let place = self.place_of(self.lines);
        // The line first: after a kill, a line without a pre-image is a step that was not made.
        self.note(line)?;
        if let Some(path) = displaced {
            self.host.set_preimage_path(path, place);
        }
        Ok(())
    }

    fn keep_copy(&mut self, path: &TreePath) -> Result<()> {
        let place = self.place_of(self.lines.saturating_sub(1));
        let Ok(Some(slot)) = self.host.root.open_parent(path) else { return Ok(()) };
        let found = rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW);
        let is_worth_it = |stat: &rustix::fs::Stat| {
            entry::kind_of(stat.st_mode) == Kind::File && stat.st_size <= MOST_COPIED
        };
        if let Some(found) = found.ok().filter(is_worth_it) {
            // Without the copy, undo cannot bring back what programs overwrite at the new path.
            let _ = copy_file(&slot, &found, &place);
        }
        Ok(())
    }

    fn note(&mut self, line: &str) -> Result<()> {
        if self.is_broken {
            return Err(Error::new(Operation::Write, ErrorKind::Io));
        }
        let noted = self.list().and_then(|mut list| list.write_all(line.as_bytes()));
        noted.map_err(|error| {
            self.is_broken = true;
            Error::system(Operation::Write, error)
        })?;
        self.lines += 1;
        Ok(())
    }

    fn kept(&self) -> Arc<dyn KeptEntries> {
        Arc::new(Preimages::new(self.place.clone(), Some(self.host.root.resolver())))
    }

    fn keeps_by_the_change(&self) -> bool {
        true
    }

    fn may_be_written(&self, line: usize) -> bool {
        lease::may_be_written(&self.place_of(line))
    }
}

impl Drop for PreimageWriter {
    fn drop(&mut self) {
        self.host.clear_preimage_paths();
    }
}

impl HostTree {
    /// Sets where the entry at a path goes when the next change displaces it.
    fn set_preimage_path(&self, path: &TreePath, place: PathBuf) {
        let mut paths = self.preimage_paths.lock();
        paths.retain(|(known, _)| known != path);
        paths.push((path.clone(), place));
    }

    /// Returns the pre-image's path for an entry, if it is to be kept.
    pub(crate) fn preimage_path(&self, path: &TreePath) -> Option<PathBuf> {
        let paths = self.preimage_paths.lock();
        paths.iter().find(|(known, _)| known == path).map(|(_, place)| place.clone())
    }

    /// Forgets the paths, once the change was made.
    pub(crate) fn clear_preimage_paths(&self) {
        self.preimage_paths.lock().clear();
    }
}

/// Deletes a pre-image that is not needed; if that fails, it goes with the operation.
pub(crate) fn remove(entry: &Path) {
    if rustix::fs::unlinkat(CWD, entry, AtFlags::empty()) == Err(Errno::ISDIR) {
        let _ = rustix::fs::unlinkat(CWD, entry, AtFlags::REMOVEDIR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::{Backend as _, Filesystem as _, Recursion};
    use crate::host::HostBackend;
    use crate::ops;
    use crate::tree::Tree as _;

    /// Once, what was kept stayed under the number that the next operation got, and was taken for its own.
    #[test]
    fn what_cannot_be_listed_is_not_changed_and_nothing_is_after_it() {
        let mut files = HostBackend::temporary().unwrap();
        let mut store = HostBackend::temporary().unwrap();
        let path = |text: &str| TreePath::parse(text).unwrap();
        ops::write(&mut files, &path("a"), "a", &ops::WriteOptions::default()).unwrap();
        let place = store.directory().unwrap().join("7");
        let mut image = files.before_image(&place).unwrap();
        store.create_dir(&path("7.begun")).unwrap();
        assert!(image.begin("line\n", Some(&path("a"))).is_err());
        store.remove(&path("7.begun"), Recursion::OnlyEmpty).unwrap();
        assert_eq!(image.begin("line\n", Some(&path("a"))).unwrap_err().kind(), ErrorKind::Io);
        assert!(store.list(&TreePath::root()).unwrap().is_empty());
        assert!(image.kept().entry(0).unwrap().is_none());
    }
}
