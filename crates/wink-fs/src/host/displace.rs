//! Taking entries out of view, in one rename that keeps them where that is wanted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, Result as SystemResult};

use super::capture::stamp::{self, Stamp};
use super::copy::transfer::{self, Place};
use super::preimage::fingerprint::Fingerprint;
use super::preimage::write;
use super::root::{Root, Slot};
use super::staging::Area;
use super::{HostBackend, HostTree, entry, failure, purge, replace};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::layer::Source;
use crate::filesystem::{Backend as _, EntryIdentity, Recursion, Removed};
use crate::oplog::Left;
use crate::path::{MAX_PATH_BYTES, TreePath};
use crate::tree::{Kind, Tree};

/// What was at a path when it was looked at, to tell whether that is what came out.
pub(super) struct Looked {
    pub(super) stamp: Stamp,
    /// What was in it, where it is a directory.
    pub(super) inside: Option<Fingerprint>,
    /// Whether a program may have had it open for writing, or something below it.
    pub(super) is_open: bool,
}

/// One entry on its way out of view.
struct Displacement<'a> {
    host: &'a Arc<HostTree>,
    path: &'a TreePath,
    slot: &'a Slot<'a>,
    /// Where it goes: to be kept, or to be purged.
    kept: Option<PathBuf>,
    /// What it must be, where only that may go, and its stamps.
    expected: Option<(EntryIdentity, Looked)>,
}

/// Removes an entry.
pub(super) fn remove(
    host: &Arc<HostTree>,
    path: &TreePath,
    slot: &Slot<'_>,
    recursion: Recursion,
) -> Result<Removed> {
    let failed = |errno| failure::looking(Operation::Delete, path, errno);
    let found = look(slot).map_err(failed)?;
    let is_directory = entry::kind_of(found.st_mode) == Kind::Directory;
    let expected = match recursion {
        Recursion::Unchanged(identity) => {
            Some((identity, check_identity(host, path, slot, identity)?))
        }
        _ => None,
    };
    let out = Displacement { host, path, slot, kept: host.kept_place(path), expected };
    let is_kept_file = out.kept.is_some() && entry::kind_of(found.st_mode) == Kind::File;
    if is_kept_file && !entry::may_be_read(slot.directory.as_fd(), slot.name) {
        return Err(checks::unreadable(Operation::Delete, path));
    }
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
    host: &HostTree,
    path: &TreePath,
    slot: &Slot<'_>,
    identity: EntryIdentity,
) -> Result<Looked> {
    let failed = |errno| failure::looking(Operation::Delete, path, errno);
    // The stamps first: what changes after them shows in what comes out.
    let looked = Looked::at(host, slot.directory.as_fd(), slot.name).map_err(failed)?;
    match Left::at(host, path)? {
        Some(Left::Entry(found)) if found == identity.0 => Ok(looked),
        _ => Err(checks::not_expected(path)),
    }
}

impl Looked {
    pub(super) fn at(
        host: &HostTree,
        directory: BorrowedFd<'_>,
        name: &[u8],
    ) -> SystemResult<Self> {
        let stamp = Stamp::of(&stamp::look(directory, name)?);
        let inside = match stamp.kind() {
            Kind::Directory => Some(Fingerprint::of(&host.root, directory, name)?),
            _ => None,
        };
        let is_open = Fingerprint::of_closed(&host.root, directory, name).is_err();
        Ok(Self { stamp, inside, is_open })
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
            .inspect_err(|_| self.kept.iter().for_each(|kept| write::remove(kept)))
            .map_err(|errno| self.failed(errno))?;
        Ok(Removed::new(0, 1))
    }

    /// Removes a directory with all that is in it.
    fn directory(&self) -> Result<Removed> {
        // Refuses what cannot be removed, such as another file system below, while all is in place.
        let survey = match self.kept {
            Some(_) => purge::survey_readable,
            None => purge::survey,
        };
        let survey = survey(&self.host.root, self.slot.directory.as_fd(), self.slot.name)
            .map_err(|errno| failure::any(Operation::Delete, self.path, errno))?;
        let above = self.path.as_bytes().len() - self.slot.name.len();
        if above + survey.longest > MAX_PATH_BYTES {
            return Err(checks::not_all_named(self.path));
        }
        let inside = |path: &[u8]| {
            let (path, name) = (TreePath::from_disk(path)?, TreePath::from_disk(self.slot.name)?);
            path.rebase(&name, self.path).unwrap_or_else(|| Ok(self.path.clone()))
        };
        if let (Some(special), Some(_)) = (&survey.special, &self.kept) {
            return Err(checks::holds_special(&inside(special)?));
        }
        if let Some(unreadable) = &survey.unreadable {
            return Err(checks::unreadable(Operation::Delete, &inside(unreadable)?));
        }
        self.out_of_view(|_| Ok(()))?;
        Ok(survey.counts)
    }

    /// Takes the entry out of view, and puts it back where it is not what it must be.
    fn out_of_view(&self, check: fn(Kind) -> SystemResult<()>) -> Result<()> {
        let area = self.host.area().map_err(|errno| self.failed(errno))?;
        let Some(kept) = &self.kept else {
            let name = area.new_name();
            self.out_to_area(&area, &name, check)?;
            match &self.expected {
                // A program may write into it still, and it was to go only as it was.
                Some((identity, looked)) => {
                    let expected = || Ok(Some(Left::Entry(identity.0)));
                    replace::discard_settled(self.host, &area, self.path, &name, looked, expected);
                }
                // It is gone from the workspace; what resists now (an immutable file, say) stays aside.
                None => area.discard(&name),
            }
            return Ok(());
        };
        let (parent, name) = parent_of(kept).map_err(|errno| self.failed(errno))?;
        let to = Place(parent.as_fd(), name);
        match transfer::transfer(self.place(), to) {
            Err(Errno::XDEV) => self.out_to_elsewhere(&area, kept, check),
            moved => {
                moved.map_err(|errno| self.failed(errno))?;
                // Where something else has its place by now, it stays kept, and the operation is recorded for it.
                self.check_displaced(to, check)
                    .inspect_err(|_| _ = transfer::transfer(to, self.place()))
            }
        }
    }

    fn place(&self) -> Place<'_> {
        Place::of(self.slot)
    }

    /// Takes it to the staging directory.
    fn out_to_area(
        &self,
        area: &Area,
        name: &str,
        check: fn(Kind) -> SystemResult<()>,
    ) -> Result<()> {
        let to = Place(area.directory(), name.as_bytes());
        transfer::transfer(self.place(), to).map_err(|errno| self.failed(errno))?;
        self.check_displaced(to, check).or_else(|error| {
            replace::bring_back(self.host, area, self.path, name.to_owned())?;
            Err(error)
        })
    }

    /// Does the same where it is kept on another file system: it is copied there from the staging directory, where no
    /// program finds it any more.
    fn out_to_elsewhere(
        &self,
        area: &Arc<Area>,
        kept: &Path,
        check: fn(Kind) -> SystemResult<()>,
    ) -> Result<()> {
        let name = area.new_name();
        replace::announce_return(self.host, area, self.path, &name)
            .map_err(|error| Error::system(Operation::Delete, error).with_path(self.path))?;
        self.out_to_area(area, &name, check)
            .and_then(|()| move_elsewhere(self.host, area, self.path, &name, kept))
            .inspect_err(|_| replace::settle_return(self.host, area, &name))
    }

    /// Refuses what came out where it is not what was meant.
    fn check_displaced(&self, at: Place<'_>, check: fn(Kind) -> SystemResult<()>) -> Result<()> {
        let failed = |errno| self.failed(errno);
        let found = Stamp::of(&stamp::look(at.0, at.1).map_err(failed)?);
        check(found.kind()).map_err(failed)?;
        let Some((identity, looked)) = &self.expected else { return Ok(()) };
        let displaced = Looked::at(self.host, at.0, at.1).map_err(failed)?;
        let is_expected = displaced.is_same_but_renamed(looked)
            // What was moved entry by entry has other stamps.
            || Left::at(&open_place(at.0).map_err(failed)?, &TreePath::from_disk(at.1)?)?
                == Some(Left::Entry(identity.0));
        if is_expected { Ok(()) } else { Err(checks::not_expected(self.path)) }
    }
}

/// Copies what went out of view, under a name in the staging directory, to where it is kept on another file system. It
/// goes then, or stays as long as a program may write into it. Where it cannot be copied, it comes back.
pub(super) fn move_elsewhere(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: &str,
    kept: &Path,
) -> Result<()> {
    let failed = |errno| failure::looking(Operation::Delete, path, errno);
    // First: what is written after it shows.
    let looked = Looked::at(host, area.directory(), name.as_bytes()).map_err(failed)?;
    let copied = open_place(area.directory()).map_err(failed).and_then(|staging| {
        let at = TreePath::parse(name)?;
        copy_entry(&staging, &at, kept).map_err(|error| error.with_path(path))
    });
    copied.or_else(|error| {
        discard(kept);
        replace::bring_back(host, area, path, name.to_owned())?;
        Err(error)
    })?;
    replace::discard_settled(host, area, path, name, &looked, || replace::content_of(kept));
    Ok(())
}

/// Opens a directory that is no workspace, to look at what is in it.
pub(super) fn open_place(directory: BorrowedFd<'_>) -> SystemResult<HostTree> {
    let handle = directory.try_clone_to_owned().map_err(|_| Errno::MFILE)?;
    Ok(HostTree::new(Root::from_handle(handle, None)?))
}

/// Opens the directory of a place outside of the workspace, and returns it with the place's name there.
pub(super) fn parent_of(place: &Path) -> SystemResult<(OwnedFd, &[u8])> {
    let (parent, name) = place.parent().zip(place.file_name()).ok_or(Errno::NOENT)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat(CWD, parent, flags, Mode::empty())?;
    Ok((parent, name.as_encoded_bytes()))
}

/// Copies an entry, with all that is below it, to a place outside of the workspace.
fn copy_entry(tree: &dyn Tree, path: &TreePath, place: &Path) -> Result<()> {
    let missing = || Error::new(Operation::Delete, ErrorKind::NotFound).with_path(path);
    let (parent, name) = place.parent().zip(place.file_name()).ok_or_else(missing)?;
    let mut holder = HostBackend::open_ambient(parent)?;
    let name = TreePath::from_disk(name.as_encoded_bytes())?;
    holder.install(&name, Source { tree, at: path })
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
