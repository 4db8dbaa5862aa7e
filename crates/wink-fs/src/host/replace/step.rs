//! One rename that brings an entry in, or takes one out, or both.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::RenameFlags;
use rustix::io::{Errno, Result};

use super::Action;
use crate::host::capture::stamp::{self, Stamp};
use crate::host::inside::Inside;
use crate::host::root::Root;
use crate::path::TreePath;
use crate::tree::Kind;

/// What a rename does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::host) enum Move {
    /// The entry in view goes to the staging directory.
    Out,
    /// The entry in the staging directory comes into view.
    In,
    /// They change places.
    Exchange,
}

impl Move {
    pub(super) fn of(action: Action) -> Self {
        match action {
            Action::Remove => Self::Out,
            Action::Add(_) | Action::AddParent => Self::In,
            Action::Exchange(_) => Self::Exchange,
        }
    }

    fn back(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
            Self::Exchange => Self::Exchange,
        }
    }
}

/// A rename, with the stamps of what it moves as they are before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::host) struct Step {
    pub(super) what: Move,
    pub(super) path: TreePath,
    /// The name in the staging directory.
    pub(super) name: String,
    pub(super) standing: Option<Stamp>,
    pub(super) waiting: Option<Stamp>,
    /// What is in the directory that goes out of view.
    pub(super) inside: Option<Inside>,
}

impl Step {
    /// Tells whether a stamp is that of what comes into view.
    pub(super) fn is_new(&self, found: Option<Stamp>) -> bool {
        matches!((found, self.waiting), (Some(found), Some(new)) if found.is_same_but_renamed(&new))
    }
}

/// The two places of a step.
pub(super) struct Places<'a> {
    pub(super) root: &'a Root,
    pub(super) staging: BorrowedFd<'a>,
}

impl Places<'_> {
    /// Looks at both places of a step.
    pub(super) fn look(
        &self,
        path: &TreePath,
        name: &str,
    ) -> Result<(Option<Stamp>, Option<Stamp>)> {
        let slot = match self.root.open_parent(path) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            slot => slot?,
        };
        let standing = match slot {
            None => None,
            Some(slot) => stamp_of(slot.directory.as_fd(), slot.name)?,
        };
        Ok((standing, stamp_of(self.staging, name.as_bytes())?))
    }

    /// Does a step; where it took out what is not what was looked at, that comes back.
    pub(super) fn forward(&self, step: &Step) -> Result<()> {
        self.rename(step, step.what)?;
        match self.displaced_another(step) {
            false => Ok(()),
            true => {
                // Somebody changed it since it was looked at: his work stays where it is.
                self.put_back(step)?;
                Err(Errno::STALE)
            }
        }
    }

    /// Undoes a step, but where somebody wrote into what came into view.
    pub(super) fn back(&self, step: &Step) -> Result<()> {
        self.rename(step, step.what.back())?;
        let is_file = step.waiting.is_some_and(|waiting| waiting.kind() == Kind::File);
        if is_file && !step.is_new(stamp_of(self.staging, step.name.as_bytes())?) {
            self.rename(step, step.what)?;
            return Err(Errno::STALE);
        }
        Ok(())
    }

    /// Brings into view again what was not to be taken out of it, where nothing else has its place.
    pub(super) fn put_back(&self, step: &Step) -> Result<()> {
        match self.look(&step.path, &step.name)?.0 {
            None => self.rename(step, Move::In),
            found if step.what == Move::Exchange && step.is_new(found) => {
                self.rename(step, Move::Exchange)
            }
            Some(_) => Err(Errno::EXIST),
        }
    }

    /// Tells whether something waits that was in view and is not what was to go out of it: nobody kept that.
    pub(super) fn holds_anothers(&self, step: &Step) -> bool {
        match stamp_of(self.staging, step.name.as_bytes()) {
            Ok(None) => false,
            Ok(found) if step.is_new(found) => false,
            _ => self.displaced_another(step),
        }
    }

    fn displaced_another(&self, step: &Step) -> bool {
        let Some(expected) = step.standing.filter(|_| step.what != Move::In) else { return false };
        let found = stamp_of(self.staging, step.name.as_bytes());
        match found {
            Ok(Some(found)) if found.is_same_but_renamed(&expected) => {
                found.kind() == Kind::Directory && !self.holds_the_same(step)
            }
            _ => true,
        }
    }

    /// Tells whether in the directory that went out of view is what was in it.
    fn holds_the_same(&self, step: &Step) -> bool {
        let found = Inside::of(self.root, self.staging, step.name.as_bytes());
        matches!((found, step.inside), (Ok(found), Some(expected)) if found == expected)
    }

    fn rename(&self, step: &Step, what: Move) -> Result<()> {
        let slot = self.root.open_parent(&step.path)?.ok_or(Errno::EXIST)?;
        let waiting = (self.staging, step.name.as_bytes());
        let standing = (slot.directory.as_fd(), slot.name);
        let (from, to, flags) = match what {
            Move::Exchange => (waiting, standing, RenameFlags::EXCHANGE),
            Move::Out => (standing, waiting, RenameFlags::NOREPLACE),
            Move::In => (waiting, standing, RenameFlags::NOREPLACE),
        };
        rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags)
    }
}

fn stamp_of(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Option<Stamp>> {
    match stamp::look(directory, name) {
        Err(Errno::NOENT) => Ok(None),
        found => Ok(Some(Stamp::of(&found?))),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "plays somebody else")]
mod tests {
    use super::*;

    /// A replacement that is given up once took away what was written into a file that it had brought.
    #[test]
    fn what_somebody_wrote_into_what_came_into_view_is_not_taken_out_of_it() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for (name, content) in [("root/a", "old"), ("staging/1", "new")] {
            std::fs::create_dir(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), content).unwrap();
        }
        let root = Root::open_ambient(&path("root"), None).unwrap();
        let staging = std::fs::File::open(path("staging")).unwrap();
        let places = Places { root: &root, staging: staging.as_fd() };
        let (at, name) = (TreePath::parse("a").unwrap(), "1".to_owned());
        let (standing, waiting) = places.look(&at, &name).unwrap();
        let what = Move::Exchange;
        let step = Step { what, path: at, name, standing, waiting, inside: None };
        let content = || std::fs::read_to_string(path("root/a")).unwrap();
        places.forward(&step).unwrap();
        places.back(&step).unwrap();
        assert_eq!(content(), "old");
        places.forward(&step).unwrap();
        std::fs::write(path("root/a"), "an hour of work").unwrap();
        assert_eq!(places.back(&step), Err(Errno::STALE));
        assert_eq!(content(), "an hour of work");
    }
}
