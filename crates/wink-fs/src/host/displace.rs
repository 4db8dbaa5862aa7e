//! Takes entries out of view, with one rename that also keeps them as pre-images.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, Result as SystemResult};

use super::capture::stamp::{self, Stamp};
use super::copy::transfer::{self, SlotRef};
use super::preimage::fingerprint::Fingerprint;
use super::preimage::write;
use super::root::{Root, Slot};
use super::staging::Area;
use super::{HostBackend, HostTree, entry, failure, purge, replace};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::layer::Source;
use crate::filesystem::{Backend as _, EntryIdentity, Recursion, Removed};
use crate::oplog::ContentId;
use crate::path::{MAX_PATH_BYTES, TreePath};
use crate::tree::{Kind, Tree};

/// The state of an entry before it is displaced, to be compared with what came out.
pub(super) struct Observed {
    pub(super) stamp: Stamp,
    /// The content, if it is a directory.
    pub(super) inside: Option<Fingerprint>,
    /// Whether a program may have it, or something below it, open for writing.
    pub(super) is_open: bool,
}

/// One entry on its way out of view.
struct Displacement<'a> {
    host: &'a Arc<HostTree>,
    path: &'a TreePath,
    slot: &'a Slot<'a>,
    /// Whether it was a directory when it was checked; a directory that took its place since must not go.
    is_directory: bool,
    /// Where its pre-image goes; `None` deletes it.
    preimage: Option<PathBuf>,
    /// The only state in which it may be removed, and its stamps.
    expected: Option<(EntryIdentity, Observed)>,
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
    let out = Displacement {
        host,
        path,
        slot,
        is_directory,
        preimage: host.preimage_path(path),
        expected,
    };
    let is_kept_file = out.preimage.is_some() && entry::kind_of(found.st_mode) == Kind::File;
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

/// Checks that an entry is in the expected state, and returns its stamps.
fn check_identity(
    host: &HostTree,
    path: &TreePath,
    slot: &Slot<'_>,
    identity: EntryIdentity,
) -> Result<Observed> {
    let failed = |errno| failure::looking(Operation::Delete, path, errno);
    // Stat first: a change after this shows when what came out is compared.
    let observed = Observed::at(host, slot.directory.as_fd(), slot.name).map_err(failed)?;
    match ContentId::at(host, path)? {
        Some(ContentId::Entry(found)) if found == identity.0 => Ok(observed),
        _ => Err(checks::not_expected(path)),
    }
}

impl Observed {
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

/// Makes an empty directory with the permission bits of another.
pub(super) fn make_alike(slot: &Slot<'_>, preimage: &Path) -> SystemResult<()> {
    let stat = rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW)?;
    rustix::fs::mkdirat(CWD, preimage, Mode::RWXU)?;
    rustix::fs::chmod(preimage, Mode::from_raw_mode(stat.st_mode & 0o7777))
}

impl Displacement<'_> {
    fn failed(&self, errno: Errno) -> Error {
        failure::looking(Operation::Delete, self.path, errno)
    }

    /// Removes a file, link or special file.
    fn entry(&self) -> Result<Removed> {
        if self.preimage.is_none() && self.expected.is_none() {
            rustix::fs::unlinkat(&self.slot.directory, self.slot.name, AtFlags::empty())
                .map_err(|errno| self.failed(errno))?;
            return Ok(Removed::new(1, 0));
        }
        self.out_of_view()?;
        Ok(Removed::new(1, 0))
    }

    fn empty_directory(&self) -> Result<Removed> {
        // Before the removal: after a kill in between, the directory is still restorable.
        if let Some(preimage) = &self.preimage {
            make_alike(self.slot, preimage).map_err(|errno| self.failed(errno))?;
        }
        rustix::fs::unlinkat(&self.slot.directory, self.slot.name, AtFlags::REMOVEDIR)
            .inspect_err(|_| self.preimage.iter().for_each(|preimage| write::remove(preimage)))
            .map_err(|errno| self.failed(errno))?;
        Ok(Removed::new(0, 1))
    }

    /// Removes a directory and everything below it.
    fn directory(&self) -> Result<Removed> {
        // Refuse, while everything is still in place, what would fail half way: a mount below, say.
        let survey = match self.preimage {
            Some(_) => purge::survey_readable,
            None => purge::survey,
        };
        // The survey also counts what is removed; afterwards the directory is out of view and may be gone.
        let survey = survey(&self.host.root, self.slot.directory.as_fd(), self.slot.name)
            .map_err(|errno| failure::any(Operation::Delete, self.path, errno))?;
        let above = self.path.as_bytes().len() - self.slot.name.len();
        // Undo could not name such an entry, and so could not restore it.
        if above + survey.longest > MAX_PATH_BYTES {
            return Err(checks::not_all_named(self.path));
        }
        let inside = |path: &[u8]| {
            let path = TreePath::from_disk(path)?;
            let name = TreePath::from_disk(self.slot.name)?;
            path.rebase(&name, self.path).unwrap_or_else(|| Ok(self.path.clone()))
        };
        // A FIFO or socket can be renamed but not copied or compared, so a pre-image with one could not be restored.
        if let (Some(special), Some(_)) = (&survey.special, &self.preimage) {
            return Err(checks::holds_special(&inside(special)?));
        }
        if let Some(unreadable) = &survey.unreadable {
            return Err(checks::unreadable(Operation::Delete, &inside(unreadable)?));
        }
        self.out_of_view()?;
        Ok(survey.counts)
    }

    /// Takes the entry out of view, and puts it back if it is not the expected one.
    fn out_of_view(&self) -> Result<()> {
        let area = self.host.area().map_err(|errno| self.failed(errno))?;
        let Some(preimage) = &self.preimage else {
            let name = area.new_name();
            self.move_to_staging(&area, &name)?;
            match &self.expected {
                // A program may still write into it: it must go only in the expected state.
                Some((identity, observed)) => {
                    let expected = || Ok(Some(ContentId::Entry(identity.0)));
                    replace::discard_unless_open(
                        self.host, &area, self.path, &name, observed, expected,
                    );
                }
                // The entry is gone from the workspace already. What cannot be deleted now (an immutable file, say)
                // stays in staging.
                None => area.discard(&name),
            }
            return Ok(());
        };
        let (parent, name) = parent_of(preimage).map_err(|errno| self.failed(errno))?;
        let to = SlotRef(parent.as_fd(), name);
        // Out of view and kept by the same rename. A copy made before would miss a save in between, and one made after
        // would be missing after a kill.
        match transfer::transfer(self.place(), to) {
            Err(Errno::XDEV) => self.copy_to_other_device(&area, preimage),
            moved => {
                moved.map_err(|errno| self.failed(errno))?;
                // If its place was taken meanwhile, it stays a pre-image, and the operation is recorded as failed.
                self.check_displaced(to).inspect_err(|_| _ = transfer::transfer(to, self.place()))
            }
        }
    }

    fn place(&self) -> SlotRef<'_> {
        SlotRef::of(self.slot)
    }

    /// Moves the entry into the staging directory.
    fn move_to_staging(&self, area: &Area, name: &str) -> Result<()> {
        let to = SlotRef(area.directory(), name.as_bytes());
        transfer::transfer(self.place(), to).map_err(|errno| self.failed(errno))?;
        self.check_displaced(to).or_else(|error| {
            replace::bring_back(self.host, area, self.path, name.to_owned())?;
            Err(error)
        })
    }

    /// Keeps the pre-image on another file system.
    ///
    /// The entry is copied from the staging directory, where no program finds it by name any more.
    fn copy_to_other_device(&self, area: &Arc<Area>, preimage: &Path) -> Result<()> {
        let name = area.new_name();
        // Not synced: it protects from a kill. A power loss may lose the last calls anyway.
        replace::journal_return(self.host, area, self.path, &name)
            .map_err(|error| Error::system(Operation::Delete, error).with_path(self.path))?;
        self.move_to_staging(area, &name)
            .and_then(|()| copy_to_preimage(self.host, area, self.path, &name, preimage))
            .inspect_err(|_| replace::end_return(self.host, area, &name))
    }

    /// Checks that what came out is what was meant.
    fn check_displaced(&self, at: SlotRef<'_>) -> Result<()> {
        let failed = |errno| self.failed(errno);
        let found = Stamp::of(&stamp::look(at.0, at.1).map_err(failed)?);
        if found.kind() == Kind::Directory && !self.is_directory {
            return Err(failed(Errno::ISDIR));
        }
        let Some((identity, observed)) = &self.expected else { return Ok(()) };
        let displaced = Observed::at(self.host, at.0, at.1).map_err(failed)?;
        let is_expected = displaced.is_same_but_renamed(observed)
            // A move entry by entry gives every entry another stamp: compare contents then.
            || ContentId::at(&open_as_tree(at.0).map_err(failed)?, &TreePath::from_disk(at.1)?)?
                == Some(ContentId::Entry(identity.0));
        if is_expected { Ok(()) } else { Err(checks::not_expected(self.path)) }
    }
}

/// Copies a displaced entry from the staging directory to its pre-image on another file system.
///
/// Afterwards the entry is deleted, or stays as long as a program may write into it. If it cannot be copied, it moves
/// back.
pub(super) fn copy_to_preimage(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: &str,
    preimage: &Path,
) -> Result<()> {
    let failed = |errno| failure::looking(Operation::Delete, path, errno);
    // Before the copy: a write after this shows.
    let observed = Observed::at(host, area.directory(), name.as_bytes()).map_err(failed)?;
    let copied = open_as_tree(area.directory()).map_err(failed).and_then(|staging| {
        let at = TreePath::parse(name)?;
        copy_entry(&staging, &at, preimage).map_err(|error| error.with_path(path))
    });
    copied.or_else(|error| {
        discard(preimage);
        replace::bring_back(host, area, path, name.to_owned())?;
        Err(error)
    })?;
    replace::discard_unless_open(host, area, path, name, &observed, || {
        replace::content_of(preimage)
    });
    Ok(())
}

/// Opens a directory that is no workspace, as a tree.
pub(super) fn open_as_tree(directory: BorrowedFd<'_>) -> SystemResult<HostTree> {
    let handle = directory.try_clone_to_owned().map_err(|_| Errno::MFILE)?;
    Ok(HostTree::new(Root::from_handle(handle, None)?))
}

/// Opens the parent of a path outside of the workspace, and returns it with the name.
pub(super) fn parent_of(place: &Path) -> SystemResult<(OwnedFd, &[u8])> {
    let (parent, name) = place.parent().zip(place.file_name()).ok_or(Errno::NOENT)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = rustix::fs::openat(CWD, parent, flags, Mode::empty())?;
    Ok((parent, name.as_encoded_bytes()))
}

/// Copies an entry, with everything below it, to a path outside of the workspace.
fn copy_entry(tree: &dyn Tree, path: &TreePath, place: &Path) -> Result<()> {
    let missing = || Error::new(Operation::Delete, ErrorKind::NotFound).with_path(path);
    let (parent, name) = place.parent().zip(place.file_name()).ok_or_else(missing)?;
    let mut holder = HostBackend::open_ambient(parent)?;
    let name = TreePath::from_disk(name.as_encoded_bytes())?;
    holder.install(&name, Source { tree, at: path })
}

/// Deletes an incomplete pre-image; what cannot be deleted goes with the operation.
fn discard(preimage: &Path) {
    let Some(parent) = preimage.parent().and_then(|it| Root::open_ambient(it, None).ok()) else {
        return;
    };
    let name = preimage.file_name().unwrap_or_default().as_encoded_bytes();
    if rustix::fs::unlinkat(&parent, name, AtFlags::empty()) == Err(Errno::ISDIR) {
        let _ = purge::purge(&parent, parent.as_fd(), name);
    }
}
