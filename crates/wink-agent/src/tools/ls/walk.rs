//! Entries of a directory and of those below it, in order.

use wink_fs::search::Stop;
use wink_fs::{Error, ErrorKind, Kind, Operation, Result, Tree, TreePath};

/// One entry.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) path: TreePath,
    pub(super) kind: Kind,
}

/// Lists so many levels; a directory comes right before what is in it.
pub(super) fn walk(
    tree: &dyn Tree,
    path: &TreePath,
    depth: u64,
    stop: &Stop,
) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let mut left = children(tree, path, 1)?;
    while let Some((entry, level)) = left.pop() {
        if entry.kind == Kind::Directory && level < depth {
            if let Some(reason) = stop.reason() {
                return Err(given_up(path, reason));
            }
            left.extend(match children(tree, &entry.path, level + 1) {
                Err(error) if is_about_the_entry(&error) => Vec::new(),
                below => below?,
            });
        }
        found.push(entry);
    }
    Ok(found)
}

/// Returns the entries of a directory, last first.
fn children(tree: &dyn Tree, path: &TreePath, level: u64) -> Result<Vec<(Found, u64)>> {
    let entries = tree.list(path)?.into_iter().rev();
    let found = |entry: wink_fs::Entry| {
        Ok((Found { path: path.join(&entry.name)?, kind: entry.kind }, level))
    };
    entries.map(found).collect()
}

/// Returns the size of a file that is still there.
pub(super) fn size(tree: &dyn Tree, found: &Found) -> Result<Option<u64>> {
    if found.kind != Kind::File {
        return Ok(None);
    }
    match tree.stat(&found.path) {
        Err(error) if is_about_the_entry(&error) => Ok(None),
        stat => Ok(Some(stat?.size_bytes)),
    }
}

/// Returns whether an entry is gone, is another one by now, or may not be looked at.
pub(super) fn is_about_the_entry(error: &Error) -> bool {
    use ErrorKind::{InvalidArgument, NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), InvalidArgument | NotADirectory | NotFound | PermissionDenied)
}

fn given_up(path: &TreePath, reason: ErrorKind) -> Error {
    let error = Error::new(Operation::List, reason).with_path(path);
    match reason {
        ErrorKind::Deadline => {
            error.with_detail("there is too much below it; list it with a smaller depth")
        }
        _ => error,
    }
}
