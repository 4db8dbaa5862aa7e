//! Returns later matches, from files whose matching lines are counted already.

use crate::error::ErrorKind;
use crate::path::TreePath;
use crate::tree::Tree;

use super::file::{FileSearch, Found};
use super::line::GrepMatch;
use super::stop::Stop;

/// Searches only the files with the lines to return, and keeps only those.
///
/// Keeping all lines before them too would take unbounded memory.
pub(super) struct Later<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) file: &'a FileSearch,
    pub(super) stop: &'a Stop,
}

impl Later<'_> {
    /// Returns at most `max` lines after the first `skip`, given the number of lines of each file.
    pub(super) fn lines(
        &self,
        files: impl Iterator<Item = (TreePath, usize)>,
        mut skip: usize,
        max: usize,
    ) -> Result<Vec<GrepMatch>, ErrorKind> {
        let mut lines = Vec::new();
        for (path, count) in files {
            if count <= skip {
                skip -= count;
                continue;
            }
            let end = count.min(skip.saturating_add(max - lines.len()));
            lines.extend(self.lines_of(&path, skip, end)?);
            skip = 0;
            if lines.len() >= max {
                break;
            }
        }
        Ok(lines)
    }

    /// Returns lines of a file; none if it was deleted since, or is binary now.
    fn lines_of(
        &self,
        path: &TreePath,
        start: usize,
        end: usize,
    ) -> Result<Vec<GrepMatch>, ErrorKind> {
        let content = self.tree.open(path).ok();
        let found = content.and_then(|content| self.file.run(path, &content, start..end).ok());
        match (found, self.stop.reason()) {
            (None, Some(reason)) => Err(reason),
            (Some(Found::Lines { kept, .. }), _) => Ok(kept),
            _ => Ok(Vec::new()),
        }
    }
}
