//! `wink repair`: what is damaged put aside, so that the rest can be used.

use std::collections::HashMap;

use crate::cli::context::Context;
use crate::error::{CliError, PARTIAL};
use crate::json::RepairedEntry;
use crate::project::repair_metadata;
use crate::ui::answer::Answer;
use crate::ui::format;

use super::list_text;

pub(crate) fn run(context: &Context) -> Result<Answer, CliError> {
    let written_again = repair_metadata::mend(context)?;
    let opened = context.open()?;
    // What is put aside cannot be asked for its tag any more.
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
    let exit = if document.unreadable.is_empty() { 0 } else { PARTIAL };
    let known = |id: &String| known.get(id).cloned().unwrap_or_else(|| id.clone());
    Ok(context.answer(&document, |it| text(it, known))?.exit(exit))
}

fn text(document: &RepairedEntry, known: impl Fn(&String) -> String) -> String {
    let RepairedEntry { written_again, quarantined, found, objects_saved, .. } = document;
    let RepairedEntry { lost, salvaged, taken, unreadable, .. } = document;
    let again = if written_again.is_empty() {
        String::new()
    } else {
        format!("Wrote {} again\n", written_again.join(" and "))
    };
    if [quarantined, found, lost].iter().all(|it| it.is_empty()) && taken.is_none() {
        let nothing =
            if again.is_empty() { "Nothing is damaged" } else { "Nothing else is damaged" };
        return format!("{again}{nothing}.\n");
    }
    let mut text = again;
    text += &match quarantined.len() as u64 {
        0 => "Something was missing from the history\n".to_owned(),
        count => {
            let files = format::counted(count, "file", "files");
            let objects = format::counted(*objects_saved, "object", "objects");
            format!("Moved {files} into the quarantine and saved {objects} of them\n")
        }
    };
    text += &list_text(quarantined.iter());
    if !found.is_empty() {
        text += "These snapshots had no record and have one again\n";
        text += &list_text(found.iter().map(&known));
    }
    if !lost.is_empty() {
        text += "These snapshots cannot be restored as a whole any more\n";
        text += &list_text(lost.iter().map(&known));
    }
    if let Some(first) = salvaged.first().and_then(|id| id.parse::<wink_fs::SnapshotId>().ok()) {
        let (of, first) = (format::number(salvaged.len() as u64), first.short());
        text += &format!(
            "Of {of} of them what is whole can still be read and restored: `wink fs ls --at {first}` \
             lists it, and `wink show {first}` names what is damaged\n"
        );
    }
    if let Some(taken) = taken.as_ref().and_then(|id| id.parse().ok()) {
        let taken: wink_fs::SnapshotId = taken;
        let what =
            if unreadable.is_empty() { "all that the files still have" } else { "the others" };
        if !unreadable.is_empty() {
            text += "These could not be read, so nothing of them is stored again\n";
            text += &list_text(unreadable.iter());
        }
        text += &format!("Snapshot {} has {what}\n", taken.short());
    }
    text
}
