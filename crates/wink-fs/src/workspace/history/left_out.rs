//! Leaves out what cannot be read, so that one file does not keep all the others from being saved.

use std::io;

use super::{History, TRIES, is_worth_a_try};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::{BUSY, Capture, DENIED};
use crate::path::TreePath;
use crate::tree::compare::compare;
use crate::tree::scope::Scope;
use crate::tree::{Kind, Tree};

/// Why a file is missing that can be opened and not be read.
const UNREADABLE: &str = "it cannot be read";

/// Why a file is missing that would not fit.
const TOO_LARGE: &str = "it is larger than the whole history may be";

impl History {
    /// Runs a call that captures the files, again if they change meanwhile.
    ///
    /// What cannot be read, and a file that changes each time, is left out for the rest of the turn: the work takes that
    /// from [`in_turn`](super::exclusions::Excluded::in_turn) each time. Nothing is left out of which the failed call
    /// had changed anything.
    pub(crate) fn leaving_out<T>(
        &self,
        live: &dyn Tree,
        mut work: impl FnMut() -> Result<T>,
    ) -> Result<T> {
        let mut tries = 1;
        loop {
            let error = match work() {
                Err(error) => error,
                done => return done,
            };
            let is_new = if is_worth_a_try(&error) {
                tries += 1;
                // Once one file keeps changing, the others need not be tried as often.
                tries <= TRIES || self.leave_out_path(&error, BUSY)
            } else if error.kind() == ErrorKind::PermissionDenied {
                self.leave_out_unreadable(live)
            } else {
                is_unreadable(live, &error) && self.leave_out_path(&error, UNREADABLE)
            };
            if !is_new {
                return Err(error);
            }
        }
    }

    /// Fails if the step from one state to another changes what this turn leaves out: that part of it could not be made.
    pub(crate) fn check_left_out(&self, from: &dyn Tree, to: &dyn Tree) -> Result<()> {
        let left_out = self.excluded.left_out();
        let paths: Vec<_> = left_out.iter().map(|it| it.path.clone()).collect();
        // No path at all would mean every path.
        let Some(first) = left_out.first() else { return Ok(()) };
        let changed = compare(from, to, &Scope::paths(paths))?;
        let Some(changed) = changed.first() else { return Ok(()) };
        let why =
            left_out.iter().find(|it| changed.path.starts_with(&it.path)).unwrap_or(first).why;
        let kind = if why == BUSY { ErrorKind::Conflict } else { ErrorKind::PermissionDenied };
        Err(Error::new(Operation::Capture, kind).with_path(&changed.path).with_detail(format!(
            "it changes there, and cannot be saved here ({why}); nothing was changed"
        )))
    }

    /// Leaves out the path that an error names.
    fn leave_out_path(&self, error: &Error, why: &'static str) -> bool {
        path_of(error).is_some_and(|path| self.excluded.leave_out(path, why))
    }

    /// Leaves out files that are larger than the whole history may be, before they are read; returns whether there are
    /// any new ones.
    ///
    /// Reading one takes seconds or, where it is mostly holes, hours, and then it does not fit.
    pub(crate) fn leave_out_too_large(&self, capture: &Capture) -> Result<bool> {
        let Some(max) = self.retention.max_bytes.filter(|max| capture.totals.bytes > *max) else {
            return Ok(false);
        };
        let tree = &*capture.tree;
        let mut is_any_new = false;
        let mut waiting = vec![TreePath::root()];
        while let Some(directory) = waiting.pop() {
            for known in tree.list_known(&directory)? {
                let path = directory.join(&known.entry.name)?;
                match known.entry.kind {
                    Kind::Directory => waiting.push(path),
                    // One whose hash is known was captured before.
                    Kind::File if known.file.is_none() && tree.stat(&path)?.size_bytes > max => {
                        is_any_new |= self.excluded.leave_out(path, TOO_LARGE);
                    }
                    _ => {}
                }
            }
        }
        Ok(is_any_new)
    }

    /// Leaves out all files that cannot be opened, and all directories that cannot be listed; returns whether there are
    /// any new ones.
    fn leave_out_unreadable(&self, live: &dyn Tree) -> bool {
        let excluded = self.excluded.in_turn();
        let mut is_any_new = false;
        let mut waiting = vec![TreePath::root()];
        while let Some(directory) = waiting.pop() {
            let Ok(entries) = live.list(&directory) else {
                is_any_new |= self.excluded.leave_out(directory, DENIED);
                continue;
            };
            for entry in entries {
                let Ok(path) = directory.join(&entry.name) else { continue };
                match entry.kind {
                    _ if excluded.matches_entry(&path) => {}
                    Kind::Directory => waiting.push(path),
                    Kind::File if is_denied(live, &path) => {
                        is_any_new |= self.excluded.leave_out(path, DENIED);
                    }
                    _ => {}
                }
            }
        }
        is_any_new
    }
}

fn path_of(error: &Error) -> Option<TreePath> {
    TreePath::parse(error.path()?).ok()
}

fn is_denied(live: &dyn Tree, path: &TreePath) -> bool {
    live.open(path).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// Returns whether the file that an error names can be opened and not be read, as on a failing disk.
fn is_unreadable(live: &dyn Tree, error: &Error) -> bool {
    let content = path_of(error).and_then(|path| live.open(&path).ok());
    content.is_some_and(|content| io::copy(&mut content.reader(), &mut io::sink()).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::layer::{Call, Layer, Layered};
    use crate::memory::MemoryBackend;
    use crate::workspace::Workspace;

    /// Refuses every call that lists the root.
    struct Shut;

    impl Layer for Shut {
        fn before(&self, _: &dyn Tree, call: &Call<'_>) -> Result<()> {
            match call {
                Call::List { path } if path.is_root() => {
                    Err(call.refused(ErrorKind::PermissionDenied))
                }
                _ => Ok(()),
            }
        }
    }

    /// Once, a pattern that excludes nothing stood for it, and it was named as left out of a snapshot.
    #[test]
    fn a_root_that_cannot_be_read_is_not_left_out() {
        let files = Workspace::builder(Layered::new(MemoryBackend::new(), Shut)).build();
        let history = files.history(Operation::Snapshot).unwrap();
        let mut tries = 0;
        let error = history.leaving_out(&*files.tree(), || {
            tries += 1;
            Err::<(), _>(Error::new(Operation::Capture, ErrorKind::PermissionDenied))
        });
        assert_eq!((error.unwrap_err().kind(), tries), (ErrorKind::PermissionDenied, 1));
        assert_eq!(history.excluded.left_out(), []);
    }
}
