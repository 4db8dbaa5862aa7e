//! Everything into place: written down first, so that a process that dies is finished by the next.

use std::io;
use std::path::Path;

use rustix::fd::AsFd as _;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::journal::Journal;
use super::stage::Staged;
use super::step::{Displaced, Move, Places, Step, content_at};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::{Durability, KeptFirst};
use crate::host::capture::stamp::Stamp;
use crate::host::capture::tree::Captured;
use crate::host::displace::{self, Looked};
use crate::host::staging::Area;
use crate::host::{HostTree, failure};
use crate::oplog::Left;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};
use crate::util::parallel;

/// Renames everything into place; when one rename fails, those before it are undone.
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
    let places = Places { root: &host.root, staging: area.directory() };
    let _alone = host.root.lock().map_err(failed)?;
    let steps = staged.iter().map(|staged| step(&places, (before, kept), staged));
    let mut steps: Vec<Step> = steps.collect::<Result<_>>()?;
    if host.is_temporary() {
        return run(&places, &mut steps, staged, target, kept);
    }
    write_down(host, area, steps.clone(), Durability::Synced).map_err(|error| {
        area.remove_journal();
        Error::system(Operation::Replace, error)
    })?;
    let applied = run(&places, &mut steps, staged, target, kept);
    let is_done = applied.is_ok();
    let stuck = |steps: &[Step], staged: &[Staged]| -> Vec<Step> {
        let stuck = steps.iter().zip(staged).filter(|(_, staged)| staged.stuck);
        stuck.map(|(step, _)| if is_done { step.clone().kept() } else { step.clone() }).collect()
    };
    let purging = steps.iter().zip(&*staged).filter_map(|(step, staged)| {
        let (out, _) = staged.known.as_ref()?;
        Some(step.purging(*out))
    });
    let purging: Vec<Step> = purging.collect();
    if !purging.is_empty() {
        // From here on nothing of them is to come back, but for what a program that works in one saves there.
        let left = stuck(&steps, staged).into_iter().chain(purging).collect();
        let _ = write_down(host, area, left, Durability::Atomic);
    }
    for (step, staged) in steps.iter().zip(&mut *staged) {
        let is_gone = staged.known.as_ref().is_none_or(|(_, known)| places.purge(step, known));
        let is_kept = || kept.is_some_and(|kept| places.keep(step, &kept.aside).is_ok());
        staged.stuck |= !is_gone && !is_kept();
    }
    settle(host, area, stuck(&steps, staged));
    applied
}

/// Says that all was done, or undone, but for what stays aside.
fn settle(host: &HostTree, area: &Area, stuck: Vec<Step>) {
    if stuck.is_empty() { area.remove_journal() } else { keep_aside(host, area, stuck) }
}

/// Keeps what went out of view where a program may still write into it, or did: the snapshot does not have that.
fn keep_written(places: &Places<'_>, steps: &mut [Step], staged: &mut [Staged], kept: &KeptFirst) {
    let looked = parallel::map(steps, |step| {
        // Both first: what is written after them shows.
        let known = places.out(step).zip(places.known_below(step));
        let displaced = places.displaced(step);
        if matches!(displaced, Displaced::Nothing | Displaced::Settled) {
            return (false, known, None);
        }
        // Where the history is on another file system, it stays in the staging directory.
        let is_stuck = places.keep(step, &kept.aside).is_err();
        (is_stuck, None, is_stuck.then(|| known_content(Left::at(&*kept.tree, &step.path))))
    });
    for ((step, staged), (stuck, known, content)) in steps.iter_mut().zip(staged).zip(looked) {
        (staged.stuck, staged.known) = (stuck, known);
        step.content = content.or(step.content.take());
    }
}

/// Returns what content is to be compared with later. Where it is not known, nothing equals it: rather once too often
/// kept than lost.
fn known_content(content: Result<Option<Left>>) -> Left {
    content.ok().flatten().unwrap_or_else(|| Left::Other("unknown".into()))
}

/// Writes down what is about to be done with what is staged.
fn write_down(
    host: &HostTree,
    area: &Area,
    steps: Vec<Step>,
    durability: Durability,
) -> io::Result<()> {
    let journal = Journal { root: host.root.identity()?, steps };
    area.write_journal(&journal.encode(), durability)
}

/// Writes down that what is about to go out of view, under a name in the staging directory, comes back if the
/// process dies: until it is copied, there is no other copy.
pub(in crate::host) fn announce_return(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: &str,
) -> io::Result<()> {
    write_down(host, area, vec![Step::returning(path, name)], Durability::Atomic)
}

/// Leaves what could not be put back in the staging directory, for the next process that creates or opens one.
fn keep_aside(host: &HostTree, area: &Area, stuck: Vec<Step>) {
    // Where this fails, the journal of all steps stays, which keeps it too.
    let _ = write_down(host, area, stuck, Durability::Synced);
    host.leave_area();
}

/// Writes down that what is about to go out of view, in exchange for what waits under a name in the staging directory,
/// stays there as long as a program may write into it: what is kept of it is a copy.
pub(in crate::host) fn announce_keep(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: &str,
    (looked, copy): (&Looked, &Path),
) -> io::Result<()> {
    let places = Places { root: &host.root, staging: area.directory() };
    let (_, waiting) = places.look(path, name)?;
    let content = looked.is_open.then(|| known_content(content_of(copy)));
    let step = Step { waiting, content, ..Step::keeping(path, name, looked) };
    write_down(host, area, vec![step], Durability::Atomic)
}

/// Returns the content of a copy that is kept outside of the workspace.
pub(in crate::host) fn content_of(copy: &Path) -> Result<Option<Left>> {
    let parent = displace::parent_of(copy);
    let (parent, name) = parent.map_err(|errno| Error::system(Operation::Read, errno))?;
    content_at(parent.as_fd(), name)
}

/// Says that what was announced is back; if it could not come back, that is left to the process that creates the next
/// staging directory.
pub(in crate::host) fn settle_return(host: &HostTree, area: &Area, name: &str) {
    if area.holds(name) { host.leave_area() } else { area.remove_journal() }
}

/// Takes away what went out of view under a name in the staging directory and of which a copy is kept, unless a
/// program may still write into it: then it stays there as long. `kept` says what the copy holds.
pub(in crate::host) fn discard_settled(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: &str,
    looked: &Looked,
    kept: impl FnOnce() -> Result<Option<Left>>,
) {
    let places = Places { root: &host.root, staging: area.directory() };
    let mut step = Step::keeping(path, name, looked);
    let known = places.known_below(&step);
    let mut displaced = places.displaced(&step);
    if displaced == Displaced::Open || (displaced == Displaced::Settled && looked.is_open) {
        step.content = Some(known_content(kept()));
        displaced = places.displaced(&step);
    }
    match displaced {
        Displaced::Open | Displaced::Written => keep_aside(host, area, vec![step]),
        Displaced::Settled if known.is_some_and(|known| !places.purge(&step, &known)) => {
            keep_aside(host, area, vec![step]);
        }
        Displaced::Nothing | Displaced::Settled => {
            area.discard(&step.name);
            area.remove_journal();
        }
    }
}

/// Brings an entry back into view that was taken out of it under a name in the staging directory.
///
/// Where something else has its place, it stays there until that is gone.
pub(in crate::host) fn bring_back(
    host: &HostTree,
    area: &Area,
    path: &TreePath,
    name: String,
) -> Result<()> {
    let places = Places { root: &host.root, staging: area.directory() };
    let step = Step::returning(path, &name);
    if places.put_back(&step).is_ok() {
        return Ok(());
    }
    let error = kept_aside(Operation::Delete, &step.path);
    keep_aside(host, area, vec![step]);
    Err(error)
}

/// Says what a change will do, after a look at both places.
fn step(
    places: &Places<'_>,
    (before, kept): (&Captured, Option<&KeptFirst>),
    staged: &Staged,
) -> Result<Step> {
    let Staged { path, name, action, .. } = staged;
    let looked = places.look(path, name);
    let (standing, waiting) =
        looked.map_err(|errno| failure::any(Operation::Replace, path, errno))?;
    let what = Move::of(*action);
    let (captured, inside) = (before.find_stamp(path), before.find_inside(path));
    let was_directory = inside.is_some();
    let inside = inside.filter(|_| what != Move::In);
    let changed = match (what, standing) {
        (Move::In, standing) => standing.is_some(),
        (_, None) => true,
        (_, Some(standing)) => {
            captured.is_some_and(|captured| captured != standing)
                || (standing.kind() == Kind::Directory) != was_directory
        }
    };
    match changed {
        true if what == Move::In => Err(in_the_way(places, path, standing)),
        true => Err(changed_meanwhile(path)),
        false => {
            let kept = kept.filter(|_| before.was_open(path));
            let content = kept.map(|kept| known_content(Left::at(&*kept.tree, path)));
            let (path, name) = (path.clone(), name.clone());
            Ok(Step { what, path, name, standing, waiting, inside, content })
        }
    }
}

/// Says what is where nothing was captured: it may have come meanwhile, or no snapshot ever holds it.
fn in_the_way(places: &Places<'_>, path: &TreePath, standing: Option<Stamp>) -> Error {
    let is_mounted = matches!(places.root.open(path, OFlags::PATH), Err(Errno::XDEV));
    let what = match standing {
        _ if is_mounted => "another file system is mounted there; unmount it, or name other paths",
        Some(found) if found.kind() == Kind::Other => {
            "a FIFO, socket or device is there, which no snapshot holds; move it away, or name other paths"
        }
        _ => return changed_meanwhile(path),
    };
    Error::new(Operation::Replace, ErrorKind::Conflict).with_path(path).with_detail(what)
}

/// Says that what is in the way of what was taken out of view keeps it from coming back.
fn kept_aside(operation: Operation, path: &TreePath) -> Error {
    Error::new(operation, ErrorKind::Conflict).with_path(path).with_detail(
        "another program changed it meanwhile, and put something else in its place; nothing else was changed, and what \
         was there waits in `.wink-staging` beside the files: move what is there now away, and try again",
    )
}

/// Says that another program wrote there between a look at the files and their change.
fn changed_meanwhile(path: &TreePath) -> Error {
    Error::new(Operation::Replace, ErrorKind::Conflict).with_path(path).with_detail(
        "another program changed it, or what is in it, meanwhile; nothing was replaced, try again",
    )
}

/// Says that a replacement was given up, and not all of it could be undone.
fn not_undone(path: &TreePath) -> Error {
    Error::new(Operation::Replace, ErrorKind::Conflict).with_path(path).with_detail(
        "it was replaced, and could not be put back when another program changed another file meanwhile; \
         what was there before is kept",
    )
}

fn run(
    places: &Places<'_>,
    steps: &mut [Step],
    staged: &mut [Staged],
    target: &dyn Tree,
    kept: Option<&KeptFirst>,
) -> Result<()> {
    for done in 0..steps.len() {
        if let Err(errno) = places.forward(&mut steps[done]) {
            staged[done].stuck = places.holds_anothers(&steps[done]);
            for (step, staged) in steps[..done].iter_mut().zip(&mut staged[..done]).rev() {
                // What cannot be undone stays in the staging directory, and the next process goes on.
                staged.stuck = places.back(step, target).is_err();
            }
            let step = &steps[done];
            if let Some(stuck) = staged[..done].iter().find(|staged| staged.stuck) {
                return Err(not_undone(&stuck.path));
            }
            return Err(match errno {
                _ if staged[done].stuck => kept_aside(Operation::Replace, &step.path),
                Errno::STALE => changed_meanwhile(&step.path),
                _ => failure::any(Operation::Replace, &step.path, errno),
            });
        }
    }
    kept.into_iter().for_each(|kept| keep_written(places, steps, staged, kept));
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
        let (from, to) = (backend.host.root.as_fd(), area.directory());
        rustix::fs::renameat(from, "d", to, "7").unwrap();
        std::fs::create_dir(at("d")).unwrap();
        let path = TreePath::parse("d").unwrap();
        let error = bring_back(&backend.host, &area, &path, "7".into()).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("d")));
        drop((area, backend));
        std::fs::remove_dir(at("d")).unwrap();
        std::fs::write(at("d"), "").unwrap();
        assert!(matches!(open().found(), [Event::EntryWaits { .. }]));
        assert_eq!(std::fs::read(at("d")).unwrap(), b"");
        std::fs::remove_file(at("d")).unwrap();
        drop(open());
        assert_eq!(std::fs::read_to_string(at("d/sub/notes")).unwrap(), "an hour of work");
        assert!(!place.path().join(".wink-staging").exists());
    }
}
