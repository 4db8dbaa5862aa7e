//! Finishes the replacement of a process that died.
//!
//! `workspace/recovery.rs` rolls back calls, and records the replacements that were finished here.

use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use super::journal::Journal;
use super::step::{Displaced, Move, Mover, Step, partial_name};
use crate::host::capture::stamp::Stamp;
use crate::host::root::Root;
use crate::path::TreePath;

/// The outcome of a recovery.
#[derive(Default)]
pub(in crate::host) struct Finished {
    /// The journal of steps that cannot be finished yet, because their entries hold another program's work.
    pub(in crate::host) stuck: Option<Vec<u8>>,
    /// The paths of those entries, with their names in staging.
    pub(in crate::host) waiting: Vec<(TreePath, String)>,
    /// The paths of entries that moved back into view.
    pub(in crate::host) returned: Vec<TreePath>,
}

/// Finishes the steps of a journal; what another program changed before or after the crash stays.
///
/// Returns `None` if the journal belongs to another root or cannot be read. It can be repeated at any point.
pub(in crate::host) fn recover(
    root: &Root,
    staging: BorrowedFd<'_>,
    journal: &[u8],
) -> Option<Finished> {
    // The rename to its final name makes a journal complete or absent. One that cannot be decoded is damaged or newer,
    // and the entries beside it may be the only copy of the user's work: leave everything.
    let journal = Journal::decode(journal)?;
    // The device number may change at a restart; the staging directory is on the root's file system anyway.
    if !root.identity().ok()?.is_same(&journal.root) {
        return None;
    }
    let mover = Mover { root, staging };
    let mut finished = Finished::default();
    let mut stuck = Vec::new();
    for step in journal.steps {
        match finish_step(&mover, step) {
            StepEnd::Done => {}
            StepEnd::Returned(path) => finished.returned.push(path),
            StepEnd::Stuck(step) => stuck.push(step),
            StepEnd::Waits(step, name) => {
                finished.waiting.push((step.path.clone(), name));
                stuck.push(step);
            }
        }
    }
    finished.stuck =
        (!stuck.is_empty()).then(|| Journal { root: journal.root, steps: stuck }.encode());
    Some(finished)
}

/// The outcome of one step.
enum StepEnd {
    Done,
    /// A displaced entry moved back into view, because another program wrote into it.
    Returned(TreePath),
    /// The step must stay in the journal.
    Stuck(Step),
    /// The same, and the entry of this name in staging waits until its place is free.
    Waits(Step, String),
}

impl StepEnd {
    fn waits(step: Step) -> Self {
        let name = step.name.clone();
        Self::Waits(step, name)
    }
}

fn finish_step(mover: &Mover<'_>, mut step: Step) -> StepEnd {
    let what = step.what;
    match what {
        Move::Return => match mover.give_back(&step) {
            Ok(()) => StepEnd::Done,
            Err(_) => StepEnd::waits(step),
        },
        Move::Purge if mover.purge_rest(&step) => StepEnd::Done,
        Move::Purge => {
            let back = Step::returning(&step.path, &step.name);
            match mover.give_back(&back) {
                Ok(()) => StepEnd::Returned(step.path),
                Err(_) => StepEnd::waits(back),
            }
        }
        _ if mover.finish_parts(&step).is_err() => {
            let name = partial_name(&step);
            StepEnd::Waits(step, name)
        }
        _ if !redo(mover, &mut step) => StepEnd::Stuck(step),
        _ => {
            let displaced = mover.displaced(&step);
            let is_anothers = displaced == Displaced::Written || mover.holds_other_entry(&step);
            match displaced {
                _ if is_anothers && mover.put_back(&step).is_ok() => StepEnd::Returned(step.path),
                _ if is_anothers => StepEnd::waits(step),
                // A program may still write into it, and no other copy would have that.
                Displaced::Open => StepEnd::Stuck(step.into_keep()),
                _ => StepEnd::Done,
            }
        }
    }
}

/// Returns whether a journal has steps left for this root, as on a file system that is read-only for now.
pub(in crate::host) fn is_unfinished(root: &Root, staging: BorrowedFd<'_>, journal: &[u8]) -> bool {
    let Some(journal) = Journal::decode(journal) else { return false };
    let is_ours = root.identity().is_ok_and(|identity| identity.is_same(&journal.root));
    let mover = Mover { root, staging };
    is_ours && journal.steps.iter().any(|step| is_to_do(&mover, step))
}

/// Does a step that is still to do, unless another program changed its path; returns whether nothing is left to do.
fn redo(mover: &Mover<'_>, step: &mut Step) -> bool {
    !is_to_do(mover, step)
        || match mover.forward(step) {
            // ESTALE: what came out was another program's, and is back.
            Ok(()) | Err(Errno::STALE) => true,
            Err(_) => !is_to_do(mover, step),
        }
}

fn is_to_do(mover: &Mover<'_>, step: &Step) -> bool {
    // What cannot be accessed now may still have to be done.
    let Ok((at_path, in_staging)) = mover.look(&step.path, &step.name) else {
        return matches!(step.what, Move::Out | Move::In | Move::Exchange | Move::Mode);
    };
    if step.what == Move::Mode {
        let is_as_before = |it: &(Stamp, Stamp)| it.0.is_same_with_mode(&it.1);
        return at_path.zip(step.at_path).as_ref().is_some_and(is_as_before);
    }
    let is_done = match step.what {
        Move::Out => at_path.is_none(),
        Move::In | Move::Exchange => step.is_new(at_path),
        // These steps move nothing into or out of view.
        Move::Mode | Move::Keep | Move::Return | Move::Purge => true,
    };
    // An entry that moved out and back has a new status change time, so compare the rest.
    let is_as_before = match (at_path, step.at_path) {
        (Some(found), Some(expected)) => found.is_same_but_renamed(&expected),
        (found, expected) => found == expected,
    };
    !is_done && is_as_before && (step.what == Move::Out || step.is_new(in_staging))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plants what a dead process left")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::{CWD, RenameFlags};

    use super::*;
    use crate::host::capture::stamp::Moment;
    use crate::host::identity::Identity;
    use crate::host::replace::scene::Scene;

    impl Scene {
        fn finish(&self, step: &Step) -> Finished {
            self.recover(&self.journal(step.clone()).encode()).unwrap()
        }
    }

    /// Once, a directory that got the inode of one that was deleted got its files too.
    #[test]
    fn a_directory_that_has_only_the_inode_of_the_one_that_was_meant_stays_as_it_is() {
        let scene = Scene::new(&[("staging/1", "new")]);
        let journal = scene.journal(scene.step(Move::In, "a"));
        let other = Identity { birth: Some(Moment::EARLIEST), ..journal.root };
        // Where the file system does not tell, the inode has to do.
        let is_told = journal.root.birth.is_some();
        let of_other = Journal { root: other, steps: journal.steps.clone() };
        assert_eq!(scene.recover(&of_other.encode()).is_some(), !is_told);
        assert_eq!(scene.path("root/a").exists(), !is_told);
        assert!(scene.recover(&journal.encode()).is_some());
        assert!(scene.path("root/a").exists());
    }

    fn mode(scene: &Scene) -> u32 {
        std::fs::metadata(scene.path("root/d")).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_directory_becomes_private_after_a_crash_unless_another_program_changed_its_mode() {
        let scene = Scene::new(&[("root/d/file", "")]);
        let step = scene.step(Move::Mode, "d");
        let at_path = step.at_path.unwrap();
        let step = Step { in_staging: Some(at_path.with_bits(0o700)), ..step };
        // A file in it does not make it another directory.
        std::fs::write(scene.path("root/d/later"), "").unwrap();
        assert!(scene.finish(&step).stuck.is_none());
        assert_eq!(mode(&scene), 0o700);
        std::fs::set_permissions(scene.path("root/d"), PermissionsExt::from_mode(0o750)).unwrap();
        assert!(scene.finish(&step).stuck.is_none());
        assert_eq!(mode(&scene), 0o750);
    }

    /// A directory `d` with `sub/notes` in it, and a step that takes it out of view.
    fn removal() -> (Scene, Step) {
        let scene = Scene::new(&[("root/d/sub/notes", "draft")]);
        let step = scene.step(Move::Out, "d");
        (scene, step)
    }

    const NOTES: &str = "root/d/sub/notes";
    const WORK: &str = "an hour of work";

    #[test]
    fn a_directory_that_no_program_changed_is_taken_out_of_view() {
        let (scene, step) = removal();
        for _ in ["to do", "done already"] {
            let finished = scene.finish(&step);
            assert!(finished.returned.is_empty() && finished.stuck.is_none());
            assert!(!scene.path("root/d").exists());
        }
    }

    /// Once, only the directory's own stamp was compared, which does not change with what is below.
    #[test]
    fn what_a_program_wrote_below_a_directory_after_a_crash_stays_in_view() {
        type Change = fn(&Scene);
        let cases: [Change; 3] = [
            |scene| std::fs::write(scene.path(NOTES), WORK).unwrap(),
            |scene| std::fs::write(scene.path("root/d/sub/new"), "").unwrap(),
            |scene| std::fs::remove_file(scene.path(NOTES)).unwrap(),
        ];
        for change in cases {
            let (scene, step) = removal();
            change(&scene);
            let finished = scene.finish(&step);
            assert!(finished.returned.is_empty() && finished.stuck.is_none());
            assert!(scene.path("root/d/sub").exists());
        }
    }

    /// A program wrote, then the directory went out of view, and the process died before it observed.
    fn removal_of_work() -> (Scene, Step) {
        let (scene, step) = removal();
        std::fs::write(scene.path(NOTES), WORK).unwrap();
        std::fs::rename(scene.path("root/d"), scene.path("staging/1")).unwrap();
        (scene, step)
    }

    #[test]
    fn what_a_program_wrote_before_a_directory_went_out_of_view_comes_back() {
        let (scene, step) = removal_of_work();
        assert_eq!(scene.finish(&step).returned, [step.path]);
        assert_eq!(scene.read(NOTES), WORK);
    }

    #[test]
    fn what_cannot_come_back_waits_until_its_place_is_free() {
        let (scene, step) = removal_of_work();
        std::fs::write(scene.path("root/d"), "something else").unwrap();
        let finished = scene.finish(&step);
        assert_eq!(finished.waiting, [(step.path, "1".to_owned())]);
        let stuck = finished.stuck.unwrap();
        assert!(scene.path("staging/1/sub/notes").exists());
        std::fs::remove_file(scene.path("root/d")).unwrap();
        assert!(scene.recover(&stuck).unwrap().stuck.is_none());
        assert_eq!(scene.read(NOTES), WORK);
    }

    /// Before version 3 nothing says what was in a directory.
    #[test]
    fn a_directory_of_which_it_is_not_known_what_was_in_it_stays() {
        let (scene, step) = removal();
        assert!(scene.finish(&Step { inside: None, ..step }).stuck.is_none());
        assert_eq!(scene.read(NOTES), "draft");
    }

    /// A replacement was done, and died while it removed a directory in which a program works.
    fn purge() -> (Scene, Step) {
        let (scene, step) = removal();
        // Past the tick of the clock.
        std::thread::sleep(std::time::Duration::from_millis(12));
        std::fs::rename(scene.path("root/d"), scene.path("staging/1")).unwrap();
        let out = scene.mover().out(&step).unwrap();
        (scene, step.purging(out))
    }

    #[test]
    fn the_rest_of_a_directory_that_was_being_removed_goes() {
        let (scene, step) = purge();
        let finished = scene.finish(&step);
        assert!(finished.returned.is_empty() && finished.stuck.is_none());
        assert!(!scene.path("staging/1").exists() && !scene.path("root/d").exists());
    }

    /// Once, all of it went.
    #[test]
    fn what_a_program_saves_in_a_directory_that_was_being_removed_comes_back() {
        for name in ["notes", "new"] {
            let (scene, step) = purge();
            std::fs::write(scene.path("staging/1/sub").join(name), WORK).unwrap();
            assert_eq!(scene.finish(&step).returned, [step.path]);
            assert_eq!(scene.read(&format!("root/d/sub/{name}")), WORK);
            assert_eq!(std::fs::read_dir(scene.path("root/d/sub")).unwrap().count(), 1);
        }
    }

    /// The file `sw` became a directory with `t` in it.
    fn directory_for_file() -> (Scene, Step) {
        let scene = Scene::new(&[("root/sw", "old"), ("staging/1/t", "keep")]);
        let mut step = scene.step(Move::Exchange, "sw");
        scene.mover().forward(&mut step).unwrap();
        assert_eq!(scene.read("root/sw/t"), "keep");
        (scene, step)
    }

    /// Once, the directory went, because its own stamp was still the same.
    #[test]
    fn a_directory_in_which_a_program_saved_makes_no_room_for_what_it_displaced() {
        let (scene, step) = directory_for_file();
        std::fs::write(scene.path("root/sw/t"), WORK).unwrap();
        std::fs::write(scene.path("staging/1"), "also work").unwrap();
        assert_eq!(scene.finish(&step).waiting, [(step.path, "1".to_owned())]);
        assert_eq!(scene.read("root/sw/t"), WORK);
        assert_eq!(scene.read("staging/1"), "also work");
    }

    /// The process gave up and died while it took back what it had done. Once, the directory went.
    #[test]
    fn what_a_program_saved_in_a_directory_that_was_taken_back_comes_into_view() {
        let (scene, step) = directory_for_file();
        let new = scene.path("root/sw");
        let old = scene.path("staging/1");
        rustix::fs::renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).unwrap();
        std::fs::write(scene.path("staging/1/t"), WORK).unwrap();
        scene.finish(&step);
        assert_eq!(scene.read("root/sw/t"), WORK);
    }

    /// A write was killed after its file and the old one changed mover, and the old one is kept only as a copy.
    fn exchange() -> (Scene, Step) {
        let scene = Scene::new(&[("root/a", "old"), ("staging/1", "new")]);
        let step = scene.step(Move::Keep, "a");
        (scene, step)
    }

    fn make_exchange(scene: &Scene) {
        std::fs::rename(scene.path("root/a"), scene.path("old")).unwrap();
        std::fs::rename(scene.path("staging/1"), scene.path("root/a")).unwrap();
        std::fs::rename(scene.path("old"), scene.path("staging/1")).unwrap();
    }

    #[test]
    fn a_new_file_that_never_came_into_view_goes() {
        let (scene, step) = exchange();
        assert!(scene.finish(&step).stuck.is_none());
    }

    /// Once, it went with all that the program wrote after the kill.
    #[test]
    fn an_old_file_stays_while_a_program_has_it_open_and_when_it_wrote_into_it() {
        let (scene, step) = exchange();
        let mut program = std::fs::File::options().append(true).open(scene.path("root/a")).unwrap();
        make_exchange(&scene);
        assert!(scene.finish(&step).stuck.is_some(), "it is open");
        std::io::Write::write_all(&mut program, b"more").unwrap();
        drop(program);
        assert!(scene.finish(&step).stuck.is_some(), "it was written into");
        assert_eq!(scene.read("staging/1"), "oldmore");
    }

    #[test]
    fn an_old_file_that_no_program_wrote_into_goes() {
        let (scene, step) = exchange();
        make_exchange(&scene);
        assert!(scene.finish(&step).stuck.is_none());
    }
}
