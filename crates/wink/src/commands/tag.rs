//! `wink tag`: tags a snapshot.

use clap::Args;
use serde::Serialize;

use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::Context;
use crate::cli::state_ref;
use crate::error::CliError;
use crate::json::{SnapshotEntry, documents};
use crate::ui::answer::Answer;
use crate::ui::format;

/// Tag a snapshot, replacing the tag it had.
#[derive(Debug, Args)]
#[command(after_help = REFS)]
pub(crate) struct TagArgs {
    /// Tag; no other snapshot or fork may have it.
    #[arg(value_name = "NAME")]
    name: String,

    /// Snapshot [default: the last one].
    #[arg(value_name = "REF", default_value = "@-", hide_default_value = true)]
    #[arg(add = completion::states())]
    snapshot: String,

    /// Remove the tag.
    #[arg(long, conflicts_with = "snapshot")]
    delete: bool,
}

documents! {
    Tagged: "wink/tag@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Tagged {
    snapshot: SnapshotEntry,
    /// The tag it had before.
    was: Option<String>,
}

pub(crate) fn run(context: &Context, args: &TagArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let _held = opened.project.hold_names()?;
    let (snapshot, tag) = if args.delete {
        (state_ref::tagged(&opened.files, &args.name)?, None)
    } else {
        state_ref::check_tag(&opened, &args.name)?;
        (Some(state_ref::find_snapshot(&opened, &args.snapshot)?), Some(args.name.as_str()))
    };
    let snapshot = snapshot.ok_or_else(|| CliError::unknown_ref(&args.name))?;
    let was = snapshot.tag.clone();
    let tagged = opened.files.tag(&snapshot, tag)?;
    let document = Tagged { snapshot: SnapshotEntry::from(&tagged), was };
    let mut answer = context.answer(&document, |it| {
        let short = &it.snapshot.short;
        match (&it.snapshot.tag, &it.was) {
            (Some(tag), Some(was)) if tag != was => {
                format!("Tagged {short} as {tag} (was {was}).\n")
            }
            (Some(tag), _) => format!("Tagged {short} as {tag}.\n"),
            (None, _) => format!("Removed the tag of {short}.\n"),
        }
    })?;
    answer.notes = context.note(undo(&document));
    Ok(answer)
}

/// Returns the note with the command that brings the old tag back. Tags are no operations: those change files.
fn undo(tagged: &Tagged) -> String {
    let short = &tagged.snapshot.short;
    match (&tagged.was, &tagged.snapshot.tag) {
        (Some(was), _) => format!("undo: wink tag {} {short}", format::shell_quote(was)),
        (None, tag) => {
            let tag = format::shell_quote(tag.as_deref().unwrap_or_default());
            format!("undo: wink tag --delete {tag}")
        }
    }
}
