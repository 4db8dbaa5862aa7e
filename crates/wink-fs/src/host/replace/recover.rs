//! Finishing what a process began that died.

use rustix::fd::BorrowedFd;

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

/// Does the rest of a journal; what somebody changed before or after the process died stays as it is.
///
/// Returns `None` where the journal belongs to another root or cannot be read. Done twice, or again after it was
/// interrupted, it changes nothing more.
pub(in crate::host) fn recover(
    root: &Root,
    staging: BorrowedFd<'_>,
    journal: &[u8],
) -> Option<Finished> {
    // A journal gets its name only when it is whole. One that cannot be read is damaged, or of another
    // version, and what lies beside it may be somebody's only copy.
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
        if places.settle_parts(&step).is_err() {
            finished.waiting.push((step.path.clone(), aside_name(&step)));
            stuck.push(step);
            continue;
        }
        redo(&places, &mut step);
        let displaced = places.displaced(&step);
        if displaced == Displaced::Written || places.holds_anothers(&step) {
            if places.put_back(&step).is_ok() {
                finished.returned.push(step.path);
            } else {
                finished.waiting.push((step.path.clone(), step.name.clone()));
                stuck.push(step);
            }
        } else if displaced == Displaced::Open {
            // A program may write into it still, and nobody would have that.
            stuck.push(step.kept());
        }
    }
    finished.stuck =
        (!stuck.is_empty()).then(|| Journal { root: journal.root, steps: stuck }.encode());
    Some(finished)
}

/// Does a step that was not done yet, unless another program changed what it is about.
fn redo(places: &Places<'_>, step: &mut Step) {
    let Ok((standing, waiting)) = places.look(&step.path, &step.name) else { return };
    let is_done = match step.what {
        Move::Out => standing.is_none(),
        Move::In | Move::Exchange => step.is_new(standing),
        Move::Keep | Move::Return => true,
    };
    let is_to_do = standing == step.standing && (step.what == Move::Out || step.is_new(waiting));
    if !is_done && is_to_do {
        // What comes out otherwise than expected goes back.
        let _ = places.forward(step);
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plants what a dead process left")]
mod tests {
    use std::path::Path;

    use rustix::fd::AsFd;

    use super::*;
    use crate::host::capture::stamp::{self, Moment, Stamp};
    use crate::host::identity::Identity;
    use crate::host::inside::Inside;

    /// Recovers a file that waits in a staging directory for a root; tells whether that was done.
    fn recovered(place: &Path, root: &Root, identity: Identity) -> bool {
        std::fs::write(place.join("staging/1"), "new").unwrap();
        let staging = std::fs::File::open(place.join("staging")).unwrap();
        let waiting = stamp::look(staging.as_fd(), b"1").unwrap();
        let waiting = Some(Stamp::of(&waiting));
        let path = TreePath::parse("a").unwrap();
        let (what, name) = (Move::In, "1".into());
        let step = Step { what, path, name, standing: None, waiting, inside: None };
        let journal = Journal { root: identity, steps: vec![step] };
        recover(root, staging.as_fd(), &journal.encode()).is_some()
    }

    /// Once, a directory that got the inode of one that was deleted got its files too.
    #[test]
    fn a_directory_that_has_only_the_inode_of_the_one_that_was_meant_stays_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        for name in ["root", "staging"] {
            std::fs::create_dir(place.path().join(name)).unwrap();
        }
        let root = Root::open_ambient(&place.path().join("root"), None).unwrap();
        let identity = root.identity().unwrap();
        let other = Identity { birth: Some(Moment::EARLIEST), ..identity };
        // Where the file system does not tell, the inode has to do.
        let is_told = identity.birth.is_some();
        assert_eq!(recovered(place.path(), &root, other), !is_told);
        assert_eq!(place.path().join("root/a").exists(), !is_told);
        assert!(recovered(place.path(), &root, identity));
        assert!(place.path().join("root/a").exists());
    }

    /// A directory `d` with `sub/notes` in it, and a step that takes it out of view.
    struct Scene {
        place: tempfile::TempDir,
        root: Root,
        journal: Journal,
    }

    impl Scene {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            for name in ["root/d/sub", "staging"] {
                std::fs::create_dir_all(place.path().join(name)).unwrap();
            }
            std::fs::write(place.path().join("root/d/sub/notes"), "draft").unwrap();
            let root = Root::open_ambient(&place.path().join("root"), None).unwrap();
            let standing = Some(Stamp::of(&stamp::look(root.as_fd(), b"d").unwrap()));
            let inside = Some(Inside::of(&root, root.as_fd(), b"d").unwrap());
            let (what, path, name) = (Move::Out, TreePath::parse("d").unwrap(), "1".into());
            let step = Step { what, path, name, standing, waiting: None, inside };
            let journal = Journal { root: root.identity().unwrap(), steps: vec![step] };
            Self { place, root, journal }
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.place.path().join(name)
        }

        fn recover(&self) -> Finished {
            self.recover_by(&self.journal.encode())
        }

        fn recover_by(&self, journal: &[u8]) -> Finished {
            let staging = std::fs::File::open(self.path("staging")).unwrap();
            recover(&self.root, staging.as_fd(), journal).unwrap()
        }

        /// Somebody writes below the directory, where it is.
        fn write_below(&self, directory: &str) {
            std::fs::write(self.path(directory).join("sub/notes"), "an hour of work").unwrap();
        }

        fn notes(&self) -> String {
            std::fs::read_to_string(self.path("root/d/sub/notes")).unwrap()
        }
    }

    fn returned(finished: &Finished) -> Vec<String> {
        finished.returned.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_directory_that_nobody_changed_is_taken_out_of_view() {
        let scene = Scene::new();
        for _ in ["to do", "done already"] {
            let finished = scene.recover();
            assert!(finished.returned.is_empty() && finished.stuck.is_none());
            assert!(!scene.path("root/d").exists());
        }
    }

    /// Once, only the directory's own stamp was compared, which does not change with what is below.
    #[test]
    fn what_somebody_wrote_below_a_directory_after_a_crash_stays_in_view() {
        type Change = fn(&Scene);
        let cases: [Change; 3] = [
            |scene| scene.write_below("root/d"),
            |scene| std::fs::write(scene.path("root/d/sub/new"), "").unwrap(),
            |scene| std::fs::remove_file(scene.path("root/d/sub/notes")).unwrap(),
        ];
        for change in cases {
            let scene = Scene::new();
            change(&scene);
            let finished = scene.recover();
            assert!(finished.returned.is_empty() && finished.stuck.is_none());
            assert!(scene.path("root/d/sub").exists());
        }
    }

    /// Somebody wrote, then the directory went out of view, and the process died before it looked.
    #[test]
    fn what_somebody_wrote_before_a_directory_went_out_of_view_comes_back() {
        let scene = Scene::new();
        scene.write_below("root/d");
        std::fs::rename(scene.path("root/d"), scene.path("staging/1")).unwrap();
        assert_eq!(returned(&scene.recover()), ["d"]);
        assert_eq!(scene.notes(), "an hour of work");
    }

    #[test]
    fn what_cannot_come_back_waits_until_its_place_is_free() {
        let scene = Scene::new();
        scene.write_below("root/d");
        std::fs::rename(scene.path("root/d"), scene.path("staging/1")).unwrap();
        std::fs::write(scene.path("root/d"), "something else").unwrap();
        let finished = scene.recover();
        let d = TreePath::parse("d").unwrap();
        assert_eq!(finished.waiting, [(d, "1".to_owned())]);
        let stuck = finished.stuck.unwrap();
        assert!(scene.path("staging/1/sub/notes").exists());
        std::fs::remove_file(scene.path("root/d")).unwrap();
        assert!(scene.recover_by(&stuck).stuck.is_none());
        assert_eq!(scene.notes(), "an hour of work");
    }

    /// Before version 3 nobody wrote down what was in a directory.
    #[test]
    fn a_directory_of_which_it_is_not_known_what_was_in_it_stays() {
        let mut scene = Scene::new();
        scene.journal.steps[0].inside = None;
        assert!(scene.recover().stuck.is_none());
        assert_eq!(scene.notes(), "draft");
    }

    /// A write was killed after its file and the old one changed places, and the old one is kept only as a copy.
    struct Exchanged {
        place: tempfile::TempDir,
        root: Root,
        journal: Journal,
    }

    impl Exchanged {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let path = |name: &str| place.path().join(name);
            for (name, content) in [("root/a", "old"), ("staging/1", "new")] {
                std::fs::create_dir(path(name).parent().unwrap()).unwrap();
                std::fs::write(path(name), content).unwrap();
            }
            let root = Root::open_ambient(&path("root"), None).unwrap();
            let staging = std::fs::File::open(path("staging")).unwrap();
            let at = TreePath::parse("a").unwrap();
            let places = Places { root: &root, staging: staging.as_fd() };
            let (standing, waiting) = places.look(&at, "1").unwrap();
            let (what, name) = (Move::Keep, "1".into());
            let step = Step { what, path: at, name, standing, waiting, inside: None };
            let journal = Journal { root: root.identity().unwrap(), steps: vec![step] };
            Self { place, root, journal }
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.place.path().join(name)
        }

        fn exchange(&self) {
            std::fs::rename(self.path("root/a"), self.path("old")).unwrap();
            std::fs::rename(self.path("staging/1"), self.path("root/a")).unwrap();
            std::fs::rename(self.path("old"), self.path("staging/1")).unwrap();
        }

        fn is_stuck(&self) -> bool {
            let staging = std::fs::File::open(self.path("staging")).unwrap();
            let finished = recover(&self.root, staging.as_fd(), &self.journal.encode()).unwrap();
            finished.stuck.is_some()
        }
    }

    #[test]
    fn a_new_file_that_never_came_into_view_goes() {
        assert!(!Exchanged::new().is_stuck());
    }

    /// Once, it went with all that the program wrote after the kill.
    #[test]
    fn an_old_file_stays_while_a_program_has_it_open_and_when_it_wrote_into_it() {
        let scene = Exchanged::new();
        let mut program = std::fs::File::options().append(true).open(scene.path("root/a")).unwrap();
        scene.exchange();
        assert!(scene.is_stuck(), "it is open");
        std::io::Write::write_all(&mut program, b"more").unwrap();
        drop(program);
        assert!(scene.is_stuck(), "it was written into");
        assert_eq!(std::fs::read_to_string(scene.path("staging/1")).unwrap(), "oldmore");
    }

    #[test]
    fn an_old_file_that_nobody_wrote_into_goes() {
        let scene = Exchanged::new();
        scene.exchange();
        assert!(!scene.is_stuck());
    }
}
