//! `wink repair`: moves damaged parts of the history into quarantine.

use clap::Args;
use serde::Serialize;
use std::collections::HashMap;

use crate::cli::context::Context;
use crate::error::{CliError, PARTIAL};
use crate::json::documents;
use crate::project::repair_metadata;
use crate::ui::answer::Answer;
use crate::ui::format;

use super::list_text;

/// Move damaged parts of the history into quarantine; nothing is deleted.
#[derive(Debug, Args)]
pub(crate) struct RepairArgs {}

documents! {
    RepairedEntry: "wink/repair@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RepairedEntry {
    /// Metadata files that were missing or damaged, and were rebuilt.
    written_again: Vec<String>,
    /// Files of the store that were moved into its directory `quarantine`.
    quarantined: Vec<String>,
    objects_saved: u64,
    /// The ids of snapshots whose record was rebuilt.
    found: Vec<String>,
    /// The ids of snapshots that can no longer be restored completely.
    lost: Vec<String>,
    /// Those of them with some undamaged files, which can still be read and restored.
    salvaged: Vec<String>,
    /// The id of the new snapshot of the current files, which stores missing content again.
    taken: Option<String>,
    /// The unreadable files and directories, which that snapshot omits.
    unreadable: Vec<String>,
}

pub(crate) fn run(context: &Context, _args: &RepairArgs) -> Result<Answer, CliError> {
    let written_again = repair_metadata::mend(context)?;
    let opened = context.open()?;
    // Once in quarantine, a snapshot's tag can no longer be read.
    let known = opened.files.snapshots().unwrap_or_default().into_iter();
    let mut known: HashMap<_, _> =
        known.map(|it| (it.id.to_string(), format::snapshot_line(&it))).collect();
    let progress = context.progress("repairing");
    let repaired = opened.files.repair()?;
    drop(progress);
    let now = opened.files.snapshots().unwrap_or_default().into_iter();
    known.extend(now.map(|it| (it.id.to_string(), format::snapshot_line(&it))));
    let document = RepairedEntry {
        written_again,
        quarantined: repaired.quarantined.clone(),
        objects_saved: repaired.objects_saved,
        found: repaired.found.iter().map(ToString::to_string).collect(),
        lost: repaired.lost.iter().map(ToString::to_string).collect(),
        salvaged: repaired.salvaged.iter().map(ToString::to_string).collect(),
        taken: repaired.taken.map(|id| id.to_string()),
        unreadable: repaired.unreadable.iter().map(|it| it.path.clone()).collect(),
    };
    let is_whole = document.unreadable.is_empty() && document.lost.is_empty();
    let exit = if is_whole { 0 } else { PARTIAL };
    let known = |id: &String| known.get(id).cloned().unwrap_or_else(|| id.clone());
    Ok(context.answer(&document, |it| text(it, known))?.exit(exit))
}

fn text(document: &RepairedEntry, known: impl Fn(&String) -> String) -> String {
    let RepairedEntry { written_again, quarantined, found, objects_saved, .. } = document;
    let RepairedEntry { lost, salvaged, taken, unreadable, .. } = document;
    let again = if written_again.is_empty() {
        String::new()
    } else {
        format!("Rebuilt {}\n", written_again.join(" and "))
    };
    if [quarantined, found, lost].iter().all(|it| it.is_empty()) && taken.is_none() {
        let nothing = if again.is_empty() { "No damage found" } else { "No other damage found" };
        return format!("{again}{nothing}.\n");
    }
    let mut text = again;
    text += &match quarantined.len() as u64 {
        0 => "Parts of the history were missing\n".to_owned(),
        count => {
            let files = format::counted(count, "file", "files");
            let objects = format::counted(*objects_saved, "object", "objects");
            format!("Moved {files} into quarantine and saved {objects} from them\n")
        }
    };
    text += &list_text(quarantined.iter());
    if !found.is_empty() {
        text += "Rebuilt the records of these snapshots\n";
        text += &list_text(found.iter().map(&known));
    }
    if !lost.is_empty() {
        text += "These snapshots can no longer be restored completely\n";
        text += &list_text(lost.iter().map(&known));
    }
    if let Some(first) = salvaged.first().and_then(|id| id.parse::<wink_fs::SnapshotId>().ok()) {
        let (of, first) = (format::number(salvaged.len() as u64), first.short());
        text += &format!(
            "The undamaged files of {of} of them can still be read and restored: `wink fs ls --at {first}` \
             lists them, and `wink show {first}` names what is damaged\n"
        );
    }
    if let Some(taken) = taken.as_ref().and_then(|id| id.parse().ok()) {
        let taken: wink_fs::SnapshotId = taken;
        let what = if unreadable.is_empty() {
            "everything that the current files still have"
        } else {
            "the others"
        };
        if !unreadable.is_empty() {
            text += "These could not be read, so they were not stored again\n";
            text += &list_text(unreadable.iter());
        }
        text += &format!("Snapshot {} has {what}\n", taken.short());
    }
    text
}
