//! Files that are in another place with the same content.

use std::collections::HashMap;

use crate::error::Result;
use crate::hash::ContentHash;
use crate::ops;
use crate::path::TreePath;
use crate::tree::Tree;

/// Pairs files of one tree that went with files of another that came.
///
/// Only content that is unique among those that went and those that came, and not empty, says where it
/// moved.
pub(crate) fn pair_up<'p>(
    before: &dyn Tree,
    went: impl Iterator<Item = &'p TreePath>,
    after: &dyn Tree,
    came: impl Iterator<Item = &'p TreePath>,
) -> Result<Vec<(TreePath, TreePath)>> {
    let went = by_content(before, went)?;
    if went.is_empty() {
        return Ok(Vec::new());
    }
    let came = by_content(after, came)?;
    let unique = |paths: &[&TreePath]| (paths.len() == 1).then(|| paths[0].clone());
    let moved = |(hash, from): (&ContentHash, &Vec<&TreePath>)| {
        Some((unique(from)?, unique(came.get(hash)?)?))
    };
    Ok(went.iter().filter_map(moved).collect())
}

fn by_content<'p>(
    tree: &dyn Tree,
    paths: impl Iterator<Item = &'p TreePath>,
) -> Result<HashMap<ContentHash, Vec<&'p TreePath>>> {
    let mut found: HashMap<ContentHash, Vec<&TreePath>> = HashMap::new();
    for path in paths {
        let hash = ops::content_hash(tree, path)?;
        if hash != ContentHash::of(b"") {
            found.entry(hash).or_default().push(path);
        }
    }
    Ok(found)
}
