//! Moves an entry from one path to another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, RenameFlags};
use rustix::io::{Errno, Result as SystemResult};

use super::copy::copy_file;
use super::copy::transfer::{self, SlotRef};
use super::displace::Observed;
use super::preimage::write;
use super::root::Slot;
use super::{HostTree, displace, entry, failure, replace};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::{Recursion, Replacement};
use crate::path::TreePath;
use crate::tree::Kind;

/// The kind and the inode of an entry.
pub(super) struct TargetEntry {
    pub(super) kind: Kind,
    identity: (u64, u64),
}

/// One entry on its way.
pub(super) struct Relocation<'a> {
    pub(super) host: &'a Arc<HostTree>,
    pub(super) source: Slot<'a>,
    pub(super) moved: TargetEntry,
    pub(super) from: &'a TreePath,
    pub(super) target: Slot<'a>,
    pub(super) to: &'a TreePath,
    /// Where the displaced entry goes, if it is preimage.
    pub(super) preimage: Option<PathBuf>,
}

/// Stats the entry to move.
pub(super) fn look_at_source(source: &Slot<'_>, from: &TreePath) -> Result<TargetEntry> {
    look(source).map_err(|errno| failure::looking(Operation::Rename, from, errno))
}

impl Relocation<'_> {
    fn failed(&self, errno: Errno) -> Error {
        match errno {
            Errno::NOTEMPTY => {
                Error::new(Operation::Rename, ErrorKind::NotEmpty).with_path(self.to)
            }
            _ => failure::any(Operation::Rename, self.to, errno),
        }
    }

    /// Moves the entry.
    pub(super) fn run(&self, replacement: Replacement) -> Result<()> {
        let there = match (replacement, look(&self.target)) {
            (Replacement::Refuse, _) | (_, Err(Errno::NOENT)) => None,
            (Replacement::Replace, there) => Some(there.map_err(|errno| self.failed(errno))?),
        };
        let moved = match &there {
            None => self.transfer(),
            Some(there) => {
                checks::check_replaceable(self.moved.kind, there.kind, self.to)?;
                let is_kept = self.preimage.is_some() && there.kind == Kind::File;
                if is_kept && !entry::may_be_read(self.target.directory.as_fd(), self.target.name) {
                    return Err(checks::unreadable(Operation::Rename, self.to));
                }
                match self.replace(there) {
                    // OverlayFS cannot exchange a lower directory: delete the empty one first.
                    Err(Errno::XDEV) if self.moved.kind == Kind::Directory => {
                        displace::remove(self.host, self.to, &self.target, Recursion::OnlyEmpty)
                            .map_err(|error| error.during(Operation::Rename))?;
                        self.transfer()
                    }
                    replaced => replaced,
                }
            }
        };
        moved.map_err(|errno| self.failed(errno))
    }

    fn transfer(&self) -> SystemResult<()> {
        transfer::transfer(SlotRef::of(&self.source), SlotRef::of(&self.target))
    }

    fn replace(&self, there: &TargetEntry) -> SystemResult<()> {
        let is_same_file = self.moved.identity == there.identity;
        // Onto itself: parking the entry would take it out of view for a moment, for nothing.
        if is_same_file && same_entry(&self.source, &self.target) {
            return Ok(());
        }
        let Some(preimage) = &self.preimage else {
            return self.replace_without_preimage(is_same_file);
        };
        // Park the entry at the pre-image's path and exchange, so that the displaced entry is preimage by the same rename.
        let (parent, name) = displace::parent_of(preimage)?;
        let parked = SlotRef(parent.as_fd(), name);
        match transfer::transfer(SlotRef::of(&self.source), parked) {
            Err(Errno::XDEV) => self.replace_across_devices(preimage),
            renamed => {
                renamed?;
                self.exchange(parked)
            }
        }
    }

    /// Exchanges the parked entry with the one at the target; if that fails or displaces the wrong thing, the entry
    /// moves back.
    fn exchange(&self, parked: SlotRef<'_>) -> SystemResult<()> {
        let target = SlotRef::of(&self.target);
        let is_directory = transfer::is_directory(parked);
        let exchanged = match exchange(parked, target) {
            // The target disappeared meanwhile, so nothing is displaced.
            Err(Errno::NOENT) => transfer::transfer(parked, target),
            exchanged => exchanged.and_then(|()| {
                let may_go = check_displaced(parked, is_directory);
                may_go.or_else(|errno| exchange(parked, target).and(Err(errno)))
            }),
        };
        // If its old place was taken meanwhile, the entry stays at the pre-image's path.
        exchanged.inspect_err(|_| _ = transfer::transfer(parked, SlotRef::of(&self.source)))
    }

    /// Replaces the target when its pre-image is on another file system.
    ///
    /// The pre-image is a copy, and the displaced entry stays in staging as long as a program may write into it.
    fn replace_across_devices(&self, preimage: &Path) -> SystemResult<()> {
        let area = self.host.area()?;
        let name = area.new_name();
        let parked = Slot::at(area.directory(), name.as_bytes())?;
        let target = (self.target.directory.as_fd(), self.target.name);
        // Before the copy, so that a write during it shows when the displaced entry is compared.
        let copied = Observed::at(self.host, target.0, target.1)?;
        let copy = match copied.stamp.kind() {
            Kind::Directory => displace::make_alike(&self.target, preimage),
            _ => copy_entry(&self.target, preimage),
        };
        copy.inspect_err(|_| write::remove(preimage))?;
        // From the next rename on, the moved entry is only in staging: after a kill it must come back.
        replace::journal_return(self.host, &area, self.from, &name)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let exchanged = transfer::transfer(SlotRef::of(&self.source), SlotRef::of(&parked))
            .and_then(|()| self.exchange(SlotRef::of(&parked)));
        if exchanged.is_err() || !area.holds(&name) {
            write::remove(preimage);
            replace::end_return(self.host, &area, &name);
            return exchanged;
        }
        let displaced = Observed::at(self.host, area.directory(), name.as_bytes())?;
        // Another program saved between the copy and the exchange: what came out is kept instead of the older copy.
        if !displaced.stamp.is_same_but_renamed(&copied.stamp) {
            write::remove(preimage);
            return displace::copy_to_preimage(self.host, &area, self.to, &name, preimage)
                .map_err(|_| Errno::IO);
        }
        let observed = Observed { is_open: copied.is_open, ..displaced };
        let copy = || replace::content_of(preimage);
        replace::discard_unless_open(self.host, &area, self.to, &name, &observed, copy);
        Ok(())
    }

    fn replace_without_preimage(&self, is_same_file: bool) -> SystemResult<()> {
        let source = &self.source;
        let target = &self.target;
        if is_same_file {
            // Renaming one hard link over another of the same file does nothing, and the kernel reports success.
            return rustix::fs::unlinkat(&source.directory, source.name, AtFlags::empty());
        }
        let renamed =
            rustix::fs::renameat(&source.directory, source.name, &target.directory, target.name);
        // File systems may return either for a directory that is not empty.
        renamed.map_err(|errno| if errno == Errno::EXIST { Errno::NOTEMPTY } else { errno })
    }
}

/// Checks that the displaced entry may be replaced: a directory only by a directory, and only if it is empty.
fn check_displaced(displaced: SlotRef<'_>, is_by_directory: bool) -> SystemResult<()> {
    match (transfer::is_directory(displaced), is_by_directory) {
        (false, false) => Ok(()),
        (true, false) => Err(Errno::ISDIR),
        (false, true) => Err(Errno::NOTDIR),
        (true, true) if transfer::is_empty(displaced)? => Ok(()),
        (true, true) => Err(Errno::NOTEMPTY),
    }
}

fn exchange(a: SlotRef<'_>, b: SlotRef<'_>) -> SystemResult<()> {
    rustix::fs::renameat_with(a.0, a.1, b.0, b.1, RenameFlags::EXCHANGE)
}

/// Copies a file or a link to a path outside of the workspace.
fn copy_entry(slot: &Slot<'_>, place: &Path) -> SystemResult<()> {
    let stat = rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW)?;
    match entry::kind_of(stat.st_mode) {
        Kind::Symlink => {
            let target = rustix::fs::readlinkat(&slot.directory, slot.name, Vec::new())?;
            rustix::fs::symlinkat(target, CWD, place)
        }
        Kind::File => copy_file(slot, &stat, place),
        Kind::Directory => Err(Errno::ISDIR),
        Kind::Other => Err(Errno::NXIO),
    }
}

fn look(slot: &Slot<'_>) -> SystemResult<TargetEntry> {
    let stat = rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(TargetEntry { kind: entry::kind_of(stat.st_mode), identity: (stat.st_dev, stat.st_ino) })
}

/// Returns whether two slots are the same name in the same directory.
fn same_entry(a: &Slot<'_>, b: &Slot<'_>) -> bool {
    let directory =
        |slot: &Slot<'_>| rustix::fs::fstat(&slot.directory).map(|stat| (stat.st_dev, stat.st_ino));
    a.name == b.name && matches!((directory(a), directory(b)), (Ok(a), Ok(b)) if a == b)
}
