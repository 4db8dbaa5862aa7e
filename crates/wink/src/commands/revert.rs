//! `wink revert`: undoes the changes of one snapshot.

use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::merged::{self, MergeFlags, MergeOutcome};
use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref::{self, State};
use crate::error::CliError;
use crate::json::documents;
use crate::ui::answer::Answer;

/// Undo one snapshot's changes, keeping everything before and after it.
#[derive(Debug, Args)]
#[command(after_help = REFS)]
pub(crate) struct RevertArgs {
    /// What to revert: a snapshot's changes, or those from one state to another.
    #[arg(value_name = "A..B")]
    #[arg(add = completion::states())]
    step: String,

    #[command(flatten)]
    flags: MergeFlags,
}

documents! {
    Reverted: "wink/revert@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Reverted {
    /// The id of the first state of the range; null for the current files.
    from: Option<String>,
    /// The id of the last state of the range.
    to: Option<String>,
    #[serde(flatten)]
    outcome: MergeOutcome,
}

pub(crate) fn run(context: &Context, args: &RevertArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    let opened = context.open()?;
    let (from, to) = ends(&opened, &args.step)?;
    let ends = (from.at(&args.step)?, to.at(&args.step)?);
    let progress = context.progress("reverting");
    let reverted = opened.files.revert_with(ends.0, ends.1, &args.flags.options())?;
    drop(progress);
    let (from, to) = (from.id(), to.id());
    let outcome = merged::outcome(&reverted, &args.flags, start);
    let document = Reverted { from, to, outcome };
    let text =
        |_: &Reverted| merged::text("Reverted", "revert", &args.step, &reverted, &args.flags);
    merged::answer(context, &document, &reverted, text)
}

/// Finds both ends of a range.
fn ends(opened: &Opened, step: &str) -> Result<(State, State), CliError> {
    if let Some((from, to)) = state_ref::range(step) {
        return Ok((state_ref::find(opened, from)?, state_ref::find(opened, to)?));
    }
    let snapshot = state_ref::find_snapshot(opened, step)?;
    let parent = snapshot.parent.ok_or_else(|| CliError::first_snapshot(step))?;
    let parent = state_ref::find(opened, &parent.to_string())?;
    Ok((parent, State::Snapshot(Box::new(snapshot))))
}
