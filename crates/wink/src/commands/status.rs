//! `wink status`: shows whether the workspace is protected, and what changed.

use clap::Args;
use serde::Serialize;
use std::time::SystemTime;

use wink_fs::{Changed, Diff, ErrorKind, Kind, Snapshot, StateRef, Tree, TreePath, Workspace};

use super::{DAMAGED, LISTED, changes_text};
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref;
use crate::error::{self, CliError};
use crate::hooks::record;
use crate::json::{ChangedEntry, Changes, SkippedEntry, SnapshotEntry, documents};
use crate::project::git::head::{self, GitHead};
use crate::project::quota::Quota;
use crate::ui::answer::Answer;
use crate::ui::format;

/// What no snapshot contains.
const NEVER_CAPTURED: &[&str] = &[
    "times",
    "owners",
    "other permission bits",
    "extended attributes",
    "hard-link identity",
    "holes",
];

/// How many changed paths the document lists.
const MOST_ENTRIES: usize = 1000;

/// Show whether the workspace is protected, what changed, and what is not captured.
#[derive(Debug, Args)]
#[command(visible_alias = "st")]
pub(crate) struct StatusArgs {}

documents! {
    Status: "wink/status@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Status {
    /// Whether the last snapshot is readable and complete, and the next one can be taken.
    protected: bool,
    /// The first path that the next snapshot cannot hold, because it cannot be read.
    unreadable: Option<String>,
    /// Whether the quota of the history may prevent the next snapshot.
    full: bool,
    /// Why the last hook of a coding agent took no snapshot.
    hook_failed: Option<String>,
    /// Why it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    shortage: Option<String>,
    root: String,
    last_snapshot: Option<SnapshotEntry>,
    age_seconds: Option<u64>,
    /// Whether the directory is empty although the last snapshot is not.
    emptied: bool,
    /// Changes since the last snapshot; null if there is none, or it is damaged.
    changes: Option<Changes>,
    /// The changed paths, sorted; at most the first 1,000.
    entries: Vec<ChangedEntry>,
    git_head: Option<GitHead>,
    excluded: Vec<String>,
    /// What the last snapshot omitted.
    skipped: Vec<SkippedEntry>,
    /// What the next snapshot will omit; empty if there is no snapshot to compare with.
    not_captured: Vec<SkippedEntry>,
    /// What no snapshot contains.
    never_captured: &'static [&'static str],
    store: StoreEntry,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StoreEntry {
    path: String,
    bytes: u64,
    /// The quota; null if there is none.
    max_bytes: Option<u64>,
    snapshots: u64,
}

pub(crate) fn run(context: &Context, _args: &StatusArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let progress = context.progress("comparing the files");
    let last = state_ref::last(&opened.files)?;
    let quota = Quota::of(&opened)?;
    let document = look(&opened, last.as_ref(), quota)?;
    drop(progress);
    let mut answer = context.answer(&document, |document| text(document, last.as_ref()))?;
    if last.is_none() && document.unreadable.is_none() {
        answer.notes = context.note("next: wink snapshot");
    }
    if let Some(warning) = quota.warning().filter(|_| !document.full) {
        answer.notes.extend(context.note(warning));
    }
    Ok(answer)
}

fn look(opened: &Opened, last: Option<&Snapshot>, quota: Quota) -> Result<Status, CliError> {
    let store = opened.project.store()?;
    let age = |it: &Snapshot| SystemTime::now().duration_since(it.created_at).unwrap_or_default();
    let (diff, unreadable) = match last {
        Some(last) => since(&opened.files, last)?,
        None => (None, unlisted(&*opened.files.tree_without_excluded())),
    };
    let skipped = last.map_or(&[][..], |it| &it.skipped);
    let is_complete = last.is_none_or(|it| it.missing().next().is_none());
    let hook_failed = record::last_failure(&opened.project.directory);
    let new_bytes = diff.as_ref().map_or(0, |diff| changed_bytes(&opened.files, diff));
    let shortage = quota.shortage(opened, new_bytes)?;
    let full = shortage.is_some();
    Ok(Status {
        protected: diff.is_some()
            && unreadable.is_none()
            && !full
            && is_complete
            && hook_failed.is_none(),
        unreadable,
        full,
        hook_failed,
        shortage,
        root: opened.project.root.display().to_string(),
        last_snapshot: last.map(SnapshotEntry::from),
        age_seconds: last.map(|it| age(it).as_secs()),
        emptied: is_emptied(opened, last)?,
        changes: diff.as_ref().map(Changes::from),
        entries: diff.as_ref().map_or_else(Vec::new, changed),
        git_head: last.and_then(|it| head::since(opened, it.id)),
        excluded: opened.excluded.patterns().map(str::to_owned).collect(),
        skipped: skipped.iter().map(SkippedEntry::from).collect(),
        not_captured: diff.iter().flat_map(|it| &it.not_captured).map(SkippedEntry::from).collect(),
        never_captured: NEVER_CAPTURED,
        store: StoreEntry {
            bytes: quota.used.bytes,
            max_bytes: quota.max_bytes,
            path: store.display().to_string(),
            snapshots: opened.files.snapshots()?.len() as u64,
        },
    })
}

/// Returns how many bytes the changed files have now, which is the most that a snapshot of them stores.
fn changed_bytes(files: &Workspace, diff: &Diff) -> u64 {
    let tree = files.tree();
    let changed = diff.added.iter().chain(&diff.modified);
    changed.filter_map(|it| tree.stat(&it.path).ok()).map(|stat| stat.size_bytes).sum()
}

/// Lists changed paths, sorted.
fn changed(diff: &Diff) -> Vec<ChangedEntry> {
    let all = diff.added.iter().chain(&diff.modified).chain(&diff.deleted);
    let mut all: Vec<_> = all.collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all.into_iter().take(MOST_ENTRIES).map(ChangedEntry::from).collect()
}

/// Returns the changes since a snapshot, if it is readable, and the first unreadable path.
fn since(files: &Workspace, last: &Snapshot) -> Result<(Option<Diff>, Option<String>), CliError> {
    match files.diff(last, StateRef::Live) {
        Ok(diff) => {
            let missing = diff.not_captured.iter().find(|it| it.is_missing);
            let unreadable =
                missing.map(|it| it.path.to_string()).or_else(|| unreadable(files, &diff));
            Ok((Some(diff), unreadable))
        }
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok((None, None)),
        Err(error) if error.kind() == ErrorKind::PermissionDenied && error.path().is_some() => {
            Ok((None, error.path().map(str::to_owned)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the first unreadable directory, which prevents a snapshot.
fn unlisted(tree: &dyn Tree) -> Option<String> {
    let mut left = vec![TreePath::root()];
    while let Some(path) = left.pop() {
        let entries = match tree.list(&path) {
            Ok(entries) => entries,
            Err(error) if error::is_of_modes(&error) => return Some(path.to_string()),
            // Removed meanwhile, or another file system: not worth a warning.
            Err(_) => continue,
        };
        let directories = entries.iter().filter(|it| it.kind == Kind::Directory);
        // Snapshots omit paths that are too long.
        left.extend(directories.filter_map(|it| path.join(&it.name).ok()));
    }
    None
}

/// Returns the first changed file that cannot be opened.
fn unreadable(files: &Workspace, diff: &Diff) -> Option<String> {
    let tree = files.tree();
    let is_denied = |it: &&Changed| {
        it.after == Some(Kind::File)
            && tree.open(&it.path).is_err_and(|it| it.kind() == ErrorKind::PermissionDenied)
    };
    let mut changed = diff.added.iter().chain(&diff.modified);
    changed.find(is_denied).map(|it| it.path.to_string())
}

/// Returns whether all files of the last snapshot are missing, and there are no others. A path that was excluded later may
/// be one of its files, and still exist.
fn is_emptied(opened: &Opened, last: Option<&Snapshot>) -> Result<bool, CliError> {
    let Some(last) = last.filter(|last| last.file_count > 0) else { return Ok(false) };
    let then = opened.files.tree_at(last).ok();
    let was_there = |path: &TreePath| then.as_ref().is_some_and(|then| then.stat(path).is_ok());
    let root = TreePath::root();
    for entry in opened.files.tree().list(&root)? {
        let path = root.join(&entry.name)?;
        if !opened.excluded.matches(&path) || was_there(&path) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns what the next snapshot will omit: new paths first, then those that the last one omitted.
fn not_captured(status: &Status) -> Vec<&SkippedEntry> {
    let is_news = |entry: &&SkippedEntry| !status.skipped.iter().any(|it| it.path == entry.path);
    status.not_captured.iter().filter(is_news).chain(&status.skipped).collect()
}

fn not_readable(status: &Status) -> String {
    let path = status.unreadable.as_deref().unwrap_or_default();
    let hint = error::leaving_out(path).unwrap_or_else(|| "make it readable".to_owned());
    format!(
        "{} is not protected: `{path}` cannot be read, so no snapshot holds it; {hint}\n",
        status.root
    )
}

fn store_text(store: &StoreEntry) -> String {
    let StoreEntry { path, bytes, max_bytes, snapshots } = store;
    let snapshots = format::counted(*snapshots, "snapshot", "snapshots");
    let most = max_bytes.map_or(String::new(), |most| format!(" of {}", format::size(most)));
    format!("{path}  {snapshots}, {}{most}", format::size(*bytes))
}

fn text(status: &Status, last: Option<&Snapshot>) -> String {
    let mut rows = Vec::new();
    if let (Some(last), Some(seconds)) = (last, status.age_seconds) {
        let age = format::age(std::time::Duration::from_secs(seconds));
        rows.push(("last snapshot", format!("{}  {age}", format::snapshot_name(last))));
    }
    if let Some(changes) = status.changes {
        rows.push(("since then", changes_text(changes)));
        let listed = status.entries.iter().take(LISTED);
        rows.extend(listed.map(|it| ("", format!("{} {}", it.letter(), it.shown()))));
        let more = changes.total().saturating_sub(LISTED as u64);
        if more > 0 {
            let more = format::number(more);
            rows.push(("", format!("and {more} more: `wink diff --name-status`")));
        }
    }
    if status.git_head.as_ref().is_some_and(|head| head.missing) {
        let lost = ".git is missing, which was there at the last snapshot; no snapshot holds it, because it is excluded";
        rows.push(("git", lost.to_owned()));
    }
    if let Some(head) = status.git_head.as_ref().filter(|head| head.moved && !head.missing) {
        let (then, now) = head.shown();
        rows.push(("git HEAD", format!("moved since: {then} → {now}")));
    }
    if !status.excluded.is_empty() {
        rows.push(("excluded", status.excluded.join(", ")));
    }
    let not_captured = not_captured(status);
    if !not_captured.is_empty() {
        rows.push(("not captured", format::skipped(&not_captured)));
    }
    rows.push(("never captured", status.never_captured.join(", ")));
    rows.push(("store", store_text(&status.store)));
    let root = &status.root;
    let head = match (status.protected, last) {
        (true, Some(_)) if status.emptied => format!(
            "{root} is empty: all its files are missing. `wink restore @-` restores the last snapshot.\n"
        ),
        (true, _) => format!("{root} is protected.\n"),
        (false, _) if status.unreadable.is_some() => not_readable(status),
        (false, _) if status.full => format!(
            "{root} is not protected: {}; raise the quota with `wink config set retention.bytes`, or delete tags \
             and `wink prune`\n",
            status.shortage.as_deref().unwrap_or_default()
        ),
        (false, Some(_)) if status.hook_failed.is_some() => format!(
            "{root} is not protected: the last hook of a coding agent took no snapshot ({}); `wink snapshot` takes one\n",
            status.hook_failed.as_deref().unwrap_or_default()
        ),
        (false, Some(last)) if status.changes.is_some() => format!(
            "{root} is not protected: the last snapshot is {}; `wink show @-` names them, and `wink snapshot` takes \
             another\n",
            format::incomplete(last).unwrap_or_default()
        ),
        (false, Some(_)) => format!("{root} is not protected: {DAMAGED}\n"),
        (false, None) => format!("{root} is not protected yet: it has no snapshot.\n"),
    };
    rows.iter().fold(head, |text, (name, value)| text + &format!("  {name:<14}  {value}\n"))
}
