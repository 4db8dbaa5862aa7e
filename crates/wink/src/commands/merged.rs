//! What `merge` and `revert` have in common.

use std::time::Instant;

use clap::Args;
use wink_fs::{ErrorKind, MergeOptions, Merged, OnConflict};

use super::{list_text, milliseconds};
use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::{ChangedEntry, ConflictEntry, Document, MergeOutcome};
use crate::ui::answer::Answer;
use crate::ui::format;
use crate::ui::style::Paint;

#[derive(Debug, Args)]
pub(crate) struct MergeFlags {
    /// Print what would be done, and change nothing.
    #[arg(long)]
    dry_run: bool,

    /// On conflict keep this side's lines and files.
    #[arg(long, group = "sides")]
    ours: bool,

    /// On conflict take the other side's lines and files.
    #[arg(long, group = "sides")]
    theirs: bool,

    /// On conflict write the lines of both sides, between markers.
    #[arg(long, group = "sides")]
    markers: bool,
}

impl MergeFlags {
    pub(super) fn options(&self) -> MergeOptions {
        let on_conflict = match (self.ours, self.theirs, self.markers) {
            (true, _, _) => OnConflict::Ours,
            (_, true, _) => OnConflict::Theirs,
            (_, _, true) => OnConflict::Markers,
            _ => OnConflict::Stop,
        };
        MergeOptions::default().on_conflict(on_conflict).dry_run(self.dry_run)
    }

    pub(super) fn dry_run(&self) -> bool {
        self.dry_run
    }

    /// Tells whether conflicts keep it from being done.
    pub(super) fn stops_at(&self, merged: &Merged) -> bool {
        self.options().on_conflict == OnConflict::Stop && !merged.conflicts.is_empty()
    }
}

/// Returns what is told of a merge or a revert.
pub(super) fn outcome(merged: &Merged, flags: &MergeFlags, start: Instant) -> MergeOutcome {
    MergeOutcome {
        applied: merged.applied,
        dry_run: flags.dry_run,
        saved: merged.saved.map(|id| id.to_string()),
        entries: merged.changes.iter().map(ChangedEntry::from).collect(),
        conflicts: merged.conflicts.iter().map(ConflictEntry::from).collect(),
        duration_ms: milliseconds(start),
    }
}

/// Answers with what was done; conflicts that the user left undecided are no success.
pub(super) fn answer<D: Document>(
    context: &Context,
    document: &D,
    merged: &Merged,
    text: impl FnOnce(&D) -> String,
) -> Result<Answer, CliError> {
    let mut answer = context.answer(document, text)?.painted(Paint::Letters);
    if !merged.conflicts.is_empty() && !merged.applied {
        let hint = "help: `--ours`, `--theirs` or `--markers` decides";
        answer.notes = context.note(hint);
        answer.exit = ErrorKind::Conflict.exit_code();
    } else if merged.saved.is_some() {
        answer.notes = context.note("undo: wink undo");
    }
    Ok(answer)
}

/// Says what was done: `Merged x`, or what would be.
pub(super) fn text(
    did: &str,
    would: &str,
    what: &str,
    merged: &Merged,
    flags: &MergeFlags,
) -> String {
    let lines = |merged: &Merged| {
        let entries: Vec<ChangedEntry> = merged.changes.iter().map(ChangedEntry::from).collect();
        list_text(entries.iter().map(|entry| format!("{} {}", entry.letter(), entry.shown())))
    };
    let conflicts =
        list_text(merged.conflicts.iter().map(|it| format!("{}  {}", it.path, it.kind)));
    let counted = format::counted(merged.changes.len() as u64, "path", "paths");
    match (merged.applied, flags.dry_run, merged.conflicts.is_empty()) {
        (false, false, false) => format!("Nothing was changed: both sides changed\n{conflicts}"),
        (_, _, true) if merged.changes.is_empty() => format!("Nothing to {would} of {what}.\n"),
        (_, true, true) => format!("Would {would} {what}: {counted}\n{}", lines(merged)),
        (_, true, false) => format!(
            "Would {would} {what}: {counted}\n{}Both sides changed\n{conflicts}",
            lines(merged)
        ),
        (_, _, true) => format!("{did} {what}: {counted}\n{}", lines(merged)),
        (_, _, false) => format!(
            "{did} {what}: {counted}\n{}Both sides changed, decided as asked\n{conflicts}",
            lines(merged)
        ),
    }
}
