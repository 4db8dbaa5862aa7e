//! Paths of which a comparison or a restore has nothing to say.

use std::sync::Arc;

use wink_fs::{Error, ErrorKind, Tree, TreePath, Workspace};

use crate::history::changes;
use crate::tool::error::ToolError;

/// Two states by their files, but for those that are excluded, and how a sentence calls both of them.
pub(crate) struct Both {
    pub(crate) trees: [Arc<dyn Tree>; 2],
    pub(crate) in_none: &'static str,
}

/// Refuses a path that neither state has, so that the model does not take its absence for an unchanged file.
///
/// Returns whether both have it; if one has not, and nothing differs all the same, it is
/// [`excluded`].
pub(crate) fn is_in_both(
    files: &Workspace,
    path: &TreePath,
    both: &Both,
) -> Result<bool, ToolError> {
    let mut found = 0;
    let mut unknown = None;
    for tree in &both.trees {
        match tree.stat(path) {
            Ok(_) => found += 1,
            Err(error) if is_absent(&error) => {}
            Err(error) => unknown = Some(error),
        }
    }
    match unknown {
        _ if found > 0 => Ok(found == both.trees.len()),
        Some(error) => Err(changes::refusal(error)),
        None if is_excluded_now(files, path) => Err(excluded(path)),
        None => Err(nowhere(path, both.in_none)),
    }
}

fn is_excluded_now(files: &Workspace, path: &TreePath) -> bool {
    files.tree().stat(path).is_ok() && files.tree_without_excluded().stat(path).is_err()
}

fn is_absent(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn nowhere(path: &TreePath, in_none: &str) -> ToolError {
    let message =
        format!("`{path}` is {in_none}; list what is there with ls, or what changed with diff.");
    ToolError::new(ErrorKind::NotFound, message).with_path(path)
}

/// Refuses a path of which snapshots know nothing, or knew nothing when one was taken.
pub(crate) fn excluded(path: &TreePath) -> ToolError {
    let message = format!(
        "`{path}` is excluded from snapshots, or was when one was taken, so that it is neither compared \
         nor changed; name another path."
    );
    ToolError::new(ErrorKind::InvalidArgument, message).with_path(path)
}
