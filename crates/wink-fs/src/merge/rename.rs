//! Files that one side moved without a change, so that the other side's change can follow.

use std::collections::BTreeMap;

use super::change::{Change, Changes};
use crate::diff::moved;
use crate::error::Result;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Where each moved file is now, by where it was.
pub(super) type Moves = BTreeMap<TreePath, TreePath>;

pub(super) fn moves(base: &dyn Tree, side: &dyn Tree, changes: &Changes) -> Result<Moves> {
    let files = |before: Option<Kind>, after: Option<Kind>| {
        let is_meant = move |change: Change| (change.before, change.after) == (before, after);
        changes.iter().filter(move |(_, it)| is_meant(*it)).map(|(path, _)| path)
    };
    let (went, came) = (files(Some(Kind::File), None), files(None, Some(Kind::File)));
    Ok(moved::pair_up(base, went, side, came)?.into_iter().collect())
}
