//! Events that are stale: later changes may have undone them.

use wink_fs::TreePath;

use super::Change;
use super::rollback::paths;
use crate::session::FileChange;

/// Takes the changes out that reach where it is not known what changed, and returns them after the paths
/// that are to be looked at.
///
/// Where one of them reaches further, as a move does, more is not known.
pub(super) fn sort_out(
    unknown: Vec<TreePath>,
    changes: &mut Vec<Change>,
) -> (Vec<TreePath>, Vec<FileChange>) {
    let mut unknown = apart(unknown);
    let mut overtaken = Vec::new();
    loop {
        let reaches = |(change, _): &mut Change| {
            paths(change).into_iter().any(|path| overlaps(path, &unknown))
        };
        let more: Vec<_> = changes.extract_if(.., reaches).map(|(change, _)| change).collect();
        if more.is_empty() {
            return (unknown, overtaken);
        }
        unknown.extend(more.iter().flat_map(paths).cloned());
        unknown = apart(unknown);
        overtaken.extend(more);
    }
}

/// Sorts paths and leaves out those below others.
fn apart(mut paths: Vec<TreePath>) -> Vec<TreePath> {
    paths.sort();
    paths.dedup_by(|below, above| below.starts_with(above));
    paths
}

/// Returns whether a path is one of these, or below or above one.
fn overlaps(path: &TreePath, apart: &[TreePath]) -> bool {
    // Those below a path come right after it, and of two above it one would be below the other.
    let at = apart.partition_point(|other| other <= path);
    let is_below = at.checked_sub(1).is_some_and(|before| path.starts_with(&apart[before]));
    is_below || apart.get(at).is_some_and(|after| after.starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    #[test]
    fn a_path_overlaps_with_those_above_and_below_it_and_with_no_others() {
        let apart = apart(["b/c", "a", "a/x", "b/c", "a-b/y"].map(path).to_vec());
        assert_eq!(apart, ["a", "a-b/y", "b/c"].map(path));
        for (text, expected) in [
            ("a", true),
            ("a/x/y", true),
            ("a-b", true),
            ("a-b/z", false),
            ("aa", false),
            ("b", true),
            ("b/c/d", true),
            ("b/cc", false),
            (".", true),
        ] {
            assert_eq!(overlaps(&path(text), &apart), expected, "{text}");
        }
        assert!(overlaps(&path("any"), &[TreePath::root()]));
        assert!(!overlaps(&path("any"), &[]));
    }

    #[test]
    fn a_move_takes_both_its_ends_along() {
        let moved = |from, to| (FileChange::renamed(path(from), path(to)), None);
        let mut changes = vec![moved("a", "b"), moved("b", "c"), moved("x", "y")];
        let (unknown, overtaken) = sort_out(vec![path("c/d")], &mut changes);
        assert_eq!(unknown, ["a", "b", "c"].map(path));
        assert_eq!((overtaken.len(), changes.len()), (2, 1));
    }
}
