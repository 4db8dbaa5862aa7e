//! `wink snapshot`: takes a snapshot.

use std::time::Instant;

use clap::Args;
use serde::Serialize;
use wink_fs::{Snapshot, SnapshotOptions, TakenSnapshot, Workspace};

use super::{changes_text, list_text, milliseconds};
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref;
use crate::error::{CliError, PARTIAL};
use crate::json::{Changes, SkippedEntry, SnapshotEntry, documents};
use crate::project::git::head;
use crate::project::quota::{self, Quota};
use crate::ui::answer::Answer;
use crate::ui::format;

/// Take a snapshot of the files.
#[derive(Debug, Args)]
#[command(visible_alias = "snap")]
pub(crate) struct SnapshotArgs {
    /// Message to keep with the snapshot.
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,

    /// Name for the snapshot; no other snapshot or fork may have it.
    #[arg(long)]
    tag: Option<String>,
}

documents! {
    Taken: "wink/snapshot.create@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Taken {
    snapshot: SnapshotEntry,
    /// Changes since the parent; null if that is missing or damaged.
    changes: Option<Changes>,
    /// The packed size of its new content; null if its pack was already merged with others.
    stored_bytes: Option<u64>,
    /// How many old snapshots were pruned to free space.
    pruned: u64,
    duration_ms: u64,
}

pub(crate) fn run(context: &Context, args: &SnapshotArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    let opened = context.open()?;
    args.tag.as_deref().map_or(Ok(()), |tag| state_ref::check_tag(&opened, tag))?;
    let mut options = SnapshotOptions::default();
    (options.tag, options.message) = (args.tag.clone(), args.message.clone());
    let progress = context.progress("taking a snapshot");
    let taken = opened.files.take_snapshot(&options);
    drop(progress);
    quota::remember(&opened, &taken);
    let TakenSnapshot { snapshot, stored_bytes, .. } = taken?;
    check_again(&opened, &snapshot)?;
    head::remember(&opened, snapshot.id);
    let document = Taken {
        changes: changes_of(&opened.files, &snapshot),
        snapshot: SnapshotEntry::from(&snapshot),
        stored_bytes,
        pruned: opened.prune_notice.pruned(),
        duration_ms: milliseconds(start),
    };
    let exit = if document.snapshot.missing.is_empty() { 0 } else { PARTIAL };
    let answer = context.answer(&document, |document| {
        let text = context.summary(text(&opened.files, document, &snapshot));
        text + &left_out(document)
    })?;
    let mut answer = answer.exit(exit);
    if context.is_talkative() {
        answer.notes.extend(opened.prune_notice.note());
        answer.notes.extend(Quota::of(&opened).ok().and_then(Quota::warning));
    }
    Ok(answer)
}

/// Removes the tag again if another process gave the name to a fork while the snapshot was taken: the names are not
/// locked for that long.
fn check_again(opened: &Opened, snapshot: &Snapshot) -> Result<(), CliError> {
    let Some(tag) = snapshot.tag.as_deref() else { return Ok(()) };
    // The snapshot is taken: if another process does not release the names, only a check without the lock is left.
    let _held = opened.project.hold_names().ok();
    state_ref::check_tag(opened, tag).or_else(|taken| {
        opened.files.tag(snapshot, None)?;
        Err(taken)
    })
}

/// Counts the changes since the parent; `None` if that is missing or damaged, which does not affect the new
/// snapshot.
fn changes_of(files: &Workspace, snapshot: &Snapshot) -> Option<Changes> {
    let Some(parent) = snapshot.parent else {
        return Some(Changes { added: snapshot.file_count, ..Changes::default() });
    };
    let parent = files.find_snapshot(parent).ok()?;
    if parent.tree_hash == snapshot.tree_hash {
        Some(Changes::default())
    } else {
        Some(Changes::from(&files.diff(&parent, snapshot).ok()?))
    }
}

fn text(files: &Workspace, document: &Taken, snapshot: &Snapshot) -> String {
    let changes = match (snapshot.parent, document.changes) {
        (None, _) => "first snapshot".to_owned(),
        (Some(_), Some(changes)) => changes_text(changes),
        (Some(_), None) => "the previous one is missing or damaged".to_owned(),
    };
    let stored = match document.stored_bytes {
        Some(0) => "nothing new stored · ".to_owned(),
        Some(bytes) => format!("{} stored · ", format::size(bytes)),
        None => String::new(),
    };
    let mut text = format!(
        "Snapshot {}\n  {}, {} · {changes} · {stored}{} ms\n",
        format::snapshot_name(snapshot),
        format::counted(snapshot.file_count, "file", "files"),
        format::size(snapshot.total_bytes),
        document.duration_ms,
    );
    // `.git` is excluded wherever it may be; it is worth a word where it is.
    let is_there = |pattern: &&str| *pattern != "/.git" || files.exists(".git");
    let excluded: Vec<_> = snapshot.excluded_by_setting().filter(is_there).collect();
    if !excluded.is_empty() {
        text += &format!("  excluded: {}\n", excluded.join(", "));
    }
    text
}

/// Names what the snapshot does not hold, also with `--quiet`.
fn left_out(document: &Taken) -> String {
    let SnapshotEntry { skipped, missing, .. } = &document.snapshot;
    let special = |it: &&SkippedEntry| !missing.iter().any(|missing| missing.path == it.path);
    let special: Vec<_> = skipped.iter().filter(special).cloned().collect();
    let mut text = format::not_captured(&special);
    if !missing.is_empty() {
        let line = |it: &SkippedEntry| format!("{}  {}", it.path, it.why);
        text += "These are not in it, and a restore leaves them alone; everything else is saved:\n";
        text += &list_text(missing.iter().map(line));
    }
    text
}
