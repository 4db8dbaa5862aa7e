//! `wink status`: whether the workspace is protected, and from what it is not.

use std::time::SystemTime;

use wink_fs::{Changed, Diff, ErrorKind, Kind, Snapshot, StateRef, Tree, TreePath, Workspace};

use super::{DAMAGED, changes_text};
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref;
use crate::error::{self, CliError};
use crate::json::{Changes, SkippedEntry, SnapshotEntry, Status, StoreEntry};
use crate::project::git::head;
use crate::project::quota::Quota;
use crate::ui::answer::Answer;
use crate::ui::format;

/// What no snapshot holds.
const NEVER_CAPTURED: &[&str] = &[
    "times",
    "owners",
    "other permission bits",
    "extended attributes",
    "hard-link identity",
    "holes",
];

pub(crate) fn run(context: &Context) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let progress = context.progress("comparing the files");
    let last = state_ref::last(&opened.files)?;
    let document = look(&opened, last.as_ref())?;
    drop(progress);
    let mut answer = context.answer(&document, |document| text(document, last.as_ref()))?;
    if last.is_none() && document.unreadable.is_none() {
        answer.notes = context.note("next: wink snapshot");
    }
    let StoreEntry { bytes, max_bytes, .. } = document.store;
    if let Some(warning) = (Quota { bytes, max_bytes }).warning().filter(|_| !document.full) {
        answer.notes.extend(context.note(warning));
    }
    Ok(answer)
}

fn look(opened: &Opened, last: Option<&Snapshot>) -> Result<Status, CliError> {
    let store = opened.project.store()?;
    let age = |it: &Snapshot| SystemTime::now().duration_since(it.created_at).unwrap_or_default();
    let (diff, unreadable) = match last {
        Some(last) => since(&opened.files, last)?,
        None => (None, unlisted(&*opened.files.tree_without_excluded())),
    };
    let skipped = last.map_or(&[][..], |it| &it.skipped);
    let quota = Quota::of(opened)?;
    let full = quota.is_used_up(opened)?;
    Ok(Status {
        protected: diff.is_some() && unreadable.is_none() && !full,
        unreadable,
        full,
        root: opened.project.root.display().to_string(),
        last_snapshot: last.map(SnapshotEntry::from),
        age_seconds: last.map(|it| age(it).as_secs()),
        emptied: is_emptied(opened, last)?,
        changes: diff.as_ref().map(Changes::from),
        git_head: last.and_then(|it| head::since(opened, it.id)),
        excluded: opened.excluded.patterns().map(str::to_owned).collect(),
        skipped: skipped.iter().map(SkippedEntry::from).collect(),
        not_captured: diff.iter().flat_map(|it| &it.not_captured).map(SkippedEntry::from).collect(),
        never_captured: NEVER_CAPTURED,
        store: StoreEntry {
            bytes: quota.bytes,
            max_bytes: quota.max_bytes,
            path: store.display().to_string(),
            snapshots: opened.files.snapshots()?.len() as u64,
        },
    })
}

/// Says what changed since a snapshot, where that can be read, and names what of it cannot.
fn since(files: &Workspace, last: &Snapshot) -> Result<(Option<Diff>, Option<String>), CliError> {
    match files.diff(last, StateRef::Live) {
        Ok(diff) => {
            let unreadable = unreadable(files, &diff);
            Ok((Some(diff), unreadable))
        }
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok((None, None)),
        Err(error) if error.kind() == ErrorKind::PermissionDenied && error.path().is_some() => {
            Ok((None, error.path().map(str::to_owned)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the first directory that cannot be looked into, without which there can be no snapshot.
fn unlisted(tree: &dyn Tree) -> Option<String> {
    let mut left = vec![TreePath::root()];
    while let Some(path) = left.pop() {
        let entries = match tree.list(&path) {
            Ok(entries) => entries,
            Err(error) if error::is_of_modes(&error) => return Some(path.to_string()),
            // What is gone meanwhile, or another file system, is nothing to warn of.
            Err(_) => continue,
        };
        let directories = entries.iter().filter(|it| it.kind == Kind::Directory);
        // A path that is too long is left out of snapshots.
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

/// Tells whether all files of the last snapshot are gone, and there are no others. What is excluded by now may be
/// one of its files, and be there.
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

/// Returns what the next snapshot will not hold, that is news first, and then what the last one does not.
fn not_captured(status: &Status) -> Vec<&SkippedEntry> {
    let is_news = |entry: &&SkippedEntry| !status.skipped.iter().any(|it| it.path == entry.path);
    status.not_captured.iter().filter(is_news).chain(&status.skipped).collect()
}

fn not_readable(status: &Status) -> String {
    let path = status.unreadable.as_deref().unwrap_or_default();
    let hint = error::leaving_out(path).unwrap_or_else(|| "make it readable".to_owned());
    format!("{} is not protected: `{path}` cannot be read; {hint}\n", status.root)
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
    }
    if let Some(head) = status.git_head.as_ref().filter(|head| head.moved) {
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
            "{root} is empty: all its files are gone. `wink restore @-` brings back those of the \
             last snapshot.\n"
        ),
        (true, _) => format!("{root} is protected.\n"),
        (false, _) if status.unreadable.is_some() => not_readable(status),
        (false, _) if status.full => format!(
            "{root} is not protected: its history takes all the space that it may, and no snapshot can be \
             taken; allow more with `wink config set retention.bytes`, or take tags away and `wink prune`\n"
        ),
        (false, Some(_)) => format!("{root} is not protected: {DAMAGED}\n"),
        (false, None) => format!("{root} is not protected yet: it has no snapshot.\n"),
    };
    rows.iter().fold(head, |text, (name, value)| text + &format!("  {name:<14}  {value}\n"))
}
