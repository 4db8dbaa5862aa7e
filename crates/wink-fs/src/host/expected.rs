//! What a change must find, because that is what was kept for it: whatever else it took away would be lost.

use std::sync::PoisonError;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Result as SystemResult;

use super::Host;
use super::inside::{Inside, if_there};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::path::TreePath;

/// What was at a path, and below, just before it was kept.
pub(super) type Expected = (TreePath, Option<Inside>);

impl Host {
    /// Remembers what is at a path, which is about to be kept for the next change.
    ///
    /// Whoever keeps it, or changes it, says why it cannot be looked at, where it cannot.
    pub(super) fn expect(&self, path: &TreePath) {
        if let Ok(inside) = self.inside(path) {
            self.lock_expected().push((path.clone(), inside));
        }
    }

    /// Forgets what was kept: it was for another change.
    pub(super) fn expect_nothing(&self) {
        self.lock_expected().clear();
    }

    /// Refuses to replace what is not what was kept for that.
    pub(super) fn check_expected(&self) -> Result<()> {
        let expected = std::mem::take(&mut *self.lock_expected());
        for (path, inside) in expected {
            if self.inside(&path).ok() != Some(inside) {
                return Err(changed_meanwhile(Operation::Replace, &path));
            }
        }
        Ok(())
    }

    /// Tells whether a directory that was taken out of view is what was kept of it, if it was.
    pub(super) fn is_expected(&self, path: &TreePath, area: BorrowedFd<'_>, name: &[u8]) -> bool {
        let expected = self.lock_expected().iter().rev().find(|(it, _)| it == path).cloned();
        expected
            .is_none_or(|(_, inside)| Inside::but_for_links(&self.root, area, name).ok() == inside)
    }

    fn inside(&self, path: &TreePath) -> SystemResult<Option<Inside>> {
        let looked = self.root.open_parent(path).and_then(|slot| {
            slot.map(|slot| Inside::but_for_links(&self.root, slot.directory.as_fd(), slot.name))
                .transpose()
        });
        if_there(looked)
    }

    fn lock_expected(&self) -> std::sync::MutexGuard<'_, Vec<Expected>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that somebody was there between a look at the files and their change.
pub(super) fn changed_meanwhile(operation: Operation, path: &TreePath) -> Error {
    let what = match operation {
        Operation::Delete => "removed",
        _ => "replaced",
    };
    Error::new(operation, ErrorKind::Conflict).with_path(path).with_detail(format!(
        "somebody changed it, or what is in it, meanwhile; nothing was {what}, try again"
    ))
}
