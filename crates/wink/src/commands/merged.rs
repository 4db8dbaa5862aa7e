//! The options and output that `merge` and `revert` share.

use std::time::Instant;

use clap::Args;
use serde::Serialize;
use wink_fs::{ConflictKind, ErrorKind, MergeConflict, MergeOptions, Merged, OnConflict};

use super::{list_text, milliseconds};
use crate::cli::context::Context;
use crate::error::{self, CliError};
use crate::json::{ChangedEntry, Document};
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

/// What a merge or a revert did, or would do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MergeOutcome {
    pub(super) applied: bool,
    pub(super) dry_run: bool,
    /// The id of the safety snapshot.
    pub(super) saved: Option<String>,
    pub(super) entries: Vec<ChangedEntry>,
    pub(super) conflicts: Vec<ConflictEntry>,
    pub(super) duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ConflictEntry {
    pub(super) path: String,
    /// The kind of conflict, in words.
    pub(super) why: String,
    /// Whether `--ours`, `--theirs` or `--markers` resolved it, or would; otherwise it is left to merge.
    pub(super) resolved: bool,
}

impl From<&MergeConflict> for ConflictEntry {
    fn from(conflict: &MergeConflict) -> Self {
        Self {
            path: conflict.path.to_string(),
            why: conflict.kind.to_string(),
            resolved: conflict.is_resolved,
        }
    }
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

    /// Returns whether the conflicts stop the merge.
    pub(super) fn stops_at(&self, merged: &Merged) -> bool {
        self.options().on_conflict == OnConflict::Stop && !merged.conflicts.is_empty()
    }
}

/// Describes a merge or revert as JSON.
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

/// Returns the answer; unresolved conflicts are an error.
pub(super) fn answer<D: Document>(
    context: &Context,
    document: &D,
    merged: &Merged,
    text: impl FnOnce(&D) -> String,
) -> Result<Answer, CliError> {
    let mut answer = context.answer(document, text)?.painted(Paint::Letters);
    if !merged.conflicts.is_empty() && !merged.applied {
        let is_marked = merged.conflicts.iter().any(|it| it.kind == ConflictKind::Lines);
        let markers = if is_marked { ", `--theirs` or `--markers`" } else { " or `--theirs`" };
        answer.notes = context.note(format!("help: resolve conflicts with `--ours`{markers}"));
        answer.exit = error::exit_code(ErrorKind::Conflict);
    } else if merged.unresolved().next().is_some() {
        answer.notes = context.note("help: resolve what is left with `--ours` or `--theirs`");
        answer.exit = error::PARTIAL;
    } else if merged.saved.is_some() {
        answer.notes = context.note("undo: wink undo");
    }
    Ok(answer)
}

/// Describes a merge or revert as text.
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
    let named = |it: &MergeConflict| format!("{}  {}", it.path, it.kind);
    let conflicts = list_text(merged.conflicts.iter().map(named));
    let counted = format::counted(merged.changes.len() as u64, "path", "paths");
    match (merged.applied, flags.dry_run, merged.conflicts.is_empty()) {
        (false, false, false) => format!("Nothing was changed, because of conflicts:\n{conflicts}"),
        (_, _, true) if merged.changes.is_empty() => format!("Nothing to {would} from {what}.\n"),
        (_, true, true) => format!("Would {would} {what}: {counted}\n{}", lines(merged)),
        (_, true, false) => {
            format!("Would {would} {what}: {counted}\n{}Conflicts:\n{conflicts}", lines(merged))
        }
        (_, _, true) => format!("{did} {what}: {counted}\n{}", lines(merged)),
        (_, _, false) => {
            let listed = |title: &str, is_resolved: bool| {
                let chosen = merged.conflicts.iter().filter(|it| it.is_resolved == is_resolved);
                let chosen: Vec<String> = chosen.map(named).collect();
                if chosen.is_empty() {
                    String::new()
                } else {
                    format!("{title}:\n{}", list_text(chosen.iter()))
                }
            };
            format!(
                "{did} {what}: {counted}\n{}{}{}",
                lines(merged),
                listed("Conflicts, resolved as requested", true),
                listed("Conflicts that are left, unchanged here", false)
            )
        }
    }
}
