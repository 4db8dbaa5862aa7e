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
                Some(begun) if is_programs_run(&begun) => self.recover_executed(backend, begun)?,
                Some(done) if is_done(&*backend.live(), &done)? => self.finish(backend, done)?,
                begun => self.take_back_call(backend, number, paths, begun)?,
            }
        }
        Ok(())
    }

    /// Writes down what is done, and tells of a replacement how far it is.
    fn finish(&self, backend: &dyn Backend, done: OperationRecord) -> Result<()> {
        let told = match done.cause.saved() {
            Some(_) => Some(how_far(&*backend.live(), &done)?),
            None => None,
        };
        self.append(done, None)?;
        told.iter().for_each(|event| self.observers.tell(event));
        Ok(())
    }

    fn take_back_call(
        &self,
        backend: &mut dyn Backend,
        number: u64,
        paths: Vec<TreePath>,
        begun: Option<OperationRecord>,
    ) -> Result<()> {
        if paths.is_empty() {
            self.ledger.discard(number);
            return Ok(());
        }
        let before = self.ledger.before(number)?;
        let (theirs, ours) = match self.ledger.put_by(number)? {
            Some(put) => told_apart(&*before, &*backend.live(), put, begun.as_ref(), paths)?,
            None => (Vec::new(), paths),
        };
        let taken_back = self.take_back(backend, &*before, &ours)?;
        let left = self.what_it_left(&*before, &*backend.live(), theirs)?;
        self.tell_recovered(taken_back, &left);
        match left.is_empty() {
            true => self.ledger.discard(number),
            false => {
                let left = self.prepare(number, INTERRUPTED, OperationCause::Call, left)?;
                self.append(left, Some(before))?;
            }
        }
        Ok(())
    }

    pub(super) fn tell_recovered(&self, taken_back: Vec<TreePath>, left: &[OperationChange]) {
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
        self.append(operation, Some(kept))?;
        Ok(differences.into_iter().map(|it| it.path).collect())
    }
}

/// Tells whether an operation is a program's run: what it will change is not known before.
fn is_programs_run(operation: &OperationRecord) -> bool {
    operation.cause.saved().is_some() && operation.changes.is_empty()
}

/// Tells whether an operation that was written down is done, because something is as it leaves it: one that the
/// backend finishes, or one that stays as it was found. All else is taken back, whoever was told that it failed.
fn is_done(live: &dyn Tree, operation: &OperationRecord) -> Result<bool> {
    if operation.name != INTERRUPTED && operation.cause.saved().is_none() {
        return Ok(false);
    }
    for change in &operation.changes {
        if Left::at(live, &change.path)? == change.left {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Tells what a replacement made as it leaves it from what it did not.
fn how_far(live: &dyn Tree, done: &OperationRecord) -> Result<Event> {
    let (mut finished, mut left) = (Vec::new(), Vec::new());
    for change in &done.changes {
        let is_finished = Left::at(live, &change.path)? == change.left;
        if is_finished { &mut finished } else { &mut left }.push(change.path.clone());
    }
    Ok(Event::ReplacementFinished { name: done.name.clone(), finished, left })
}

/// Tells the paths that somebody else wrote into since a call from those that only the call may have changed;
/// those in or around the first count with them.
fn told_apart(
    before: &dyn Tree,
    live: &dyn Tree,
    put: BTreeSet<ContentHash>,
    begun: Option<&OperationRecord>,
    paths: Vec<TreePath>,
) -> Result<(Vec<TreePath>, Vec<TreePath>)> {
    let mut known = put;
    for path in &paths {
        each_file(before, path, &mut |hash| known.extend([hash]))?;
    }
    let mut changed = Vec::new();
    for path in &paths {
        if is_left_by(begun, live, path)? {
            continue;
        }
        let mut is_known = true;
        each_file(live, path, &mut |hash| is_known &= known.contains(&hash))?;
        changed.extend((!is_known).then(|| path.clone()));
    }
    Ok(paths.into_iter().partition(|path| changed.iter().any(|other| path.overlaps(other))))
}

/// Tells whether a path is as an operation leaves it that was written down.
fn is_left_by(begun: Option<&OperationRecord>, live: &dyn Tree, path: &TreePath) -> Result<bool> {
    let change = begun.and_then(|begun| begun.changes.iter().find(|it| it.path == *path));
    change.map_or(Ok(false), |change| Ok(Left::at(live, path)? == change.left))
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
