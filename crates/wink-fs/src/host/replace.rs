//! Making the directory what another tree is: everything staged first, then renamed in or not at all.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use rayon::prelude::*;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Mode, OFlags, RenameFlags};

use super::Host;
use super::capture::{self, tree::Captured};
use super::entry::{self, KEPT_BITS};
use super::failure;
use super::staging::Area;
use crate::capture::Capture;
use crate::compare::{Difference, compare, count_files, count_in_scope};
use crate::descend::descend;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Replaced;
use crate::path::TreePath;
use crate::refusal;
use crate::scope::{Exclusions, Scope};
use crate::tree::{Entry, FileMode, Kind, Tree};

/// Makes the files below the root those of `target`, as far as they are in scope.
pub(super) fn replace(host: &Arc<Host>, target: &dyn Tree, scope: &Scope) -> Result<Replaced> {
    let before = capture::capture(host, &host.index(), scope)?;
    replace_from(host, &before, target, scope)
}

/// Does the same from what was captured.
pub(super) fn replace_from(
    host: &Arc<Host>,
    captured: &Capture,
    target: &dyn Tree,
    scope: &Scope,
) -> Result<Replaced> {
    let before = Captured::of(&*captured.tree, host).ok_or_else(not_ours)?;
    let differences = compare(before, target, scope)?;
    let changes = plan(before, &differences)?;
    let area = host.area().map_err(|errno| Error::system(Operation::Replace, errno))?;
    let writer = Writer { target, excluded: scope.excluded() };
    let mut staged = writer.stage(&area, &changes)?;
    apply(host, &mut staged)?;
    count(captured, &differences, scope, &staged)
}

fn not_ours() -> Error {
    Error::new(Operation::Replace, ErrorKind::Unsupported)
}

fn count(
    captured: &Capture,
    differences: &[Difference],
    scope: &Scope,
    staged: &[Staged],
) -> Result<Replaced> {
    let gone = differences.iter().map(|it| count_files(&*captured.tree, &it.path, it.before));
    let gone: u64 = gone.sum::<Result<_>>()?;
    Ok(Replaced {
        written: staged.iter().map(|staged| staged.files).sum(),
        removed: differences.iter().filter(|difference| difference.after.is_none()).count() as u64,
        unchanged: count_in_scope(&*captured.tree, captured.totals.files, scope)? - gone,
    })
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
    /// A parent of something that is only in the target.
    AddParent,
    /// In both, as something else.
    Exchange(Kind),
}

/// Says what must be done, in the order of paths.
fn plan(before: &Captured, differences: &[Difference]) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for difference in differences {
        plan_parents(before, &difference.path, &mut changes)?;
        plan_difference(before, difference, &mut changes)?;
    }
    Ok(changes)
}

fn plan_parents(before: &Captured, path: &TreePath, changes: &mut Vec<Change>) -> Result<()> {
    for parent in path.ancestors() {
        let is_planned = |change: &Change| change.path == parent;
        match before.stat(&parent) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if !changes.iter().rev().any(is_planned) {
                    changes.push(Change { path: parent, action: Action::AddParent });
                }
            }
            stat => refusal::check_directory(&parent, stat?.kind)
                .map_err(|error| error.during(Operation::Replace))?,
        }
    }
    Ok(())
}

fn plan_difference(
    before: &Captured,
    difference: &Difference,
    changes: &mut Vec<Change>,
) -> Result<()> {
    let Difference { path, before: was, after } = difference;
    let action = match (was, after) {
        (_, Some(kind)) if was.is_none() => Action::Add(*kind),
        // What was not captured is nobody's to remove.
        (_, None) if before.hides(path) => return plan_removals(before, path, changes),
        (_, Some(_)) if before.hides(path) => return Err(refusal::in_the_way(path)),
        (_, Some(kind)) => Action::Exchange(*kind),
        (_, None) => Action::Remove,
    };
    changes.push(Change { path: path.clone(), action });
    Ok(())
}

fn plan_removals(before: &Captured, path: &TreePath, changes: &mut Vec<Change>) -> Result<()> {
    for entry in before.list(path)? {
        let path = path.join(&entry.name)?;
        let gone = Difference { path, before: Some(entry.kind), after: None };
        plan_difference(before, &gone, changes)?;
    }
    Ok(())
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

/// Writes entries of the target into the staging directory.
struct Writer<'a> {
    target: &'a dyn Tree,
    excluded: &'a Exclusions,
}

impl Writer<'_> {
    /// Writes everything that is new.
    fn stage(&self, area: &Arc<Area>, changes: &[Change]) -> Result<Vec<Staged>> {
        changes.par_iter().map(|change| self.change(area, change)).collect()
    }

    fn change(&self, area: &Arc<Area>, change: &Change) -> Result<Staged> {
        let (area, path, action) = (area.clone(), change.path.clone(), change.action);
        let name = area.new_name();
        let mut staged = Staged { area, path, name, action, files: 0, stuck: false };
        let (into, name) = (staged.area.directory(), staged.name.as_bytes());
        match action {
            Action::Remove => {}
            Action::AddParent => self.empty_directory(into, name, &staged.path)?,
            Action::Add(kind) | Action::Exchange(kind) => {
                staged.files = self.entry(into, name, &staged.path, kind)?;
            }
        }
        Ok(staged)
    }

    fn empty_directory(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath) -> Result<()> {
        rustix::fs::mkdirat(into, name, Mode::from_raw_mode(0o777))
            .map_err(|errno| failure::any(Operation::Replace, path, errno))
    }

    /// Writes an entry, with all that is below it, and returns how many files and links it has.
    fn entry(&self, into: BorrowedFd<'_>, name: &[u8], path: &TreePath, kind: Kind) -> Result<u64> {
        let failed = |errno| failure::any(Operation::Replace, path, errno);
        match kind {
            Kind::Directory => descend(|| self.directory(into, name, path)),
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
        self.empty_directory(into, name, path)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(into, name, flags, Mode::empty()).map_err(failed)?;
        let entries = self.target.list(path)?;
        let write = |entry: &Entry| {
            let child = path.join(&entry.name)?;
            if self.excluded.matches_entry(&child) {
                return Ok(0);
            }
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
            (Action::Remove, Direction::Forward)
            | (Action::Add(_) | Action::AddParent, Direction::Back) => {
                (standing, waiting, RenameFlags::NOREPLACE)
            }
            (Action::Remove, Direction::Back)
            | (Action::Add(_) | Action::AddParent, Direction::Forward) => {
                (waiting, standing, RenameFlags::NOREPLACE)
            }
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
