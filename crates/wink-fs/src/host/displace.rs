//! Taking entries out of view, in one rename that keeps them where that is wanted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, Stat};
use rustix::io::{Errno, Result as SystemResult};

use super::capture::stamp::{self, Stamp};
use super::inside::Inside;
use super::root::{Root, Slot};
use super::staging::Area;
use super::{Host, HostBackend, aside, entry, failure, purge, replace};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::{Backend as _, EntryIdentity, Recursion, Removed};
use crate::layer::Source;
use crate::operation::Left;
use crate::path::{MAX_PATH_BYTES, TreePath};
use crate::refusal;
use crate::tree::{Kind, Tree};

/// What was at a path when it was looked at, to tell whether that is what came out.
struct Looked {
    stamp: Stamp,
    /// What was in it, where it is a directory.
    inside: Option<Inside>,
}

/// One entry on its way out of view.
struct Displacement<'a> {
    host: &'a Arc<Host>,
    path: &'a TreePath,
    slot: &'a Slot<'a>,
    /// Where it goes: to be kept, or to be purged.
    kept: Option<PathBuf>,
    /// What it must be, where only that may go.
    expected: Option<Looked>,
}

/// Removes an entry.
pub(super) fn remove(
    host: &Arc<Host>,
    path: &TreePath,
    slot: &Slot<'_>,
    recursion: Recursion,
) -> Result<Removed> {
    let failed = |errno| failure::looking(Operation::Delete, path, errno);
    let found = look(slot).map_err(failed)?;
    let is_directory = entry::kind_of(found.st_mode) == Kind::Directory;
    let expected = match recursion {
        Recursion::Unchanged(identity) => Some(check_identity(host, path, slot, identity)?),
        _ => None,
    };
    let out = Displacement { host, path, slot, kept: host.kept_place(path), expected };
    match (is_directory, recursion) {
        (false, _) => out.entry(),
        (true, Recursion::OnlyEmpty) => out.empty_directory(),
        (true, _) => out.directory(),
    }
}

fn look(slot: &Slot<'_>) -> SystemResult<Stat> {
    rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Refuses an entry that is not the one that is meant, and remembers its stamps.
fn check_identity(
    host: &Host,
    path: &TreePath,
    slot: &Slot<'_>,
    identity: EntryIdentity,
) -> Result<Looked> {
    let failed = |errno| failure::looking(Operation::Delete, path, errno);
    // The stamps first: what changes after them shows in what comes out.
    let looked = Looked::at(host, slot.directory.as_fd(), slot.name).map_err(failed)?;
    match Left::at(host, path)? {
        Some(Left::Entry(found)) if found == identity.0 => Ok(looked),
        _ => Err(refusal::not_expected(path)),
    }
}

impl Looked {
    fn at(host: &Host, directory: BorrowedFd<'_>, name: &[u8]) -> SystemResult<Self> {
        let stamp = Stamp::of(&stamp::look(directory, name)?);
        let inside = match stamp.kind() {
            Kind::Directory => Some(Inside::of(&host.root, directory, name)?),
            _ => None,
        };
        Ok(Self { stamp, inside })
    }

    fn is_same_but_renamed(&self, other: &Self) -> bool {
        self.stamp.is_same_but_renamed(&other.stamp) && self.inside == other.inside
    }
}

impl Displacement<'_> {
    fn failed(&self, errno: Errno) -> Error {
        failure::looking(Operation::Delete, self.path, errno)
    }

    /// Removes what is no directory.
    fn entry(&self) -> Result<Removed> {
        if self.kept.is_none() && self.expected.is_none() {
            rustix::fs::unlinkat(&self.slot.directory, self.slot.name, AtFlags::empty())
                .map_err(|errno| self.failed(errno))?;
            return Ok(Removed::new(1, 0));
        }
        self.out_of_view(|found| match found {
            Kind::Directory => Err(Errno::ISDIR),
            _ => Ok(()),
        })?;
        Ok(Removed::new(1, 0))
    }

    fn empty_directory(&self) -> Result<Removed> {
        // First, so that one that was removed is always kept.
        if let Some(kept) = &self.kept {
            rustix::fs::mkdirat(CWD, kept, Mode::RWXU).map_err(|errno| self.failed(errno))?;
        }
        rustix::fs::unlinkat(&self.slot.directory, self.slot.name, AtFlags::REMOVEDIR)
            .inspect_err(|_| self.kept.iter().for_each(|kept| aside::remove(kept)))
            .map_err(|errno| self.failed(errno))?;
        Ok(Removed::new(0, 1))
    }

    /// Removes a directory with all that is in it.
    fn directory(&self) -> Result<Removed> {
        // Refuses what cannot be removed, such as another file system below, while all is in place.
        let survey = purge::survey(&self.host.root, self.slot.directory.as_fd(), self.slot.name)
            .map_err(|errno| failure::any(Operation::Delete, self.path, errno))?;
        let above = self.path.as_bytes().len() - self.slot.name.len();
        if above + survey.longest > MAX_PATH_BYTES {
            return Err(refusal::not_all_named(self.path));
        }
        if let (Some(special), Some(_)) = (&survey.special, &self.kept) {
            let inside = TreePath::from_disk(special)?;
            let name = TreePath::from_disk(self.slot.name)?;
            let path = inside.rebase(&name, self.path).unwrap_or_else(|| Ok(self.path.clone()))?;
            return Err(refusal::holds_special(&path));
        }
        self.out_of_view(|_| Ok(()))?;
        Ok(survey.counts)
    }

    /// Takes the entry out of view, and puts it back where it is not what it must be.
    fn out_of_view(&self, check: impl FnOnce(Kind) -> SystemResult<()>) -> Result<()> {
        let area = self.host.area().map_err(|errno| self.failed(errno))?;
        if let Some(kept) = &self.kept {
            match self.rename_to(CWD, kept.as_os_str().as_encoded_bytes()) {
                Err(Errno::XDEV) => return self.out_after_a_copy(&area, kept, check),
                renamed => renamed.map_err(|errno| self.failed(errno))?,
            }
            let checked = parent_of(kept)
                .map_err(|errno| self.failed(errno))
                .and_then(|(parent, name)| self.check_displaced(parent.as_fd(), name, check));
            return checked.inspect_err(|_| self.put_back(kept));
        }
        let name = area.new_name();
        self.rename_to(area.directory(), name.as_bytes()).map_err(|errno| self.failed(errno))?;
        self.check_displaced(area.directory(), name.as_bytes(), check).or_else(|error| {
            self.bring_back(&area, name.clone())?;
            Err(error)
        })?;
        // It is gone from the workspace; what resists now (an immutable file, say) stays aside.
        area.discard(&name);
        Ok(())
    }

    /// Puts back what is kept and was not meant. Where something else has its place by now, it stays kept, and the
    /// operation is recorded for it.
    fn put_back(&self, kept: &Path) {
        let (to, name, flags) = (&self.slot.directory, self.slot.name, RenameFlags::NOREPLACE);
        let _ = rustix::fs::renameat_with(CWD, kept, to, name, flags);
    }

    fn rename_to(&self, directory: BorrowedFd<'_>, name: &[u8]) -> SystemResult<()> {
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(
            &self.slot.directory,
            self.slot.name,
            directory,
            name,
            flags,
        ) {
            // Some file systems know only the plain rename; nothing has that name.
            Err(Errno::INVAL) => {
                rustix::fs::renameat(&self.slot.directory, self.slot.name, directory, name)
            }
            renamed => renamed,
        }
    }

    /// Refuses what came out where it is not what was meant.
    fn check_displaced(
        &self,
        directory: BorrowedFd<'_>,
        name: &[u8],
        check: impl FnOnce(Kind) -> SystemResult<()>,
    ) -> Result<()> {
        let failed = |errno| self.failed(errno);
        let found = Stamp::of(&stamp::look(directory, name).map_err(failed)?);
        check(found.kind()).map_err(failed)?;
        let Some(expected) = &self.expected else { return Ok(()) };
        let displaced = Looked::at(self.host, directory, name).map_err(failed)?;
        match displaced.is_same_but_renamed(expected) {
            true => Ok(()),
            false => Err(refusal::not_expected(self.path)),
        }
    }

    fn bring_back(&self, area: &Area, name: String) -> Result<()> {
        replace::bring_back(self.host, area, self.path, name)
    }

    /// Does the same where what is kept is on another file system, or the entry cannot be renamed as a whole, as
    /// with a directory of the lower layer of OverlayFS: it is copied first.
    fn out_after_a_copy(
        &self,
        area: &Arc<Area>,
        kept: &Path,
        check: impl FnOnce(Kind) -> SystemResult<()>,
    ) -> Result<()> {
        let failed = |errno| self.failed(errno);
        let looked = Looked::at(self.host, self.slot.directory.as_fd(), self.slot.name);
        let looked = looked.map_err(failed)?;
        check(looked.stamp.kind()).map_err(failed)?;
        copy_entry(self.host, self.path, kept)?;
        self.out_of_view_as(area, &looked).inspect_err(|_| discard(kept))
    }

    /// Takes away what was copied, if it is still what it was then.
    fn out_of_view_as(&self, area: &Arc<Area>, looked: &Looked) -> Result<()> {
        let failed = |errno| self.failed(errno);
        let name = area.new_name();
        match self.rename_to(area.directory(), name.as_bytes()) {
            Err(Errno::XDEV) => {
                // What is written into it from now on stays where it is, and the directory with it.
                return purge::purge(&self.host.root, self.slot.directory.as_fd(), self.slot.name)
                    .map_err(failed);
            }
            renamed => renamed.map_err(failed)?,
        }
        let displaced = Looked::at(self.host, area.directory(), name.as_bytes()).map_err(failed)?;
        if !displaced.is_same_but_renamed(looked) {
            self.bring_back(area, name)?;
            return Err(changed_meanwhile(self.path));
        }
        area.discard(&name);
        Ok(())
    }
}

/// Opens the directory of a place outside of the workspace, and returns it with the place's name there.
fn parent_of(place: &Path) -> SystemResult<(OwnedFd, &[u8])> {
    let (parent, name) = place.parent().zip(place.file_name()).ok_or(Errno::NOENT)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat(CWD, parent, flags, Mode::empty())?;
    Ok((parent, name.as_encoded_bytes()))
}

/// Copies an entry, with all that is below it, to a place outside of the workspace.
pub(super) fn copy_entry(host: &Arc<Host>, path: &TreePath, place: &Path) -> Result<()> {
    let missing = || Error::new(Operation::Delete, ErrorKind::NotFound).with_path(path);
    let (parent, name) = place.parent().zip(place.file_name()).ok_or_else(missing)?;
    let mut holder = HostBackend::open_ambient(parent)?;
    let name = TreePath::from_disk(name.as_encoded_bytes())?;
    let tree: &dyn Tree = &**host;
    holder.install(&name, Source { tree, at: path }).map_err(|error| error.with_path(path))
}

/// Takes away a copy that is not needed; where it stays, it goes with the operation.
fn discard(kept: &Path) {
    let Some(parent) = kept.parent().and_then(|it| Root::open_ambient(it, None).ok()) else {
        return;
    };
    let name = kept.file_name().unwrap_or_default().as_encoded_bytes();
    if rustix::fs::unlinkat(&parent, name, AtFlags::empty()) == Err(Errno::ISDIR) {
        let _ = purge::purge(&parent, parent.as_fd(), name);
    }
}

/// Says that another program wrote there between a look at the files and their change.
fn changed_meanwhile(path: &TreePath) -> Error {
    Error::new(Operation::Delete, ErrorKind::Conflict).with_path(path).with_detail(
        "another program changed it, or what is in it, meanwhile; nothing was removed, try again",
    )
}
