//! Renames staged entries into place; a journal lets the next process finish if this one dies.

use std::io;
use std::path::Path;

use rustix::fd::AsFd as _;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::Action;
use super::journal::Journal;
use super::stage::Staged;
use super::step::{Displaced, Move, Mover, Step, content_at};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::{Durability, KeptFirst};
use crate::host::capture::stamp::Stamp;
use crate::host::capture::tree::Captured;
use crate::host::displace::{self, Observed};
use crate::host::staging::Area;
use crate::host::{HostTree, entry, failure};
use crate::oplog::ContentId;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};
use crate::util::parallel;

/// Renames everything into place; if one rename fails, the earlier ones are undone.
pub(super) fn apply(
    host: &HostTree,
    area: &Area,
    (before, target): (&Captured, &dyn Tree),
    staged: &mut [Staged],
    kept: Option<&KeptFirst>,
) -> Result<()> {
    if staged.is_empty() {
        return Ok(());
    }
    let failed = |errno| Error::system(Operation::Replace, errno);
    let mover = Mover { root: &host.root, staging: area.directory() };
    // Conditional writes of other processes check and exchange under this lock.
    let _alone = host.root.lock().map_err(failed)?;
    let steps = staged.iter().map(|staged| step(&mover, (before, kept), staged));
    let mut steps: Vec<Step> = steps.collect::<Result<_>>()?;
    // It is deleted with this process: there is no next one to finish it.
    if host.is_temporary() {
        return run(&mover, &mut steps, staged, target, kept);
    }
    // Synced before the first rename: after a power loss, a rename without the journal would leave a mixture of both
    // states.
    write_journal(host, area, steps.clone(), Durability::Synced).map_err(|error| {
        area.remove_journal();
        Error::system(Operation::Replace, error)
    })?;
    let applied = run(&mover, &mut steps, staged, target, kept);
    let is_done = applied.is_ok();
    let stuck = |steps: &[Step], staged: &[Staged]| -> Vec<Step> {
        let stuck = steps.iter().zip(staged).filter(|(_, staged)| staged.stuck);
        stuck
            .map(|(step, _)| if is_done { step.clone().into_keep() } else { step.clone() })
            .collect()
    };
    let purging = steps.iter().zip(&*staged).filter_map(|(step, staged)| {
        let (out, _) = staged.known.as_ref()?;
        Some(step.purging(*out))
    });
    let purging: Vec<Step> = purging.collect();
    if !purging.is_empty() {
        // Until here, recovery would bring displaced directories back. From here on it deletes them, except what a
        // program saves in one as its working directory.
        let left = stuck(&steps, staged).into_iter().chain(purging).collect();
        let _ = write_journal(host, area, left, Durability::Atomic);
    }
    for (step, staged) in steps.iter().zip(&mut *staged) {
        let is_gone = staged.known.as_ref().is_none_or(|(_, known)| mover.purge(step, known));
        let is_kept = || kept.is_some_and(|kept| mover.keep(step, &kept.aside).is_ok());
        staged.stuck |= !is_gone && !is_kept();
    }
    end_journal(host, area, stuck(&steps, staged));
    applied
}

/// Ends the journal, except for steps whose entries stay in staging.
fn end_journal(host: &HostTree, area: &Area, stuck: Vec<Step>) {
    if stuck.is_empty() { area.remove_journal() } else { leave_in_staging(host, area, stuck) }
}

/// Keeps displaced entries that a program wrote into, or may still write into: no snapshot has that content.
fn keep_written(mover: &Mover<'_>, steps: &mut [Step], staged: &mut [Staged], kept: &KeptFirst) {
    let observed = parallel::map(steps, |step| {
        // Both before the check: a write after this shows.
        let known = mover.out(step).zip(mover.known_below(step));
        let displaced = mover.displaced(step);
        if matches!(displaced, Displaced::Nothing | Displaced::Unchanged) {
            return (false, known, None);
        }
        // The history is on another file system: the entry stays in staging.
        let is_stuck = mover.keep(step, &kept.aside).is_err();
        (is_stuck, None, is_stuck.then(|| known_content(ContentId::at(&*kept.tree, &step.path))))
    });
    for ((step, staged), (stuck, known, content)) in steps.iter_mut().zip(staged).zip(observed) {
        (staged.stuck, staged.known) = (stuck, known);
        step.content = content.or(step.content.take());
    }
}

/// Returns the content to compare with later.
///
/// An unknown content equals nothing: keeping a file once too often is better than losing one.
fn known_content(content: Result<Option<ContentId>>) -> ContentId {
    content.ok().flatten().unwrap_or_else(|| ContentId::Other("unknown".into()))
}

/// Writes the journal for staged steps.
fn write_journal(
    host: &HostTree,
    area: &Area,
    steps: Vec<Step>,
    durability: Durability,
) -> io::Result<()> {
    let journal = Journal { root: host.root.identity()?, steps };
    area.write_journal(&journal.encode(), durability)
}

/// Journals that an entry about to go out of view moves back if the process dies.
///
/// Until it is copied, the staging directory has the only copy.
pub(in crate::host) fn journal_return(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: &str,
) -> io::Result<()> {
    write_journal(host, area, vec![Step::returning(path, name)], Durability::Atomic)
}

/// Leaves entries in staging for the next process that makes or opens a staging directory.
fn leave_in_staging(host: &HostTree, area: &Area, stuck: Vec<Step>) {
    // If this fails, the journal of all steps stays, which protects the entries too.
    let _ = write_journal(host, area, stuck, Durability::Synced);
    host.leave_area();
}

/// Journals that an entry about to be exchanged with a staged one stays in staging as long as a program may write into
/// it.
///
/// The pre-image is only a copy.
pub(in crate::host) fn journal_keep(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: &str,
    (observed, copy): (&Observed, &Path),
) -> io::Result<()> {
    let mover = Mover { root: &host.root, staging: area.directory() };
    let (_, in_staging) = mover.look(path, name)?;
    let content = observed.is_open.then(|| known_content(content_of(copy)));
    let step = Step { in_staging, content, ..Step::keeping(path, name, observed) };
    write_journal(host, area, vec![step], Durability::Atomic)
}

/// Returns the content of a pre-image that is a copy.
pub(in crate::host) fn content_of(copy: &Path) -> Result<Option<ContentId>> {
    let parent = displace::parent_of(copy);
    let (parent, name) = parent.map_err(|errno| Error::system(Operation::Read, errno))?;
    content_at(parent.as_fd(), name)
}

/// Ends what `journal_return` began.
///
/// If the entry could not move back, the next process that makes a staging directory does it.
pub(in crate::host) fn end_return(host: &HostTree, area: &Area, name: &str) {
    if area.holds(name) { host.leave_area() } else { area.remove_journal() }
}

/// Deletes a displaced entry from staging, unless a program may still write into it: then it stays as long.
///
/// `copy` returns the content of the pre-image.
pub(in crate::host) fn discard_unless_open(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: &str,
    observed: &Observed,
    kept: impl FnOnce() -> Result<Option<ContentId>>,
) {
    let mover = Mover { root: &host.root, staging: area.directory() };
    let mut step = Step::keeping(path, name, observed);
    let known = mover.known_below(&step);
    let mut displaced = mover.displaced(&step);
    if displaced == Displaced::Open || (displaced == Displaced::Unchanged && observed.is_open) {
        step.content = Some(known_content(kept()));
        displaced = mover.displaced(&step);
    }
    match displaced {
        Displaced::Open | Displaced::Written => leave_in_staging(host, area, vec![step]),
        Displaced::Unchanged if known.is_some_and(|known| !mover.purge(&step, &known)) => {
            leave_in_staging(host, area, vec![step]);
        }
        Displaced::Nothing | Displaced::Unchanged => {
            area.discard(&step.name);
            area.remove_journal();
        }
    }
}

/// Moves an entry from staging back into view.
///
/// If its place is taken, it stays until that is free.
pub(in crate::host) fn bring_back(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: String,
) -> Result<()> {
    let mover = Mover { root: &host.root, staging: area.directory() };
    let step = Step::returning(path, &name);
    if mover.put_back(&step).is_ok() {
        return Ok(());
    }
    let error = place_taken(Operation::Delete, &step.path);
    leave_in_staging(host, area, vec![step]);
    Err(error)
}

/// Makes the step for a staged change, after checking that the path is as captured.
fn step(
    mover: &Mover<'_>,
    (before, kept): (&Captured, Option<&KeptFirst>),
    staged: &Staged,
) -> Result<Step> {
    let Staged { path, name, action, .. } = staged;
    let observed = mover.look(path, name);
    let (at_path, in_staging) =
        observed.map_err(|errno| failure::any(Operation::Replace, path, errno))?;
    let what = Move::of(*action);
    if let Action::SetMode(mode) = action {
        let captured = before.find_directory_stamp(path);
        let same = captured.zip(at_path).filter(|(captured, now)| captured.is_same_with_mode(now));
        let (at_path, _) = same.ok_or_else(|| changed_meanwhile(path))?;
        let bits = entry::directory_bits(at_path.mode.into(), *mode);
        let step = Step::returning(path, name);
        let in_staging = Some(at_path.with_bits(bits));
        return Ok(Step { what, at_path: Some(at_path), in_staging, ..step });
    }
    let captured = before.find_stamp(path);
    let inside = before.find_inside(path);
    let was_directory = inside.is_some();
    let inside = inside.filter(|_| what != Move::In);
    let changed = match (what, at_path) {
        (Move::In, at_path) => at_path.is_some(),
        (_, None) => true,
        (_, Some(at_path)) => {
            captured.is_some_and(|captured| captured != at_path)
                || (at_path.kind() == Kind::Directory) != was_directory
        }
    };
    match changed {
        true if what == Move::In => Err(in_the_way(mover, path, at_path)),
        true => Err(changed_meanwhile(path)),
        false => {
            let kept = kept.filter(|_| before.was_open(path));
            let content = kept.map(|kept| known_content(ContentId::at(&*kept.tree, path)));
            let path = path.clone();
            let name = name.clone();
            Ok(Step { what, path, name, at_path, in_staging, inside, content })
        }
    }
}

/// Explains what is at a path that was free in the capture: created since, or something that no snapshot includes.
fn in_the_way(mover: &Mover<'_>, path: &TreePath, at_path: Option<Stamp>) -> Error {
    let is_mounted = matches!(mover.root.open(path, OFlags::PATH), Err(Errno::XDEV));
    let what = match at_path {
        _ if is_mounted => "another file system is mounted there; unmount it, or name other paths",
        Some(found) if found.kind() == Kind::Other => {
            "a FIFO, socket or device is there, which no snapshot holds; move it away, or name other paths"
        }
        _ => return changed_meanwhile(path),
    };
    Error::new(Operation::Replace, ErrorKind::Conflict).with_path(path).with_detail(what)
}

/// Returns the error for an entry whose place was taken before it could move back.
fn place_taken(operation: Operation, path: &TreePath) -> Error {
    Error::new(operation, ErrorKind::Conflict).with_path(path).with_detail(
        "another program changed it meanwhile, and put something else in its place; nothing else was changed, and what \
         was there waits in `.wink-staging` beside the files: move what is there now away, and try again",
    )
}

/// Returns the error for a path that another program changed after it was captured.
fn changed_meanwhile(path: &TreePath) -> Error {
    Error::new(Operation::Replace, ErrorKind::Conflict).with_path(path).with_detail(
        "another program changed it, or what is in it, meanwhile; nothing was replaced, try again",
    )
}

/// Returns the error for a replacement that failed and could not be undone completely.
fn not_undone(path: &TreePath) -> Error {
    Error::new(Operation::Replace, ErrorKind::Conflict).with_path(path).with_detail(
        "it was replaced, and could not be put back when another program changed another file meanwhile; \
         what was there before is kept",
    )
}

fn run(
    mover: &Mover<'_>,
    steps: &mut [Step],
    staged: &mut [Staged],
    target: &dyn Tree,
    kept: Option<&KeptFirst>,
) -> Result<()> {
    for done in 0..steps.len() {
        if let Err(errno) = mover.forward(&mut steps[done]) {
            staged[done].stuck = mover.holds_other_entry(&steps[done]);
            // Last step first: a later one may be in a directory that an earlier one made.
            for (step, staged) in steps[..done].iter_mut().zip(&mut staged[..done]).rev() {
                // What cannot be undone stays in staging, and the next process continues.
                staged.stuck = mover.back(step, target).is_err();
            }
            let step = &steps[done];
            if let Some(stuck) = staged[..done].iter().find(|staged| staged.stuck) {
                return Err(not_undone(&stuck.path));
            }
            return Err(match errno {
                _ if staged[done].stuck => place_taken(Operation::Replace, &step.path),
                Errno::STALE => changed_meanwhile(&step.path),
                _ => failure::any(Operation::Replace, &step.path, errno),
            });
        }
    }
    kept.into_iter().for_each(|kept| keep_written(mover, steps, staged, kept));
    Ok(())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plays another program")]
mod tests {
    use rustix::fd::AsFd;

    use super::*;
    use crate::filesystem::event::Event;
    use crate::host::HostBackend;

    /// Another program wrote into a directory that was being removed, and created another in its place.
    #[test]
    fn a_directory_that_cannot_come_back_waits_beside_the_files_until_its_place_is_free() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join("root").join(name);
        std::fs::create_dir_all(at("d/sub")).unwrap();
        std::fs::write(at("d/sub/notes"), "an hour of work").unwrap();
        let open = || HostBackend::open_ambient(at("")).unwrap();
        let backend = open();
        let area = backend.host.area().unwrap();
        let from = backend.host.root.as_fd();
        let to = area.directory();
        rustix::fs::renameat(from, "d", to, "7").unwrap();
        std::fs::create_dir(at("d")).unwrap();
        let path = TreePath::parse("d").unwrap();
        let error = bring_back(&backend.host, &area, &path, "7".into()).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("d")));
        drop((area, backend));
        std::fs::remove_dir(at("d")).unwrap();
        std::fs::write(at("d"), "").unwrap();
        assert!(matches!(open().recovery_events(), [Event::EntryWaits { .. }]));
        assert_eq!(std::fs::read(at("d")).unwrap(), b"");
        std::fs::remove_file(at("d")).unwrap();
        drop(open());
        assert_eq!(std::fs::read_to_string(at("d/sub/notes")).unwrap(), "an hour of work");
        assert!(!place.path().join(".wink-staging").exists());
    }
}
