//! Files that moved: content that went in one place and came in another.

use super::Diff;
use crate::diff::moved;
use crate::error::Result;
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Names a file that moved without a change of its content.
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
    /// Where it was.
    pub from: TreePath,
    /// Where it is.
    pub to: TreePath,
}

/// Takes files that moved out of what was added and deleted.
pub(super) fn find(diff: &mut Diff, before: &dyn Tree, after: &dyn Tree) -> Result<()> {
    let is_file = |kind: Option<Kind>| kind == Some(Kind::File);
    let went = diff.deleted.iter().filter(|it| is_file(it.before)).map(|it| &it.path);
    let came = diff.added.iter().filter(|it| is_file(it.after)).map(|it| &it.path);
    let moved = moved::pair_up(before, went, after, came)?;
    diff.renamed = moved.into_iter().map(|(from, to)| Renamed { from, to }).collect();
    diff.renamed.sort_by(|a, b| a.to.cmp(&b.to));
    let (renamed, deleted, added) = (&diff.renamed, &mut diff.deleted, &mut diff.added);
    deleted.retain(|changed| renamed.iter().all(|moved| moved.from != changed.path));
    added.retain(|changed| renamed.iter().all(|moved| moved.to != changed.path));
    Ok(())
}
