//! Whether a directory's files match a history, by content.

use std::collections::VecDeque;
use std::path::Path;

use wink_fs::{Kind, MemoryBackend, Tree, TreePath, Workspace, ops};

use crate::cli::state_ref;
use crate::project::Project;

/// How many files are compared: the user waits for the result.
const LOOKED_AT: usize = 64;

/// How many directories are listed to find them.
const LISTED: usize = 256;

/// Files that are larger say no more than others, and take longer.
const MAX_BYTES: u64 = 1024 * 1024;

/// Returns whether at least half of the compared files match the last snapshot of a history.
///
/// An unreadable or empty history does not match.
pub(crate) fn is_of(directory: &Path, project: &Project) -> bool {
    let (Some(then), Ok(now)) = (kept_last(project), Workspace::host(directory)) else {
        return false;
    };
    let (now, files) = (now.tree(), first_files(&*then));
    let same = files.iter().filter(|path| is_same(&*then, &*now, path)).count();
    same > 0 && 2 * same >= files.len()
}

/// Returns the files of the last snapshot.
fn kept_last(project: &Project) -> Option<std::sync::Arc<dyn Tree>> {
    let kept = Workspace::builder(MemoryBackend::new()).read_only(true);
    let kept = kept.store(project.open_store().ok()?).build();
    let last = state_ref::last(&kept).ok()??;
    kept.tree_at(&last).ok()
}

/// Returns files worth comparing, those of upper directories first.
fn first_files(tree: &dyn Tree) -> Vec<TreePath> {
    let (mut files, mut directories) = (Vec::new(), VecDeque::from([TreePath::root()]));
    for _ in 0..LISTED {
        let Some(directory) = directories.pop_front() else { break };
        for entry in tree.list(&directory).unwrap_or_default() {
            let Ok(path) = directory.join(&entry.name) else { continue };
            match entry.kind {
                Kind::Directory => directories.push_back(path),
                Kind::File if says_something(tree, &path) => files.push(path),
                _ => {}
            }
            if files.len() == LOOKED_AT {
                return files;
            }
        }
    }
    files
}

/// Empty files are the same everywhere.
fn says_something(tree: &dyn Tree, path: &TreePath) -> bool {
    tree.stat(path).is_ok_and(|stat| (1..=MAX_BYTES).contains(&stat.size_bytes))
}

fn is_same(then: &dyn Tree, now: &dyn Tree, path: &TreePath) -> bool {
    let size = |tree: &dyn Tree| tree.stat(path).ok().map(|stat| stat.size_bytes);
    let hash = |tree: &dyn Tree| ops::content_hash(tree, path).ok();
    size(then) == size(now) && hash(then) == hash(now)
}
