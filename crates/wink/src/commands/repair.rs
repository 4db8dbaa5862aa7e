//! `wink repair`: what is damaged put aside, so that the rest can be used.

use crate::answer::Answer;
use crate::context::Context;
use crate::documents::RepairedEntry;
use crate::failure::Failure;
use crate::words;

use super::list_text;

pub(crate) fn run(context: &Context) -> Result<Answer, Failure> {
    let opened = context.open()?;
    let progress = context.progress("repairing");
    let repaired = opened.files.snapshot_store()?.repair()?;
    drop(progress);
    let document = RepairedEntry {
        quarantined: repaired.quarantined.clone(),
        objects_saved: repaired.objects_saved,
        lost: repaired.lost.iter().map(ToString::to_string).collect(),
    };
    let mut answer = context.answer(&document, text)?;
    if !document.quarantined.is_empty() {
        answer.notes = context.note("next: wink snapshot keeps again what the files still have");
    }
    Ok(answer)
}

fn text(document: &RepairedEntry) -> String {
    let RepairedEntry { quarantined, objects_saved, lost } = document;
    if quarantined.is_empty() {
        return "Nothing is damaged.\n".to_owned();
    }
    let files = words::counted(quarantined.len() as u64, "file", "files");
    let objects = words::counted(*objects_saved, "object", "objects");
    let mut text = format!("Moved {files} into the quarantine and saved {objects} of them\n");
    text += &list_text(quarantined.iter());
    if !lost.is_empty() {
        text += "These snapshots cannot be restored as a whole any more\n";
        text += &list_text(lost.iter());
    }
    text
}
