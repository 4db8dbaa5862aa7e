//! Where git's HEAD was at each snapshot, for a workspace whose `.git` is excluded.

use std::path::PathBuf;

use serde::Serialize;
use wink_fs::{SnapshotId, TreePath};

use crate::cli::context::Opened;
use crate::sys::disk;

/// The file with a line for each snapshot, beside the settings.
const FILE: &str = "git-heads";

/// Only the newest lines within this size are kept.
const MAX_NOTES_BYTES: u64 = 4 * 1024 * 1024;

/// The files of git that are read are smaller, in any real repository.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct GitHead {
    pub(crate) moved: bool,
    /// Whether `.git` was there at the snapshot and is missing now; no snapshot holds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) missing: bool,
    pub(crate) then: String,
    pub(crate) now: String,
}

impl GitHead {
    /// Returns the old and the new position, with short commits.
    pub(crate) fn shown(&self) -> (String, String) {
        (short_commit(&self.then), short_commit(&self.now))
    }
}

/// Records where HEAD is, if `.git` is excluded; errors are
/// ignored.
pub(crate) fn remember(opened: &Opened, snapshot: SnapshotId) {
    if let Some(head) = current(opened) {
        let _ = disk::append_line(&notes(opened), &format!("{snapshot} {head}"), MAX_NOTES_BYTES);
    }
}

/// Compares HEAD with its position at a snapshot; `None` if one of them is unknown.
pub(crate) fn since(opened: &Opened, snapshot: SnapshotId) -> Option<GitHead> {
    let now = current(opened);
    let bytes = disk::read_end(&notes(opened), MAX_NOTES_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let id = snapshot.to_string();
    let noted = text.lines().rev().find_map(|line| line.strip_prefix(&id)?.strip_prefix(' '));
    let then = noted?.to_owned();
    match now {
        Some(now) => Some(GitHead { moved: then != now, missing: false, then, now }),
        None if is_missing(opened) => {
            Some(GitHead { moved: true, missing: true, then, now: "nothing".to_owned() })
        }
        None => None,
    }
}

/// Returns whether `.git` is excluded and not there.
fn is_missing(opened: &Opened) -> bool {
    let git = TreePath::parse(".git");
    let is_missing = |git| opened.excluded.matches(&git) && opened.files.tree().stat(&git).is_err();
    git.is_ok_and(is_missing)
}

/// Returns whether the files are a git repository that snapshots leave out.
pub(crate) fn is_left_out(opened: &Opened) -> bool {
    current(opened).is_some()
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
    // Files of a workspace are not trusted: the text must be a valid path.
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

/// Reads a file of git through the workspace, which follows no link.
fn read(opened: &Opened, name: &str) -> Option<String> {
    let path = TreePath::parse(&format!(".git/{name}")).ok()?;
    let content = opened.files.tree().open(&path).ok()?;
    let bytes = (content.len() <= MAX_BYTES).then(|| content.read_all().ok())??;
    String::from_utf8(bytes.into()).ok()
}

fn short_commit(head: &str) -> String {
    const SHOWN: usize = 10;
    let (branch, commit) = head.rsplit_once(' ').map_or(("", head), |(branch, it)| (branch, it));
    let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let commit = if is_commit { &commit[..SHOWN] } else { commit };
    format!("{branch} {commit}").trim_start().to_owned()
}
