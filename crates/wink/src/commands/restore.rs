//! `wink restore`: the files become those of a snapshot.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use wink_fs::{Receipt, RestoreOptions, Snapshot, TreePath};

use super::{list_text, milliseconds};
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref;
use crate::error::CliError;
use crate::json::{ChangedEntry, Restored, SnapshotEntry};
use crate::project::git::head;
use crate::ui::answer::Answer;
use crate::ui::format;
use crate::ui::style::Paint;

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Snapshot to restore.
    #[arg(value_name = "REF")]
    #[arg(add = completion::states())]
    snapshot: String,

    /// Print what would be done, and change nothing.
    #[arg(long)]
    dry_run: bool,

    /// Only these paths, with everything below them.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &RestoreArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    let opened = context.open()?;
    let snapshot = state_ref::find_snapshot(&opened, &args.snapshot)?;
    let paths = context.paths(&opened, &args.paths)?;
    check(&opened, &snapshot, &paths)?;
    let options = RestoreOptions::default().dry_run(args.dry_run).tell_outside(true);
    let options = paths.iter().map(ToString::to_string).fold(options, RestoreOptions::path);
    let progress = context.progress("restoring");
    let receipt = opened.files.restore_with(&snapshot, &options)?;
    drop(progress);
    let document = describe(&snapshot, &receipt, args.dry_run, start);
    let answer = context.answer(&document, |document| text(document, &snapshot, &receipt))?;
    let mut answer = answer.painted(Paint::Letters);
    if context.is_talkative() {
        answer.notes = notes(&opened, &snapshot, &receipt, &document);
    }
    Ok(answer)
}

/// Refuses paths for which nothing could happen.
fn check(opened: &Opened, snapshot: &Snapshot, paths: &[TreePath]) -> Result<(), CliError> {
    if paths.is_empty() {
        return Ok(());
    }
    let (live, then) = (opened.files.tree(), opened.files.tree_at(snapshot)?);
    for path in paths {
        if opened.excluded.matches(path) {
            return Err(CliError::excluded(path));
        }
        if live.stat(path).is_err() && then.stat(path).is_err() {
            return Err(CliError::nowhere(path));
        }
    }
    Ok(())
}

fn describe(snapshot: &Snapshot, receipt: &Receipt, dry_run: bool, start: Instant) -> Restored {
    Restored {
        snapshot: SnapshotEntry::from(snapshot),
        dry_run,
        saved: receipt.saved.map(|id| id.to_string()),
        reverted: receipt.written,
        brought_back: receipt.brought_back,
        removed: receipt.removed,
        unchanged: receipt.unchanged,
        entries: receipt.changes.iter().map(ChangedEntry::from).collect(),
        changed_outside: receipt.changed_outside.iter().map(ToString::to_string).collect(),
        duration_ms: milliseconds(start),
    }
}

fn text(document: &Restored, snapshot: &Snapshot, receipt: &Receipt) -> String {
    let name = match &snapshot.tag {
        Some(tag) => format!("{} ({tag})", snapshot.id.short()),
        None => snapshot.id.short(),
    };
    if document.entries.is_empty() {
        return format!("Nothing to restore: the files are those of {name} already.\n");
    }
    let Restored { reverted, brought_back, removed, duration_ms, .. } = document;
    let counts = format!(
        "{} reverted, {} brought back, {} removed",
        format::counted(*reverted, "file", "files"),
        format::number(*brought_back),
        format::number(*removed),
    );
    let head = match (document.dry_run, receipt.saved) {
        (true, _) => format!("Would restore {name}: {counts}\n"),
        (false, None) => format!("Restored {name}: {counts} · {duration_ms} ms\n"),
        (false, Some(saved)) => format!(
            "Saved the current state as {}.\nRestored {name}: {counts} · {duration_ms} ms\n",
            saved.short()
        ),
    };
    let line = |entry: &ChangedEntry| format!("{} {}", entry.letter(), entry.shown());
    head + &list_text(document.entries.iter().map(line))
}

fn notes(
    opened: &Opened,
    snapshot: &Snapshot,
    receipt: &Receipt,
    document: &Restored,
) -> Vec<String> {
    let head = head::since(opened, snapshot.id).filter(|head| head.moved);
    let moved = head.map(|head| {
        let (then, now) = head.shown();
        format!("note: .git is excluded and HEAD stays at {now}; it was at {then}")
    });
    let undo = receipt.saved.map(|_| "undo: wink undo".to_owned());
    moved.into_iter().chain(outside(document)).chain(undo).collect()
}

/// Says which of the files another program changed, where calls changed others: where editors and other programs
/// changed all of them, there is nothing to tell apart.
fn outside(document: &Restored) -> Option<String> {
    let Restored { changed_outside, dry_run, .. } = document;
    let all = document.reverted + document.brought_back + document.removed;
    if changed_outside.is_empty() || changed_outside.len() as u64 >= all {
        return None;
    }
    let replaced = if *dry_run { "would be replaced" } else { "replaced" };
    let listed = list_text(changed_outside.iter().cloned());
    Some(format!(
        "note: {replaced} too, although changed since the last snapshot by others than calls of wink:\n{}",
        listed.trim_end()
    ))
}
