//! Paths of which a comparison or a restore has nothing to say.

use std::sync::Arc;

use wink_fs::{Error, ErrorKind, Tree, TreePath, Workspace};

use crate::refusal::Refusal;
use crate::states;

/// Two states by their files, but for those that are excluded, and how a sentence calls both of them.
pub(crate) struct Both {
    pub(crate) trees: [Arc<dyn Tree>; 2],
    pub(crate) in_none: &'static str,
}

/// Refuses a path that neither state has, so that nobody takes its absence for a file that is the same.
pub(crate) fn check(files: &Workspace, path: &TreePath, both: &Both) -> Result<(), Refusal> {
    let mut unknown = None;
    for tree in &both.trees {
        match tree.stat(path) {
            Ok(_) => return Ok(()),
            Err(error) if is_absent(&error) => {}
            Err(error) => unknown = Some(error),
        }
    }
    Err(match unknown {
        Some(error) => states::refusal(error),
        None if files.tree().stat(path).is_ok() => excluded(path),
        None => nowhere(path, both.in_none),
    })
}

fn is_absent(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn nowhere(path: &TreePath, in_none: &str) -> Refusal {
    let message =
        format!("`{path}` is {in_none}; list what is there with ls, or leave `path` out.");
    Refusal::new(ErrorKind::NotFound, message).with_path(path)
}

fn excluded(path: &TreePath) -> Refusal {
    let message = format!(
        "`{path}` is excluded from snapshots, which neither hold nor change it; name another path."
    );
    Refusal::new(ErrorKind::InvalidArgument, message).with_path(path)
}
