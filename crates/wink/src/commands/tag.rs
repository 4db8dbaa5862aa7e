//! `wink tag`: a name for a snapshot that is there.

use clap::Args;

use crate::cli::completion;
use crate::cli::context::Context;
use crate::cli::state_ref;
use crate::error::CliError;
use crate::json::{SnapshotEntry, Tagged};
use crate::ui::answer::Answer;

#[derive(Debug, Args)]
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
    let tagged = opened.files.tag(&snapshot.id.to_string(), tag)?;
    let document = Tagged { snapshot: SnapshotEntry::from(&tagged), was };
    context.answer(&document, |it| {
        let short = &it.snapshot.short;
        match (&it.snapshot.tag, &it.was) {
            (Some(tag), Some(was)) if tag != was => format!("{short} is {tag} now, it was {was}\n"),
            (Some(tag), _) => format!("{short} is {tag} now\n"),
            (None, _) => format!("{short} has no tag now\n"),
        }
    })
}
