//! Which changes of the other side are taken, and which are in conflict with ours.

use std::collections::BTreeMap;

use super::change::{Change, Changes};
use super::patch::{Edit, Patch, Source};
use super::rename::{Moves, moves};
use super::{ConflictKind, MergeConflict, OnConflict, file};
use crate::error::Result;
use crate::path::TreePath;
use crate::tree::descend::descend;
use crate::tree::scope::Scope;
use crate::tree::{FileMode, Kind, Tree};

/// The state both sides grew from, and what they are now.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) base: &'a dyn Tree,
    pub(crate) ours: &'a dyn Tree,
    pub(crate) theirs: &'a dyn Tree,
}

/// Finds what must change in ours so that it has what theirs changed, and where that is in conflict.
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

    /// Tells whether a file or a conflict takes the place of a directory above.
    fn is_decided(&self, path: &TreePath) -> bool {
        let is_closed = |above: TreePath| {
            self.conflicts.get(&above) == Some(&ConflictKind::Kind)
                || matches!(self.edits.get(&above), Some(Edit::File { .. } | Edit::Link))
        };
        path.ancestors().any(is_closed)
    }

    /// Takes what theirs made of an entry that ours left alone.
    fn take(&mut self, path: &TreePath, theirs: Change) -> Result<()> {
        let edit = match theirs {
            // Once all that was in it is decided.
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

    /// Notes a conflict; where theirs is to win, it does.
    fn conflict(&mut self, path: &TreePath, kind: ConflictKind) -> Result<()> {
        self.conflicts.insert(path.clone(), kind);
        if self.on_conflict == OnConflict::Theirs {
            let theirs = self.sides.theirs.stat(path).ok().map(|stat| stat.kind);
            self.take_whole(path, theirs)?;
        }
        Ok(())
    }

    /// Takes an entry as theirs has it, with all that is below it.
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

    /// Lets a change follow a file that one side moved; returns whether that decides on the path.
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

    /// Changes the file that ours moved as theirs changed it.
    fn follow_us(&mut self, path: &TreePath, to: TreePath) -> Result<bool> {
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
        let (ours, theirs) =
            (self.sides.ours.stat(ours)?.mode, self.sides.theirs.stat(theirs)?.mode);
        Ok(if theirs == self.sides.base.stat(was)?.mode { ours } else { theirs })
    }

    /// Tells whether a file that ours changed was put there already.
    fn is_place_of_moved(&self, path: &TreePath) -> bool {
        let is_ours = |edit: &Edit| matches!(edit, Edit::File { content: Source::Ours(from), .. } if from != path);
        self.edits.get(path).is_some_and(is_ours)
    }

    /// Removes the directories that theirs removed and that nothing of ours is left in.
    fn remove_directories(&mut self, theirs: &Changes) {
        let removed =
            |change: &Change| *change == Change { before: Some(Kind::Directory), after: None };
        let removed = theirs.iter().rev().filter(|(_, change)| removed(change));
        for (path, _) in removed {
            let is_there = self.ours.get(path).is_none_or(|change| change.after.is_some());
            if is_there && !self.is_decided(path) && !self.has_left(path) {
                self.edits.insert(path.clone(), Edit::Remove);
            }
        }
    }

    /// Tells whether something of ours stays below a path.
    fn has_left(&self, path: &TreePath) -> bool {
        let stays = |below: &TreePath| !matches!(self.edits.get(below), Some(Edit::Remove));
        self.ours.below(path).any(|(below, change)| change.after.is_some() && stays(below))
            || self.conflicts.keys().any(|below| below.starts_with(path) && stays(below))
    }

    fn finish(self) -> (Patch<'a>, Vec<MergeConflict>) {
        let conflicts = self.conflicts.into_iter();
        let conflicts = conflicts.map(|(path, kind)| MergeConflict { path, kind }).collect();
        (Patch { sides: self.sides, edits: self.edits }, conflicts)
    }
}

fn is_changed_file(change: Change) -> bool {
    change == Change { before: Some(Kind::File), after: Some(Kind::File) }
}
