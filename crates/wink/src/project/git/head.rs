//! Where git's HEAD was at each snapshot, for a workspace whose `.git` is excluded.

use std::path::PathBuf;

use wink_fs::{SnapshotId, TreePath};

use crate::cli::context::Opened;
use crate::json::GitHead;
use crate::sys::disk;

/// The file with a line for each snapshot, beside the settings.
const FILE: &str = "git-heads";

/// Only the newest lines that fit are read, and kept.
const MAX_NOTES_BYTES: u64 = 4 * 1024 * 1024;

/// Nothing of git's that is read here is larger, in a repository that people work in.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Writes down where HEAD is, if git's own files are excluded; a note that fails to be kept harms
/// nothing.
pub(crate) fn remember(opened: &Opened, snapshot: SnapshotId) {
    if let Some(head) = current(opened) {
        let _ = disk::append_line(&notes(opened), &format!("{snapshot} {head}"), MAX_NOTES_BYTES);
    }
}

/// Compares where HEAD is with where it was at a snapshot; `None` where one of them is not known.
pub(crate) fn since(opened: &Opened, snapshot: SnapshotId) -> Option<GitHead> {
    let now = current(opened)?;
    let bytes = disk::read_end(&notes(opened), MAX_NOTES_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let id = snapshot.to_string();
    let noted = text.lines().rev().find_map(|line| line.strip_prefix(&id)?.strip_prefix(' '));
    let then = noted?.to_owned();
    Some(GitHead { moved: then != now, then, now })
}

fn notes(opened: &Opened) -> PathBuf {
    opened.project.directory.join(FILE)
}

/// Returns HEAD as text: the branch, if there is one, and the commit, if there is one.
fn current(opened: &Opened) -> Option<String> {
    if !opened.excluded.matches(&TreePath::parse(".git").ok()?) {
        return None;
    }
    let head = read(opened, "HEAD")?;
    let head = head.trim_end();
    let Some(name) = head.strip_prefix("ref: ") else {
        return is_commit(head).then(|| head.to_owned());
    };
    // What a workspace holds is not to be trusted: the text must be one that a path has.
    let branch = TreePath::parse(name).ok()?.to_string();
    let short = branch.strip_prefix("refs/heads/").unwrap_or(&branch);
    Some(match commit_of(opened, name) {
        Some(commit) => format!("{short} {commit}"),
        None => short.to_owned(),
    })
}

fn commit_of(opened: &Opened, name: &str) -> Option<String> {
    let loose = read(opened, name).map(|text| text.trim_end().to_owned());
    let packed = || {
        let all = read(opened, "packed-refs")?;
        let line = all.lines().find_map(|line| line.split_once(' ').filter(|it| it.1 == name));
        line.map(|(commit, _)| commit.to_owned())
    };
    loose.or_else(packed).filter(|commit| is_commit(commit))
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads one of git's files through the workspace, which follows no link out of it.
fn read(opened: &Opened, name: &str) -> Option<String> {
    let path = TreePath::parse(&format!(".git/{name}")).ok()?;
    let content = opened.files.tree().open(&path).ok()?;
    let bytes = (content.len() <= MAX_BYTES).then(|| content.read_all().ok())??;
    String::from_utf8(bytes.into()).ok()
}
