//! Entries kept before they change: as further hard links, so that they cost no copy, where nobody has another
//! name for them.
//!
//! A file or a link gets the number of its line in the list, a directory and a copy its own path; [`BeforeTree`]
//! makes one tree of them again.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, Result as SystemResult};

use super::kept::BeforeTree;
use super::links::{DIRECTORY, Fate, copy_file, link_entry, make, make_directory};
use super::root::Slot;
use super::{Host, HostBackend, entry, failure};
use crate::descend::descend;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend;
use crate::hash::ContentHash;
use crate::operation::{BEFORE, BEGUN, BeforeImage, beside, numbered, touched_line};
use crate::path::TreePath;
use crate::refusal;
use crate::scope::Scope;
use crate::tree::{Kind, Tree};

/// A place that gets the entries, under names that begin with its own.
pub(super) struct Aside {
    host: Arc<Host>,
    place: PathBuf,
    /// The list of all paths that may change, and how many it has.
    touched: Option<File>,
    lines: usize,
    /// Whether a line could not be written.
    is_lost: bool,
    /// The entries that are kept by numbers.
    numbers: Vec<(TreePath, usize)>,
}

impl Aside {
    pub(super) fn new(host: Arc<Host>, place: PathBuf) -> Self {
        host.expect_nothing();
        Self { host, place, touched: None, lines: 0, is_lost: false, numbers: Vec::new() }
    }
}

/// How large a file may be of which a copy is made where a link could be written into.
const MOST_COPIED: i64 = 64 * 1024 * 1024;

impl BeforeImage for Aside {
    fn keep(&mut self, path: &TreePath) -> Result<()> {
        self.host.expect(path);
        self.keep_entry(path, Fate::Replaced)?;
        self.note(path, None)
    }

    fn keep_replaced(&mut self, path: &TreePath, by: ContentHash) -> Result<()> {
        self.keep_entry(path, Fate::Replaced)?;
        self.note(path, Some(by))
    }

    fn keep_moved(&mut self, path: &TreePath) -> Result<()> {
        self.keep_entry(path, Fate::Moved)?;
        self.note(path, None)
    }

    fn keep_removed(&mut self, path: &TreePath) -> Result<()> {
        self.host.expect(path);
        self.keep_entry(path, Fate::Removed).map_err(|error| match error.kind() {
            ErrorKind::SpecialFile => first_special(&*self.host, path)
                .map_or(error, |special| refusal::holds_special(&special)),
            _ => error,
        })?;
        self.note(path, None)
    }

    fn keep_copy(&mut self, path: &TreePath) -> Result<()> {
        self.check_place(path)?;
        self.copy(path)?;
        self.note(path, None)
    }

    fn keep_directory(&mut self, path: &TreePath) -> Result<()> {
        self.check_place(path)?;
        self.open(path).map_err(|errno| failure::any(Operation::Write, path, errno))?;
        self.note(path, None)
    }

    fn note_replaced(&mut self, path: &TreePath, by: ContentHash) -> Result<()> {
        self.check_place(path)?;
        self.note(path, Some(by))
    }

    fn tree(&self) -> Result<Arc<dyn Tree>> {
        BeforeTree::open_by(&self.place, self.numbers.clone(), Some(self.host.root.resolver()))
    }
}

impl Aside {
    fn keep_entry(&mut self, path: &TreePath, fate: Fate) -> Result<()> {
        self.check_place(path)?;
        let failed = |errno| failure::any(Operation::Write, path, errno);
        if let Some((slot, found)) = self.find(path).map_err(failed)? {
            match self.take(path, &slot, &found, fate) {
                // Another file system, or somebody else's file.
                Err(Errno::XDEV | Errno::PERM | Errno::MLINK | Errno::OPNOTSUPP) => {
                    self.copy(path)?;
                }
                taken => taken.map_err(failed)?,
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        path: &TreePath,
        slot: &Slot<'_>,
        found: &Stat,
        fate: Fate,
    ) -> SystemResult<()> {
        let kind = entry::kind_of(found.st_mode);
        // Through another name of it, somebody could write into what is kept.
        let is_shared = fate == Fate::Moved || found.st_nlink > 1;
        match kind {
            // Where it cannot be copied (unreadable, no space), a link is better than a refusal.
            Kind::File if is_shared && found.st_size <= MOST_COPIED => self
                .copy_by_number(path, slot, found)
                .or_else(|_| self.link(path, slot, kind, fate)),
            _ => self.link(path, slot, kind, fate),
        }
    }

    fn copy_by_number(
        &mut self,
        path: &TreePath,
        slot: &Slot<'_>,
        found: &Stat,
    ) -> SystemResult<()> {
        let place = beside(&self.place, &numbered(self.lines));
        copy_file(slot, found, &place).inspect_err(|_| remove(&place))?;
        self.numbers.push((path.clone(), self.lines));
        Ok(())
    }

    /// Writes down that a path may change from now on, for whoever finds this after a crash, and what is put
    /// there, so that they do not take it for somebody else's.
    ///
    /// Only when it is kept as a whole: to take back what is not would be to lose it.
    fn note(&mut self, path: &TreePath, content: Option<ContentHash>) -> Result<()> {
        let line = touched_line(path, content);
        let noted = self.touched().and_then(|mut list| list.write_all(line.as_bytes()));
        noted.map_err(|error| {
            self.lose_place();
            Error::system(Operation::Write, error).with_path(path)
        })?;
        self.lines += 1;
        Ok(())
    }

    /// Keeps nothing more: whatever came next could be taken for what belongs to the line that is not whole.
    fn lose_place(&mut self) {
        self.is_lost = true;
        self.numbers.retain(|(_, line)| *line != self.lines);
        remove(&beside(&self.place, &numbered(self.lines)));
    }

    fn check_place(&self, path: &TreePath) -> Result<()> {
        match self.is_lost {
            true => Err(Error::new(Operation::Write, ErrorKind::Io).with_path(path)),
            false => Ok(()),
        }
    }

    fn touched(&mut self) -> io::Result<&File> {
        if self.touched.is_none() {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC;
            let list = beside(&self.place, BEGUN);
            let list = rustix::fs::openat(CWD, list, flags, Mode::RUSR | Mode::WUSR)?;
            self.touched = Some(list.into());
        }
        self.touched.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns the directory for what is kept at its own path.
    fn before(&self) -> PathBuf {
        self.place.join(BEFORE)
    }

    fn copy(&self, path: &TreePath) -> Result<()> {
        self.make().map_err(|errno| failure::any(Operation::Write, path, errno))?;
        let mut kept = HostBackend::open_ambient(self.before())?;
        kept.replace(&*self.host, &Scope::paths([path.clone()])).map(drop)
    }

    /// Finds what is to be kept; what is not there, or special, is not.
    fn find<'p>(&self, path: &'p TreePath) -> SystemResult<Option<(Slot<'p>, Stat)>> {
        let slot = match self.host.root.open_parent(path) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            slot => slot?,
        };
        let Some(slot) = slot else { return Ok(None) };
        match rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(None),
            Ok(found) if entry::kind_of(found.st_mode) == Kind::Other => Ok(None),
            found => Ok(Some((slot, found?))),
        }
    }

    fn make(&self) -> SystemResult<()> {
        make(&self.place)?;
        make(&self.before())
    }

    /// Opens a directory of what is kept, making it and those above it.
    fn open(&self, path: &TreePath) -> SystemResult<OwnedFd> {
        self.make()?;
        let kept = rustix::fs::openat(CWD, self.before(), DIRECTORY, Mode::empty())?;
        path.segments().try_fold(kept, |kept, name| make_directory(kept.as_fd(), name))
    }

    fn link(
        &mut self,
        path: &TreePath,
        slot: &Slot<'_>,
        kind: Kind,
        fate: Fate,
    ) -> SystemResult<()> {
        if kind != Kind::Directory {
            return self.link_by_number(path, slot);
        }
        let into = self.open(&path.parent().unwrap_or_else(TreePath::root))?;
        link_entry(slot.directory.as_fd(), slot.name, into.as_fd(), kind, fate)
    }

    fn link_by_number(&mut self, path: &TreePath, slot: &Slot<'_>) -> SystemResult<()> {
        let place = beside(&self.place, &numbered(self.lines));
        rustix::fs::linkat(&slot.directory, slot.name, CWD, place, AtFlags::empty())?;
        self.numbers.push((path.clone(), self.lines));
        Ok(())
    }
}

/// Takes away what is not kept after all; where it stays, it goes with the operation.
fn remove(entry: &Path) {
    let _ = rustix::fs::unlinkat(CWD, entry, AtFlags::empty());
}

/// Finds the first FIFO, socket or device below a directory.
fn first_special(tree: &dyn Tree, directory: &TreePath) -> Option<TreePath> {
    tree.list(directory).ok()?.into_iter().find_map(|entry| {
        let path = directory.join(&entry.name).ok()?;
        match entry.kind {
            Kind::Other => Some(path),
            Kind::Directory => descend(|| first_special(tree, &path)),
            Kind::File | Kind::Symlink => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::Filesystem as _;
    use crate::ops;

    /// Once, what was kept stayed under the number that the next operation got, and was taken for its own.
    #[test]
    fn what_cannot_be_listed_is_not_kept_and_nothing_is_after_it() {
        let (mut files, mut store) =
            (HostBackend::temporary().unwrap(), HostBackend::temporary().unwrap());
        let path = |text: &str| TreePath::parse(text).unwrap();
        for name in ["a", "b"] {
            ops::write(&mut files, &path(name), name, &ops::WriteOptions::default()).unwrap();
        }
        let place = store.directory().unwrap().join("7");
        let mut image = files.before_image(&place).unwrap();
        store.create_dir(&path("7.begun")).unwrap();
        assert!(image.keep(&path("a")).is_err());
        assert!(store.stat(&path("7.0")).is_err());
        store.remove(&path("7.begun"), crate::Recursion::OnlyEmpty).unwrap();
        assert_eq!(image.keep(&path("b")).unwrap_err().kind(), ErrorKind::Io);
        assert!(store.list(&TreePath::root()).unwrap().is_empty());
        assert!(image.tree().unwrap().list(&TreePath::root()).unwrap().is_empty());
    }
}
