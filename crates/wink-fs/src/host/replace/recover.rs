//! Finishing what a process began that died.

use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use super::journal::Journal;
use super::step::{Displaced, Move, Places, Step, aside_name};
use crate::host::root::Root;
use crate::path::TreePath;

/// What came of a journal.
#[derive(Default)]
pub(in crate::host) struct Finished {
    /// The journal of what is another program's work, was taken out of view and cannot come back yet.
    pub(in crate::host) stuck: Option<Vec<u8>>,
    /// The paths of that work, each with its name in the staging directory.
    pub(in crate::host) waiting: Vec<(TreePath, String)>,
    /// The paths at which such work came back.
    pub(in crate::host) returned: Vec<TreePath>,
}

/// Finishes the steps of a journal; what another program changed before or after the process died stays as it is.
///
/// Returns `None` where the journal belongs to another root or cannot be read. Done twice, or again after it was
/// interrupted, it changes nothing more.
pub(in crate::host) fn recover(
    root: &Root,
    staging: BorrowedFd<'_>,
    journal: &[u8],
) -> Option<Finished> {
    // A journal gets its name only when it is whole. One that cannot be read is damaged, or of another
    // version, and what lies beside it may be the only copy of the user's work.
    let journal = Journal::decode(journal)?;
    // The staging directory is on the root's own file system, whose device may have another number
    // after the machine was started again.
    if !root.identity().ok()?.is_same(&journal.root) {
        return None;
    }
    let places = Places { root, staging };
    let (mut finished, mut stuck) = (Finished::default(), Vec::new());
    for mut step in journal.steps {
        if step.what == Move::Return {
            if places.give_back(&step).is_err() {
                finished.waiting.push((step.path.clone(), step.name.clone()));
                stuck.push(step);
            }
            continue;
        }
        if step.what == Move::Purge {
            if !places.purge_rest(&step) {
                let back = Step::returning(&step.path, &step.name);
                match places.give_back(&back) {
                    Ok(()) => finished.returned.push(step.path),
                    Err(_) => {
                        finished.waiting.push((step.path, step.name));
                        stuck.push(back);
                    }
                }
            }
            continue;
        }
        if places.settle_parts(&step).is_err() {
            finished.waiting.push((step.path.clone(), aside_name(&step)));
            stuck.push(step);
            continue;
        }
        if !redo(&places, &mut step) {
            stuck.push(step);
            continue;
        }
        let displaced = places.displaced(&step);
        if displaced == Displaced::Written || places.holds_anothers(&step) {
            if places.put_back(&step).is_ok() {
                finished.returned.push(step.path);
            } else {
                finished.waiting.push((step.path.clone(), step.name.clone()));
                stuck.push(step);
            }
        } else if displaced == Displaced::Open {
            // A program may still write into it, and no other copy would have that.
            stuck.push(step.kept());
        }
    }
    finished.stuck =
        (!stuck.is_empty()).then(|| Journal { root: journal.root, steps: stuck }.encode());
    Some(finished)
}

/// Tells whether a journal has steps for this root that can still be done, as on a file system that is read-only for now.
pub(in crate::host) fn is_unfinished(root: &Root, staging: BorrowedFd<'_>, journal: &[u8]) -> bool {
    let Some(journal) = Journal::decode(journal) else { return false };
    let is_ours = root.identity().is_ok_and(|identity| identity.is_same(&journal.root));
    let places = Places { root, staging };
    is_ours && journal.steps.iter().any(|step| is_to_do(&places, step))
}

/// Does a step that was not done yet, unless another program changed what it is about. Tells whether nothing of it is
/// left to do.
fn redo(places: &Places<'_>, step: &mut Step) -> bool {
    !is_to_do(places, step)
        || match places.forward(step) {
            // What came out was not what was expected, and is back: it is another program's.
            Ok(()) | Err(Errno::STALE) => true,
            Err(_) => !is_to_do(places, step),
        }
}

fn is_to_do(places: &Places<'_>, step: &Step) -> bool {
    // What cannot be looked at now may be to do.
    let Ok((standing, waiting)) = places.look(&step.path, &step.name) else {
        return matches!(step.what, Move::Out | Move::In | Move::Exchange);
    };
    let is_done = match step.what {
        Move::Out => standing.is_none(),
        Move::In | Move::Exchange => step.is_new(standing),
        Move::Keep | Move::Return | Move::Purge => true,
    };
    // One that was done and taken back again has other times of its last change.
    let is_standing = match (standing, step.standing) {
        (Some(found), Some(expected)) => found.is_same_but_renamed(&expected),
        (found, expected) => found == expected,
    };
    !is_done && is_standing && (step.what == Move::Out || step.is_new(waiting))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plants what a dead process left")]
mod tests {
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

    /// A program wrote, then the directory went out of view, and the process died before it looked.
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
        let out = scene.places().out(&step).unwrap();
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
        scene.places().forward(&mut step).unwrap();
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
        let (new, old) = (scene.path("root/sw"), scene.path("staging/1"));
        rustix::fs::renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).unwrap();
        std::fs::write(scene.path("staging/1/t"), WORK).unwrap();
        scene.finish(&step);
        assert_eq!(scene.read("root/sw/t"), WORK);
    }

    /// A write was killed after its file and the old one changed places, and the old one is kept only as a copy.
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
