//! Finds renames: content that was removed at one path and added at another.

use std::collections::HashMap;

use super::Diff;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::ops;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// A file that moved unchanged.
///
/// ```
/// use wink_fs::{StateRef, DiffOptions, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "some content")?;
/// let before = files.snapshot("before")?;
/// files.rename("a.txt", "b.txt")?;
/// let diff = files.diff_with(&before, StateRef::Live, &DiffOptions::default().renames(true))?;
/// assert_eq!(diff.renamed[0].from.to_string(), "a.txt");
/// assert_eq!(diff.renamed[0].to.to_string(), "b.txt");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Renamed {
    /// The old path.
    pub from: TreePath,
    /// The new path.
    pub to: TreePath,
}

/// Moves renamed files from added and deleted to renamed.
pub(super) fn find(diff: &mut Diff, before: &dyn Tree, after: &dyn Tree) -> Result<()> {
    let is_file = |kind: Option<Kind>| kind == Some(Kind::File);
    let removed = diff.deleted.iter().filter(|it| is_file(it.before)).map(|it| &it.path);
    let added = diff.added.iter().filter(|it| is_file(it.after)).map(|it| &it.path);
    let moved = pair_up(before, removed, after, added)?;
    diff.renamed = moved.into_iter().map(|(from, to)| Renamed { from, to }).collect();
    diff.renamed.sort_by(|a, b| a.to.cmp(&b.to));
    let renamed = &diff.renamed;
    let deleted = &mut diff.deleted;
    let added = &mut diff.added;
    deleted.retain(|changed| renamed.iter().all(|moved| moved.from != changed.path));
    added.retain(|changed| renamed.iter().all(|moved| moved.to != changed.path));
    Ok(())
}

/// Pairs removed files with added ones.
///
/// Only non-empty content that is unique among both says where it moved.
pub(crate) fn pair_up<'p>(
    before: &dyn Tree,
    removed: impl Iterator<Item = &'p TreePath>,
    after: &dyn Tree,
    added: impl Iterator<Item = &'p TreePath>,
) -> Result<Vec<(TreePath, TreePath)>> {
    let removed = by_content(before, removed)?;
    if removed.is_empty() {
        return Ok(Vec::new());
    }
    let added = by_content(after, added)?;
    let unique = |paths: &[&TreePath]| (paths.len() == 1).then(|| paths[0].clone());
    let moved = |(hash, from): (&ContentHash, &Vec<&TreePath>)| {
        Some((unique(from)?, unique(added.get(hash)?)?))
    };
    Ok(removed.iter().filter_map(moved).collect())
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
