//! Finishing what a process began that died.

use rustix::fd::BorrowedFd;

use super::journal::Journal;
use super::step::{Move, Places, Step};
use crate::host::root::Root;
use crate::path::TreePath;

/// Does the rest of a journal; what somebody changed after the process died stays as it is.
///
/// Returns `None` where the journal belongs to another root or cannot be read. Done twice, or again after it was
/// interrupted, it changes nothing more.
pub(in crate::host) fn recover(
    root: &Root,
    staging: BorrowedFd<'_>,
    journal: &[u8],
) -> Option<Vec<TreePath>> {
    // A journal gets its name only when it is whole. One that cannot be read is damaged, or of another
    // version, and what lies beside it may be somebody's only copy.
    let journal = Journal::decode(journal)?;
    // The staging directory is on the root's own file system, whose device may have another number
    // after the machine was started again.
    if !root.identity().ok()?.is_same(&journal.root) {
        return None;
    }
    let places = Places { root, staging };
    let left_alone = journal.steps.iter().filter(|step| !redo(&places, step));
    Some(left_alone.map(|step| step.path.clone()).collect())
}

/// Does a step that was not done yet; returns whether the path is what the step makes of it.
fn redo(places: &Places<'_>, step: &Step) -> bool {
    let Ok((standing, waiting)) = places.look(&step.path, &step.name) else { return false };
    let is_new = |found: Option<crate::host::capture::stamp::Stamp>| match (found, step.waiting) {
        (Some(found), Some(new)) => found.is_same_but_renamed(&new),
        _ => false,
    };
    let is_done = match step.what {
        Move::Out => standing.is_none(),
        Move::In | Move::Exchange => is_new(standing),
    };
    let is_to_do = standing == step.standing && (step.what == Move::Out || is_new(waiting));
    is_done || (is_to_do && places.forward(step).is_ok())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plants what a dead process left")]
mod tests {
    use std::path::Path;

    use rustix::fd::AsFd;

    use super::*;
    use crate::host::capture::stamp::{self, Moment, Stamp};
    use crate::host::identity::Identity;

    /// Recovers a file that waits in a staging directory for a root; tells whether that was done.
    fn recovered(place: &Path, root: &Root, identity: Identity) -> bool {
        std::fs::write(place.join("staging/1"), "new").unwrap();
        let staging = std::fs::File::open(place.join("staging")).unwrap();
        let waiting = stamp::look(staging.as_fd(), b"1").unwrap();
        let waiting = Some(Stamp::of(&waiting));
        let path = TreePath::parse("a").unwrap();
        let step = Step { what: Move::In, path, name: "1".into(), standing: None, waiting };
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
}
