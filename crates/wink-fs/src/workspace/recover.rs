//! Taking back what calls had changed whose process died.

use std::collections::BTreeSet;

use super::history::{History, describe, keep};
use crate::compare::{compare, kind_at};
use crate::descend::descend;
use crate::error::Result;
use crate::event::Event;
use crate::filesystem::Backend;
use crate::hash::ContentHash;
use crate::operation::{Left, OperationCause, OperationChange, OperationRecord};
use crate::ops;
use crate::path::TreePath;
use crate::scope::Scope;
use crate::tree::{Kind, Tree};

/// What a call is called of which nothing is known but what it may have changed.
const INTERRUPTED: &str = "interrupted";

impl History {
    /// Takes back what calls had changed whose process died, but for what somebody changed since, and says of a
    /// replacement that the backend has finished since that it was done.
    pub(super) fn recover(&self, backend: &mut dyn Backend) -> Result<()> {
        for (number, paths) in self.ledger.interrupted()? {
            match self.ledger.begun_record(number)? {
                Some(done) if is_done(&*backend.live(), &done)? => {
                    self.ledger.append(done, None)?
                }
                _ => self.take_back_call(backend, number, paths)?,
            }
        }
        Ok(())
    }

    fn take_back_call(
        &self,
        backend: &mut dyn Backend,
        number: u64,
        paths: Vec<TreePath>,
    ) -> Result<()> {
        if paths.is_empty() {
            self.ledger.discard(number);
            return Ok(());
        }
        let before = self.ledger.before(number)?;
        let (theirs, ours) = match self.ledger.put_by(number)? {
            Some(put) => told_apart(&*before, &*backend.live(), put, paths)?,
            None => (Vec::new(), paths),
        };
        let taken_back = self.take_back(backend, &*before, &ours)?;
        let left = self.what_it_left(&*before, &*backend.live(), theirs)?;
        self.tell_recovered(taken_back, &left);
        match left.is_empty() {
            true => self.ledger.discard(number),
            false => {
                let left = self.prepare(number, INTERRUPTED, OperationCause::Call, left)?;
                self.ledger.append(left, Some(before))?;
            }
        }
        Ok(())
    }

    fn tell_recovered(&self, taken_back: Vec<TreePath>, left: &[OperationChange]) {
        if !taken_back.is_empty() || !left.is_empty() {
            let left = left.iter().map(|it| it.path.clone()).collect();
            self.observers.tell(&Event::Recovered { taken_back, left });
        }
    }

    /// Says of what somebody changed since what was there before the call, as of any operation: so it is not
    /// lost, and neither is what they did.
    fn what_it_left(
        &self,
        before: &dyn Tree,
        live: &dyn Tree,
        theirs: Vec<TreePath>,
    ) -> Result<Vec<OperationChange>> {
        match theirs.is_empty() {
            true => Ok(Vec::new()),
            false => describe(&compare(before, live, &Scope::paths(theirs))?, live),
        }
    }

    /// Makes paths what they were and returns those that were not; an operation of its own, so that nothing is
    /// lost.
    fn take_back(
        &self,
        backend: &mut dyn Backend,
        before: &dyn Tree,
        paths: &[TreePath],
    ) -> Result<Vec<TreePath>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let scope = Scope::paths(paths.iter().cloned());
        let differences = compare(&*backend.live(), before, &scope)?;
        if differences.is_empty() {
            return Ok(Vec::new());
        }
        let (sequence, aside) = self.ledger.next()?;
        let mut image = backend.before_image(&aside)?;
        keep(&mut *image, &scope)?;
        let changes = describe(&differences, before)?;
        let operation = self.prepare(sequence, "recover", OperationCause::Recovery, changes)?;
        let kept = image.tree()?;
        backend.replace(before, &scope)?;
        self.ledger.append(operation, Some(kept))?;
        Ok(differences.into_iter().map(|it| it.path).collect())
    }
}

/// Tells whether an operation that was written down is done: something is as it leaves it.
///
/// A call is written down after it has changed files, and then it was not seen to be done; all else before,
/// and then the backend finishes it.
fn is_done(live: &dyn Tree, operation: &OperationRecord) -> Result<bool> {
    if operation.cause == OperationCause::Call && operation.name != INTERRUPTED {
        return Ok(false);
    }
    for change in &operation.changes {
        if Left::at(live, &change.path)? == change.left {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Tells the paths that somebody else wrote into since a call from those that only the call may have changed;
/// those in or around the first count with them.
fn told_apart(
    before: &dyn Tree,
    live: &dyn Tree,
    put: BTreeSet<ContentHash>,
    paths: Vec<TreePath>,
) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
    let mut known = put;
    for path in &paths {
        each_file(before, path, &mut |hash| known.extend([hash]))?;
    }
    let mut changed = Vec::new();
    for path in &paths {
        let mut is_known = true;
        each_file(live, path, &mut |hash| is_known &= known.contains(&hash))?;
        changed.extend((!is_known).then(|| path.clone()));
    }
    let overlaps =
        |path: &TreePath, other: &TreePath| path.starts_with(other) || other.starts_with(path);
    Ok(paths.into_iter().partition(|path| changed.iter().any(|other| overlaps(path, other))))
}

/// Looks at the content of each file at a path and below it.
fn each_file(tree: &dyn Tree, path: &TreePath, look: &mut dyn FnMut(ContentHash)) -> Result<()> {
    match kind_at(tree, path)? {
        Some(Kind::File) => look(ops::content_hash(tree, path)?),
        Some(Kind::Directory) => {
            for entry in tree.list(path)? {
                let below = path.join(&entry.name)?;
                descend(|| each_file(tree, &below, look))?;
            }
        }
        _ => {}
    }
    Ok(())
}
