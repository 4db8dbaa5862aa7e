//! Moving an entry from one place to another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, RenameFlags};
use rustix::io::{Errno, Result as SystemResult};

use super::root::Slot;
use super::{Host, HostBackend, aside, entry, failure, purge};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Replacement;
use crate::layer::Source;
use crate::path::TreePath;
use crate::refusal;
use crate::tree::{Kind, Tree};

/// What stands at a place: its kind, and which file it is.
pub(super) struct Found {
    pub(super) kind: Kind,
    identity: (u64, u64),
}

/// One entry on its way.
pub(super) struct Relocation<'a> {
    pub(super) source: Slot<'a>,
    pub(super) moved: Found,
    pub(super) target: Slot<'a>,
    pub(super) to: &'a TreePath,
    /// Where what it displaces is to go, if that is to be kept.
    pub(super) kept: Option<PathBuf>,
}

/// Looks at the entry that is to be moved.
pub(super) fn look_at_source(source: &Slot<'_>, from: &TreePath) -> Result<Found> {
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

    /// Moves the entry; XDEV says that it cannot be renamed and has to be copied.
    pub(super) fn run(&self, replacement: Replacement) -> Result<Result<(), Errno>> {
        let there = match (replacement, look(&self.target)) {
            (Replacement::Refuse, _) | (_, Err(Errno::NOENT)) => None,
            (Replacement::Replace, there) => Some(there.map_err(|errno| self.failed(errno))?),
        };
        let renamed = match &there {
            None => self.rename(RenameFlags::NOREPLACE),
            Some(there) => {
                refusal::check_replaceable(self.moved.kind, there.kind, self.to)?;
                self.replace(there)
            }
        };
        match renamed {
            Err(Errno::XDEV) => Ok(Err(Errno::XDEV)),
            renamed => renamed.map(Ok).map_err(|errno| self.failed(errno)),
        }
    }

    fn replace(&self, there: &Found) -> SystemResult<()> {
        if self.moved.identity == there.identity {
            return self.replace_itself();
        }
        let Some(kept) = &self.kept else {
            return self.rename(RenameFlags::empty()).map_err(|errno| match errno {
                Errno::EXIST => Errno::NOTEMPTY,
                errno => errno,
            });
        };
        // First, so that what is displaced is kept whenever the process dies.
        self.keep(there, kept)?;
        let exchanged = self.rename(RenameFlags::EXCHANGE);
        exchanged.and_then(|()| self.settle(there, kept)).inspect_err(|_| aside::remove(kept))
    }

    /// Keeps what is about to be displaced: an empty directory, or a further link of what is no directory.
    fn keep(&self, there: &Found, kept: &Path) -> SystemResult<()> {
        if there.kind == Kind::Directory {
            return rustix::fs::mkdirat(CWD, kept, Mode::RWXU);
        }
        let (directory, name) = (&self.target.directory, self.target.name);
        rustix::fs::linkat(directory, name, CWD, kept, AtFlags::empty())
    }

    /// Takes away what was displaced, which is where the moved entry was; it is kept as it came out.
    fn settle(&self, there: &Found, kept: &Path) -> SystemResult<()> {
        let (directory, name) = (&self.source.directory, self.source.name);
        let settled = look(&self.source).and_then(|displaced| match (there.kind, displaced.kind) {
            (Kind::Directory, Kind::Directory) => {
                rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)
            }
            (Kind::Directory, _) | (_, Kind::Directory) => Err(Errno::NOTEMPTY),
            _ if displaced.identity == there.identity => {
                rustix::fs::unlinkat(directory, name, AtFlags::empty())
            }
            // Another program saved it since it was kept.
            _ => rustix::fs::renameat(directory, name, CWD, kept),
        });
        settled.inspect_err(|_| {
            let _ = self.rename(RenameFlags::EXCHANGE);
        })
    }

    /// Between two hard links of one file the kernel renames nothing and reports success.
    fn replace_itself(&self) -> SystemResult<()> {
        if same_entry(&self.source, &self.target) {
            return Ok(());
        }
        if let Some(kept) = &self.kept {
            let (directory, name) = (&self.target.directory, self.target.name);
            rustix::fs::linkat(directory, name, CWD, kept, AtFlags::empty())?;
        }
        rustix::fs::unlinkat(&self.source.directory, self.source.name, AtFlags::empty())
    }

    fn rename(&self, flags: RenameFlags) -> SystemResult<()> {
        let (source, target) = (&self.source, &self.target);
        rustix::fs::renameat_with(
            &source.directory,
            source.name,
            &target.directory,
            target.name,
            flags,
        )
    }
}

impl HostBackend {
    /// Moves a directory that cannot be renamed, such as one of the lower layer of OverlayFS, by a copy.
    pub(super) fn move_by_copy(
        &mut self,
        from: &TreePath,
        to: &TreePath,
        replacement: Replacement,
    ) -> Result<()> {
        let host: Arc<Host> = self.host.clone();
        let slot = host.slot(Operation::Rename, from)?;
        if replacement == Replacement::Replace && host.stat(to).is_ok() {
            let target = host.slot(Operation::Rename, to)?;
            super::displace::remove(&host, to, &target, crate::filesystem::Recursion::OnlyEmpty)
                .map_err(|error| error.during(Operation::Rename))?;
        }
        let source = Source { tree: &*host, at: from };
        super::install::install(&host, to, source)
            .map_err(|error| error.during(Operation::Rename))?;
        // What another program writes into it meanwhile stays where it is.
        purge::purge(&host.root, rustix::fd::AsFd::as_fd(&slot.directory), slot.name)
            .map_err(|errno| failure::any(Operation::Rename, from, errno))
    }
}

fn look(slot: &Slot<'_>) -> SystemResult<Found> {
    let stat = rustix::fs::statat(&slot.directory, slot.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Found { kind: entry::kind_of(stat.st_mode), identity: (stat.st_dev, stat.st_ino) })
}

/// Tells whether two places are one: the same name in the same directory.
fn same_entry(a: &Slot<'_>, b: &Slot<'_>) -> bool {
    let directory =
        |slot: &Slot<'_>| rustix::fs::fstat(&slot.directory).map(|stat| (stat.st_dev, stat.st_ino));
    a.name == b.name && matches!((directory(a), directory(b)), (Ok(a), Ok(b)) if a == b)
}
