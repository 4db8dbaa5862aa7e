//! Making the directory what another tree is: everything staged first, then renamed in or not at all.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use rayon::prelude::*;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Mode, OFlags, RenameFlags};

use super::Host;
use super::entry::{self, KEPT_BITS};
use super::failure;
use super::staging::Area;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Replaced;
use crate::ops;
use crate::path::TreePath;
use crate::tree::{Entry, FileMode, Kind, Tree};

/// Makes the files below the root those of `target`.
pub(super) fn replace(host: &Host, target: &dyn Tree) -> Result<Replaced> {
    let mut plan = Plan::default();
    plan.compare(host, target, &TreePath::root())?;
    plan.drop_unchanged(host, target)?;
    let area = host.area().map_err(|errno| Error::system(Operation::Replace, errno))?;
    let mut staged = plan.stage(&area, target)?;
    apply(host, &mut staged)?;
    Ok(plan.counts)
}

/// What must change, in the order of paths.
#[derive(Default)]
struct Plan {
    changes: Vec<Change>,
    counts: Replaced,
}

struct Change {
    path: TreePath,
    action: Action,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Only here.
    Remove,
    /// Only in the target.
    Add(Kind),
    /// In both, as something else.
    Exchange(Kind),
    /// A file in both, of the same size: perhaps the same.
    Compare,
}

impl Plan {
    fn add(&mut self, path: TreePath, action: Action) {
        self.changes.push(Change { path, action });
    }

    /// Finds the differences of a directory and of all that is below it.
    fn compare(&mut self, host: &Host, target: &dyn Tree, directory: &TreePath) -> Result<()> {
        let (ours, theirs) = (host.list(directory)?, target.list(directory)?);
        let mut ours = ours.iter().peekable();
        for their in &theirs {
            while let Some(own) = ours.next_if(|own| own.name < their.name) {
                self.add(directory.join(&own.name)?, Action::Remove);
            }
            let path = directory.join(&their.name)?;
            match ours.next_if(|own| own.name == their.name) {
                None => self.add(path, Action::Add(their.kind)),
                Some(own) => self.compare_entry(host, target, path, own, their)?,
            }
        }
        ours.try_for_each(|own| {
            directory.join(&own.name).map(|path| self.add(path, Action::Remove))
        })
    }

    fn compare_entry(
        &mut self,
        host: &Host,
        target: &dyn Tree,
        path: TreePath,
        own: &Entry,
        their: &Entry,
    ) -> Result<()> {
        let same = match (own.kind, their.kind) {
            (Kind::Directory, Kind::Directory) => return self.compare(host, target, &path),
            (Kind::File, Kind::File) => {
                let same_size = host.stat(&path)?.size_bytes == target.stat(&path)?.size_bytes;
                let action = if same_size { Action::Compare } else { Action::Exchange(Kind::File) };
                self.add(path, action);
                return Ok(());
            }
            (Kind::Symlink, Kind::Symlink) => host.read_link(&path)? == target.read_link(&path)?,
            _ => false,
        };
        if same {
            self.counts.unchanged += 1;
        } else {
            self.add(path, Action::Exchange(their.kind));
        }
        Ok(())
    }

    /// Reads the files that may be the same, and keeps those that are not.
    fn drop_unchanged(&mut self, host: &Host, target: &dyn Tree) -> Result<()> {
        let changes = std::mem::take(&mut self.changes);
        let before = changes.len();
        let resolve = |change: Change| resolve(host, target, change);
        let kept: Vec<Option<Change>> =
            changes.into_par_iter().map(resolve).collect::<Result<_>>()?;
        self.changes = kept.into_iter().flatten().collect();
        self.counts.unchanged += (before - self.changes.len()) as u64;
        Ok(())
    }

    /// Writes everything that is new into the staging directory.
    fn stage(&mut self, area: &Arc<Area>, target: &dyn Tree) -> Result<Vec<Staged>> {
        let stage = |change: &Change| stage_change(area, target, change);
        let staged: Vec<Staged> = self.changes.par_iter().map(stage).collect::<Result<_>>()?;
        self.counts.written = staged.iter().map(|staged| staged.files).sum();
        self.counts.removed =
            self.changes.iter().filter(|change| change.action == Action::Remove).count() as u64;
        Ok(staged)
    }
}

fn resolve(host: &Host, target: &dyn Tree, change: Change) -> Result<Option<Change>> {
    if change.action != Action::Compare {
        return Ok(Some(change));
    }
    let path = change.path;
    let same = host.stat(&path)?.mode == target.stat(&path)?.mode
        && ops::content_hash(host, &path)? == ops::content_hash(target, &path)?;
    Ok((!same).then_some(Change { path, action: Action::Exchange(Kind::File) }))
}

/// A change whose new entry, if any, waits under a name in the staging directory.
///
/// Dropped, it takes away what lies there: the new entry if it was not needed, else the old one.
struct Staged {
    area: Arc<Area>,
    path: TreePath,
    name: String,
    action: Action,
    files: u64,
    /// Whether the old entry is there and could not be put back.
    stuck: bool,
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.stuck {
            self.area.discard(&self.name);
        }
    }
}

fn stage_change(area: &Arc<Area>, target: &dyn Tree, change: &Change) -> Result<Staged> {
    let Change { path, action } = change;
    let (area, path, name) = (area.clone(), path.clone(), area.new_name());
    let mut staged = Staged { area, path, name, action: *action, files: 0, stuck: false };
    if let Action::Add(kind) | Action::Exchange(kind) = *action {
        let (directory, name) = (staged.area.directory(), staged.name.as_bytes());
        staged.files = Writer { target }.entry(directory, name, &staged.path, kind)?;
    }
    Ok(staged)
}

/// Writes entries of the target into the staging directory.
struct Writer<'a> {
    target: &'a dyn Tree,
}

impl Writer<'_> {
    /// Writes an entry, with all that is below it, and returns how many files and links it has.
    fn entry(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath, kind: Kind) -> Result<u64> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        match kind {
            Kind::Directory => self.directory(into, name, path),
            Kind::File => self.file(into, name, path).map(|()| 1),
            Kind::Symlink => {
                let target = self.target.read_link(path)?;
                rustix::fs::symlinkat(&*target, into, name).map_err(failed)?;
                Ok(1)
            }
            Kind::Other => {
                Err(Error::new(Operation::Replace, ErrorKind::SpecialFile).with_path(path))
            }
        }
    }

    fn directory(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath) -> Result<u64> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        rustix::fs::mkdirat(into, name, Mode::from_raw_mode(0o777)).map_err(failed)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(into, name, flags, Mode::empty()).map_err(failed)?;
        let entries = self.target.list(path)?;
        let write = |entry: &Entry| {
            let child = path.join(&entry.name)?;
            self.entry(directory.as_fd(), entry.name.as_bytes(), &child, entry.kind)
        };
        entries.par_iter().map(write).sum()
    }

    fn file(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath) -> Result<()> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        let content = self.target.open(path)?;
        let mode = self.target.stat(path)?.mode;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd =
            rustix::fs::openat(into, name, flags, Mode::from_raw_mode(0o666)).map_err(failed)?;
        let mut file = File::from(fd);
        content
            .for_each_chunk(|chunk| file.write_all(chunk))
            .map_err(|error| Error::system(Operation::Replace, error).with_path(path))?;
        set_mode(&file, mode).map_err(failed)
    }
}

fn set_mode(file: &File, mode: FileMode) -> rustix::io::Result<()> {
    let bits = rustix::fs::fstat(file)?.st_mode & KEPT_BITS;
    let wanted = entry::bits_with(bits, mode);
    if wanted == bits { Ok(()) } else { rustix::fs::fchmod(file, Mode::from_raw_mode(wanted)) }
}

/// Renames everything into place; when one rename fails, those before it are undone.
fn apply(host: &Host, staged: &mut [Staged]) -> Result<()> {
    for done in 0..staged.len() {
        if let Err(error) = host.step(&staged[done], Direction::Forward) {
            for step in staged[..done].iter_mut().rev() {
                // What cannot be undone stays in the staging directory and is not discarded.
                step.stuck = host.step(step, Direction::Back).is_err();
            }
            return Err(error);
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Back,
}

impl Host {
    fn step(&self, step: &Staged, direction: Direction) -> Result<()> {
        let slot = self.new_slot(Operation::Replace, &step.path)?;
        let waiting = (step.area.directory(), step.name.as_bytes());
        let standing = (slot.directory.as_fd(), slot.name);
        let (from, to, flags) = match (step.action, direction) {
            (Action::Exchange(_), _) => (waiting, standing, RenameFlags::EXCHANGE),
            (Action::Add(_), Direction::Forward) => (waiting, standing, RenameFlags::NOREPLACE),
            (Action::Add(_), Direction::Back) => (standing, waiting, RenameFlags::NOREPLACE),
            (_, Direction::Forward) => (standing, waiting, RenameFlags::NOREPLACE),
            (_, Direction::Back) => (waiting, standing, RenameFlags::NOREPLACE),
        };
        rename(from, to, flags).map_err(|errno| failure::any(Operation::Replace, &step.path, errno))
    }
}

fn rename(
    from: (BorrowedFd<'_>, &[u8]),
    to: (BorrowedFd<'_>, &[u8]),
    flags: RenameFlags,
) -> rustix::io::Result<()> {
    rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags)
}
