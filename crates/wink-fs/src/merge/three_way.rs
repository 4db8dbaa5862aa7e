//! Decides which changes of the other side are applied, and which conflict with ours.

use std::collections::BTreeMap;

use super::change::{Change, Changes};
use super::patch::{Edit, Patch, Source};
use super::{ConflictKind, MergeConflict, OnConflict, file};
use crate::diff::rename;
use crate::error::Result;
use crate::path::TreePath;
use crate::tree::descend;
use crate::tree::scope::Scope;
use crate::tree::{FileMode, Kind, Tree};

/// The merge base, and both sides.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) base: &'a dyn Tree,
    pub(crate) ours: &'a dyn Tree,
    pub(crate) theirs: &'a dyn Tree,
}

/// Computes the changes to ours that merge theirs, and the conflicts.
pub(crate) fn three_way<'a>(
    sides: Sides<'a>,
    scope: &Scope,
    on_conflict: OnConflict,
) -> Result<(Patch<'a>, Vec<MergeConflict>)> {
    let theirs = Changes::find(sides.base, sides.theirs, scope)?;
    let ours = Changes::find(sides.base, sides.ours, scope)?;
    let mut merge = Merge {
        sides,
        our_moves: moves(sides.base, sides.ours, &ours)?,
        their_moves: moves(sides.base, sides.theirs, &theirs)?,
        ours,
        on_conflict,
        edits: BTreeMap::new(),
        conflicts: BTreeMap::new(),
    };
    for (path, change) in theirs.iter() {
        merge.change(path, change)?;
    }
    merge.remove_directories(&theirs);
    Ok(merge.finish())
}

struct Merge<'a> {
    sides: Sides<'a>,
    ours: Changes,
    our_moves: Moves,
    their_moves: Moves,
    on_conflict: OnConflict,
    edits: BTreeMap<TreePath, Edit>,
    conflicts: BTreeMap<TreePath, ConflictKind>,
}

impl<'a> Merge<'a> {
    fn change(&mut self, path: &TreePath, theirs: Change) -> Result<()> {
        if self.is_decided(path) || self.moved(path, theirs)? {
            return Ok(());
        }
        let in_the_way = self.ours.in_the_way(path);
        if let Some(above) = in_the_way.filter(|_| theirs.after.is_some()) {
            return self.conflict(&above, ConflictKind::Kind);
        }
        match self.ours.get(path) {
            None => self.take(path, theirs),
            Some(ours) => self.both(path, ours, theirs),
        }
    }

    /// Returns whether a path is below a file or a conflict that was decided on.
    fn is_decided(&self, path: &TreePath) -> bool {
        let is_closed = |above: TreePath| {
            self.conflicts.get(&above) == Some(&ConflictKind::Kind)
                || matches!(self.edits.get(&above), Some(Edit::File { .. } | Edit::Link))
        };
        path.ancestors().any(is_closed)
    }

    /// Applies their change of an entry that ours left alone.
    fn take(&mut self, path: &TreePath, theirs: Change) -> Result<()> {
        let edit = match theirs {
            // Removed at the end, if it is empty by then.
            Change { before: Some(Kind::Directory), after: None } => return Ok(()),
            Change { before: Some(Kind::Directory), .. } if self.has_ours_below(path) => {
                return self.conflict(path, ConflictKind::Kind);
            }
            Change { after, .. } => self.as_theirs(path, after)?,
        };
        self.edits.insert(path.clone(), edit);
        Ok(())
    }

    fn has_ours_below(&self, path: &TreePath) -> bool {
        self.ours.below(path).any(|(_, change)| change.after.is_some())
    }

    fn as_theirs(&self, path: &TreePath, kind: Option<Kind>) -> Result<Edit> {
        Ok(match kind {
            None => Edit::Remove,
            Some(Kind::Directory) => Edit::Directory,
            Some(Kind::Symlink) => Edit::Link,
            Some(_) => {
                let mode = self.sides.theirs.stat(path)?.mode;
                Edit::File { content: Source::Theirs(path.clone()), mode }
            }
        })
    }

    /// Decides on an entry that both changed.
    fn both(&mut self, path: &TreePath, ours: Change, theirs: Change) -> Result<()> {
        match (ours.after, theirs.after) {
            (None, None) | (Some(Kind::Directory), Some(Kind::Directory)) => Ok(()),
            (Some(Kind::File), Some(Kind::File)) => self.file(path, theirs.before),
            (Some(Kind::Symlink), Some(Kind::Symlink)) if self.is_same_link(path)? => Ok(()),
            (None, Some(Kind::File | Kind::Symlink)) => {
                self.conflict(path, ConflictKind::DeletedByUs)
            }
            (Some(Kind::File | Kind::Symlink), None) => {
                self.conflict(path, ConflictKind::DeletedByThem)
            }
            _ => self.conflict(path, ConflictKind::Kind),
        }
    }

    fn is_same_link(&self, path: &TreePath) -> Result<bool> {
        Ok(self.sides.ours.read_link(path)? == self.sides.theirs.read_link(path)?)
    }

    fn file(&mut self, path: &TreePath, was: Option<Kind>) -> Result<()> {
        let (edit, conflict) = file::merge(&self.sides, path, was, self.on_conflict)?;
        self.edits.extend(edit.map(|edit| (path.clone(), edit)));
        self.conflicts.extend(conflict.map(|kind| (path.clone(), kind)));
        Ok(())
    }

    /// Notes a conflict; applies theirs if it is to win.
    fn conflict(&mut self, path: &TreePath, kind: ConflictKind) -> Result<()> {
        self.conflicts.insert(path.clone(), kind);
        if self.on_conflict == OnConflict::Theirs {
            let theirs = self.sides.theirs.stat(path).ok().map(|stat| stat.kind);
            self.take_whole(path, theirs)?;
        }
        Ok(())
    }

    /// Takes an entry and everything below it from theirs.
    fn take_whole(&mut self, path: &TreePath, kind: Option<Kind>) -> Result<()> {
        self.edits.insert(path.clone(), self.as_theirs(path, kind)?);
        if kind != Some(Kind::Directory) {
            return Ok(());
        }
        for entry in self.sides.theirs.list(path)? {
            let below = path.join(&entry.name)?;
            descend(|| self.take_whole(&below, Some(entry.kind)))?;
        }
        Ok(())
    }

    /// Lets a change follow a moved file; returns whether that decides on the path.
    fn moved(&mut self, path: &TreePath, theirs: Change) -> Result<bool> {
        match (self.our_moves.get(path).cloned(), self.their_moves.get(path).cloned()) {
            (Some(ours), Some(theirs)) if ours != theirs => {
                self.conflict(path, ConflictKind::Moved)?;
                Ok(true)
            }
            (Some(to), None) if is_changed_file(theirs) => self.follow_us(path, to),
            (None, Some(to)) => self.follow_them(path, to),
            _ => Ok(self.is_place_of_moved(path)),
        }
    }

    /// Applies their change to the file at the path where ours moved it.
    fn follow_us(&mut self, path: &TreePath, to: TreePath) -> Result<bool> {
        // Theirs has something else there: then the move is not followed, and the change conflicts with our removal.
        if self.sides.theirs.stat(&to).is_ok() {
            return Ok(false);
        }
        let mode = self.moved_mode(path, &to, path)?;
        self.edits.insert(to, Edit::File { content: Source::Theirs(path.clone()), mode });
        Ok(true)
    }

    /// Moves the file that ours changed to where theirs moved it.
    fn follow_them(&mut self, path: &TreePath, to: TreePath) -> Result<bool> {
        let is_changed = self.ours.get(path).is_some_and(is_changed_file);
        if is_changed && self.ours.get(&to).is_none() && self.ours.in_the_way(&to).is_none() {
            let mode = self.moved_mode(path, path, &to)?;
            self.edits.insert(path.clone(), Edit::Remove);
            self.edits.insert(to, Edit::File { content: Source::Ours(path.clone()), mode });
            return Ok(true);
        }
        Ok(false)
    }

    fn moved_mode(&self, was: &TreePath, ours: &TreePath, theirs: &TreePath) -> Result<FileMode> {
        let ours = self.sides.ours.stat(ours)?.mode;
        let theirs = self.sides.theirs.stat(theirs)?.mode;
        Ok(if theirs == self.sides.base.stat(was)?.mode { ours } else { theirs })
    }

    /// Returns whether a file that ours changed was moved there.
    fn is_place_of_moved(&self, path: &TreePath) -> bool {
        let is_ours = |edit: &Edit| matches!(edit, Edit::File { content: Source::Ours(from), .. } if from != path);
        self.edits.get(path).is_some_and(is_ours)
    }

    /// Removes directories that theirs removed, if nothing of ours is left in them.
    fn remove_directories(&mut self, theirs: &Changes) {
        let removed =
            |change: &Change| *change == Change { before: Some(Kind::Directory), after: None };
        // Children before parents, so that a directory that is emptied here is seen as empty.
        let removed = theirs.iter().rev().filter(|(_, change)| removed(change));
        for (path, _) in removed {
            let is_there = self.ours.get(path).is_none_or(|change| change.after.is_some());
            if is_there && !self.is_decided(path) && !self.has_left(path) {
                self.edits.insert(path.clone(), Edit::Remove);
            }
        }
    }

    /// Returns whether something of ours stays below a path.
    fn has_left(&self, path: &TreePath) -> bool {
        let stays = |below: &TreePath| !matches!(self.edits.get(below), Some(Edit::Remove));
        self.ours.below(path).any(|(below, change)| change.after.is_some() && stays(below))
            || self.conflicts.keys().any(|below| below.starts_with(path) && stays(below))
    }

    fn finish(self) -> (Patch<'a>, Vec<MergeConflict>) {
        let conflicts = self.conflicts.into_iter().map(|(path, kind)| {
            let is_resolved = match self.on_conflict {
                OnConflict::Stop => false,
                OnConflict::Ours | OnConflict::Theirs => true,
                // What both sides moved is then at both places.
                OnConflict::Markers => matches!(kind, ConflictKind::Lines | ConflictKind::Moved),
            };
            MergeConflict { path, kind, is_resolved }
        });
        let conflicts = conflicts.collect();
        (Patch { sides: self.sides, edits: self.edits }, conflicts)
    }
}

fn is_changed_file(change: Change) -> bool {
    change == Change { before: Some(Kind::File), after: Some(Kind::File) }
}

/// The new path of each moved file, by its old path.
type Moves = BTreeMap<TreePath, TreePath>;

/// Finds files that one side moved unchanged, so that the other side's change can follow.
fn moves(base: &dyn Tree, side: &dyn Tree, changes: &Changes) -> Result<Moves> {
    let files = |before: Option<Kind>, after: Option<Kind>| {
        let is_meant = move |change: Change| (change.before, change.after) == (before, after);
        changes.iter().filter(move |(_, it)| is_meant(*it)).map(|(path, _)| path)
    };
    let removed = files(Some(Kind::File), None);
    let added = files(None, Some(Kind::File));
    Ok(rename::pair_up(base, removed, side, added)?.into_iter().collect())
}
