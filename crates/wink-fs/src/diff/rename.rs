//! Files that moved: content that went in one place and came in another.

use std::collections::HashMap;

use super::{Changed, Diff};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::ops;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Names a file that moved without a change of its content.
///
/// ```
/// use wink_fs::{At, DiffOptions, Workspace};
///
/// let files = Workspace::memory();
/// files.write("a.txt", "some content")?;
/// let before = files.snapshot("before")?;
/// files.rename("a.txt", "b.txt")?;
/// let diff = files.diff_with(&before, At::Live, &DiffOptions::default().renames(true))?;
/// assert_eq!(diff.renamed[0].from.to_string(), "a.txt");
/// assert_eq!(diff.renamed[0].to.to_string(), "b.txt");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Renamed {
    /// Where it was.
    pub from: TreePath,
    /// Where it is.
    pub to: TreePath,
}

/// Takes files that moved out of what was added and deleted; only content that is unique on both
/// sides, and not empty, says where it went.
pub(super) fn find(diff: &mut Diff, before: &dyn Tree, after: &dyn Tree) -> Result<()> {
    let went = by_content(before, &diff.deleted, |changed| changed.before)?;
    let came = by_content(after, &diff.added, |changed| changed.after)?;
    let unique = |paths: &[TreePath]| (paths.len() == 1).then(|| paths[0].clone());
    let moved = went.iter().filter_map(|(hash, from)| {
        Some(Renamed { from: unique(from)?, to: unique(came.get(hash)?)? })
    });
    diff.renamed = moved.collect();
    diff.renamed.sort_by(|a, b| a.to.cmp(&b.to));
    let (renamed, deleted, added) = (&diff.renamed, &mut diff.deleted, &mut diff.added);
    deleted.retain(|changed| renamed.iter().all(|moved| moved.from != changed.path));
    added.retain(|changed| renamed.iter().all(|moved| moved.to != changed.path));
    Ok(())
}

fn by_content(
    tree: &dyn Tree,
    changed: &[Changed],
    kind: impl Fn(&Changed) -> Option<Kind>,
) -> Result<HashMap<ContentHash, Vec<TreePath>>> {
    let mut found: HashMap<ContentHash, Vec<TreePath>> = HashMap::new();
    for changed in changed.iter().filter(|changed| kind(changed) == Some(Kind::File)) {
        let hash = ops::content_hash(tree, &changed.path)?;
        if hash != ContentHash::of(b"") {
            found.entry(hash).or_default().push(changed.path.clone());
        }
    }
    Ok(found)
}
