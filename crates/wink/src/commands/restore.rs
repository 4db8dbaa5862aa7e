//! `wink restore`: restores files from a snapshot.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;
use wink_fs::{ErrorKind, Receipt, RestoreOptions, Snapshot, StateRef, TreePath};

use super::{changes_text, list_text, milliseconds};
use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref;
use crate::error::{CliError, PARTIAL};
use crate::json::{ChangedEntry, Changes, SkippedEntry, SnapshotEntry, documents};
use crate::project::git::head;
use crate::ui::answer::Answer;
use crate::ui::format;
use crate::ui::style::Paint;

/// Restore files from a snapshot (the current state is saved first).
#[derive(Debug, Args)]
#[command(after_help = REFS)]
pub(crate) struct RestoreArgs {
    /// Snapshot to restore; without one, list the states worth going back to.
    #[arg(value_name = "REF")]
    #[arg(add = completion::states())]
    snapshot: Option<String>,

    /// Print what would be done, and change nothing.
    #[arg(long)]
    dry_run: bool,

    /// Only these paths, with everything below them.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

documents! {
    Restored: "wink/restore@1";
    Candidates: "wink/restore.states@1";
}

/// How many snapshots, tags and forks `wink restore` lists without a REF; each is compared with the files.
const OF_EACH: usize = 5;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Candidates {
    /// The last snapshots of the workspace, newest first; then other tags, then forks.
    states: Vec<CandidateEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CandidateEntry {
    /// The name to restore it by.
    name: String,
    snapshot: SnapshotEntry,
    /// What restoring it would change; null if it is damaged.
    changes: Option<Changes>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Restored {
    snapshot: SnapshotEntry,
    dry_run: bool,
    /// The id of the safety snapshot.
    saved: Option<String>,
    reverted: u64,
    brought_back: u64,
    removed: u64,
    unchanged: u64,
    entries: Vec<ChangedEntry>,
    /// Paths that were replaced although other programs had changed them after the last snapshot.
    changed_outside: Vec<String>,
    /// What the snapshot should hold and does not; it was left as it is, and the exit code is 3.
    missing: Vec<SkippedEntry>,
    duration_ms: u64,
}

pub(crate) fn run(context: &Context, args: &RestoreArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let paths = context.paths(&opened, &args.paths)?;
    let Some(name) = &args.snapshot else { return candidates(context, &opened) };
    let snapshot = state_ref::find_snapshot(&opened, name)?;
    check(&opened, &snapshot, &paths)?;
    let mut options = RestoreOptions::default().dry_run(args.dry_run).report_external(true);
    options.paths = paths;
    restore(context, &opened, &snapshot, &options)
}

/// Restores a snapshot, or prints what that would do.
pub(super) fn restore(
    context: &Context,
    opened: &Opened,
    snapshot: &Snapshot,
    options: &RestoreOptions,
) -> Result<Answer, CliError> {
    let start = Instant::now();
    let progress = context.progress("restoring");
    let receipt = opened.files.restore_with(snapshot, options)?;
    drop(progress);
    let document = Restored {
        snapshot: SnapshotEntry::from(snapshot),
        dry_run: options.dry_run,
        saved: receipt.saved.map(|id| id.to_string()),
        reverted: receipt.written,
        brought_back: receipt.brought_back,
        removed: receipt.removed,
        unchanged: receipt.unchanged,
        entries: receipt.changes.iter().map(ChangedEntry::from).collect(),
        changed_outside: receipt.changed_outside.iter().map(ToString::to_string).collect(),
        missing: receipt.missing.iter().map(SkippedEntry::from).collect(),
        duration_ms: milliseconds(start),
    };
    let answer = context.answer(&document, |document| text(document, snapshot, &receipt))?;
    let exit = if document.missing.is_empty() { 0 } else { PARTIAL };
    let mut answer = answer.painted(Paint::Letters).exit(exit);
    if context.is_talkative() {
        answer.notes = notes(opened, snapshot, &receipt, &document);
    }
    Ok(answer)
}

/// Lists the states worth going back to: the last snapshots of the workspace, then tags, then forks.
fn candidates(context: &Context, opened: &Opened) -> Result<Answer, CliError> {
    let progress = context.progress("comparing");
    let mut named: Vec<(String, Snapshot)> = Vec::new();
    let last = opened.files.ancestry()?.into_iter().take(OF_EACH).enumerate();
    named.extend(last.map(|(back, it)| (ancestor_name(back), it)));
    let tagged = opened.files.snapshots()?.into_iter().rev().filter(|it| it.tag.is_some());
    let is_new = |it: &Snapshot| !named.iter().any(|(_, listed)| listed.id == it.id);
    let tagged: Vec<_> = tagged.filter(is_new).take(OF_EACH).collect();
    named.extend(tagged.into_iter().map(|it| (it.tag.clone().unwrap_or_default(), it)));
    for (fork, id) in state_ref::fork_heads(opened)?.into_iter().take(OF_EACH) {
        named.push((fork, state_ref::find_snapshot(opened, &id.to_string())?));
    }
    let mut states = Vec::new();
    for (name, snapshot) in &named {
        let changes = match opened.files.diff(StateRef::Live, snapshot) {
            Ok(diff) => Some(Changes::from(&diff)),
            Err(error) if error.kind() == ErrorKind::Corrupt => None,
            Err(error) => return Err(error.into()),
        };
        states.push(CandidateEntry {
            name: name.clone(),
            snapshot: SnapshotEntry::from(snapshot),
            changes,
        });
    }
    drop(progress);
    if states.is_empty() {
        return Err(CliError::nothing_to_restore());
    }
    let mut answer = context.answer(&Candidates { states }, |document| {
        let width = named.iter().map(|(name, _)| name.width()).max().unwrap_or_default();
        let line = |(entry, (_, snapshot)): (&CandidateEntry, &(String, Snapshot))| {
            let would = entry.changes.map_or("damaged".to_owned(), changes_text);
            let padding = " ".repeat(width - entry.name.width());
            format!("{}{padding}  {}  {would}\n", entry.name, format::snapshot_line(snapshot))
        };
        document.states.iter().zip(&named).map(line).collect()
    })?;
    answer.notes = context.note("next: wink restore REF; `--dry-run` lists what it would change");
    Ok(answer)
}

/// Returns the name of an ancestor of the current files.
fn ancestor_name(back: usize) -> String {
    match back {
        0 => "@-".to_owned(),
        back => format!("@-{}", back + 1),
    }
}

/// Fails for excluded paths, and for paths that are in neither state.
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

fn text(document: &Restored, snapshot: &Snapshot, receipt: &Receipt) -> String {
    let name = match &snapshot.tag {
        Some(tag) => format!("{} ({tag})", snapshot.id.short()),
        None => snapshot.id.short(),
    };
    let missing = missing_text(document);
    if document.entries.is_empty() && !missing.is_empty() {
        return format!("Nothing to restore of what {name} holds.\n{missing}");
    }
    if document.entries.is_empty() {
        return format!("Already at {name}: nothing to restore.\n");
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
    head + &list_text(document.entries.iter().map(line)) + &missing
}

/// Lists what the snapshot lacks, if it lacks anything.
fn missing_text(document: &Restored) -> String {
    if document.missing.is_empty() {
        return String::new();
    }
    let line = |it: &SkippedEntry| format!("{}  {}", it.path, it.why);
    let listed = list_text(document.missing.iter().map(line));
    format!("Not restored, and left as they are:\n{listed}")
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
        if head.missing {
            return "warning: .git is missing and was not restored: it is excluded, so no snapshot holds it".to_owned();
        }
        format!("note: .git is excluded and HEAD stays at {now}; it was at {then}")
    });
    let undo = receipt.saved.map(|_| "undo: wink undo".to_owned());
    moved.into_iter().chain(external_changes(document)).chain(undo).collect()
}

/// Returns a note with the paths that other programs changed, unless they changed all of them: in a workspace where only
/// editors and other programs work, the note would be noise.
fn external_changes(document: &Restored) -> Option<String> {
    let Restored { changed_outside, dry_run, .. } = document;
    let all = document.reverted + document.brought_back + document.removed;
    if changed_outside.is_empty() || changed_outside.len() as u64 >= all {
        return None;
    }
    let replaced = if *dry_run { "would be replaced" } else { "replaced" };
    let listed = list_text(changed_outside.iter().cloned());
    Some(format!(
        "note: also {replaced}, although other programs changed them after the last snapshot:\n{}",
        listed.trim_end()
    ))
}
