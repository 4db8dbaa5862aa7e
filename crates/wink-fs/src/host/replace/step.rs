//! One rename that brings an entry in, or takes one out, or both.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::RenameFlags;
use rustix::io::{Errno, Result};

use super::Action;
use crate::host::capture::stamp::{self, Stamp};
use crate::host::root::Root;
use crate::path::TreePath;

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

    pub(super) fn forward(&self, step: &Step) -> Result<()> {
        self.rename(step, step.what)?;
        match self.displaced_another(step) {
            false => Ok(()),
            true => {
                // Somebody changed it since it was looked at: his work stays where it is.
                self.rename(step, step.what.back())?;
                Err(Errno::STALE)
            }
        }
    }

    pub(super) fn back(&self, step: &Step) -> Result<()> {
        self.rename(step, step.what.back())
    }

    fn displaced_another(&self, step: &Step) -> bool {
        let Some(expected) = step.standing.filter(|_| step.what != Move::In) else { return false };
        let found = stamp_of(self.staging, step.name.as_bytes());
        !matches!(found, Ok(Some(found)) if found.is_same_but_renamed(&expected))
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
