//! Files that one side moved without a change, so that the other side's change can follow.

use std::collections::{BTreeMap, HashMap};

use super::change::{Change, Changes};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::ops;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Where each moved file is now, by where it was.
pub(super) type Moves = BTreeMap<TreePath, TreePath>;

/// Finds files that went in one place and came in another; only content that is unique among those
/// that went and those that came, and not empty, says where it moved.
pub(super) fn moves(base: &dyn Tree, side: &dyn Tree, changes: &Changes) -> Result<Moves> {
    let went = by_content(base, changes, |it| is_file(it.before) && it.after.is_none())?;
    if went.is_empty() {
        return Ok(Moves::new());
    }
    let came = by_content(side, changes, |it| it.before.is_none() && is_file(it.after))?;
    let unique = |paths: &[TreePath]| (paths.len() == 1).then(|| paths[0].clone());
    let moved = |(hash, from): (&ContentHash, &Vec<TreePath>)| {
        Some((unique(from)?, unique(came.get(hash)?)?))
    };
    Ok(went.iter().filter_map(moved).collect())
}

fn is_file(kind: Option<Kind>) -> bool {
    kind == Some(Kind::File)
}

fn by_content(
    tree: &dyn Tree,
    changes: &Changes,
    is_meant: impl Fn(Change) -> bool,
) -> Result<HashMap<ContentHash, Vec<TreePath>>> {
    let mut found: HashMap<ContentHash, Vec<TreePath>> = HashMap::new();
    for (path, _) in changes.iter().filter(|(_, change)| is_meant(*change)) {
        let hash = ops::content_hash(tree, path)?;
        if hash != ContentHash::of(b"") {
            found.entry(hash).or_default().push(path.clone());
        }
    }
    Ok(found)
}
