//! `wink revert`: one step taken out, with what came after it left in.

use std::time::Instant;

use clap::Args;

use super::merged::{self, MergeFlags};
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref::{self, State};
use crate::error::CliError;
use crate::json::Reverted;
use crate::ui::answer::Answer;

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    /// What to revert: a snapshot's changes, or those from one state to another.
    #[arg(value_name = "A..B")]
    #[arg(add = completion::states())]
    step: String,

    #[command(flatten)]
    flags: MergeFlags,
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

/// Finds both ends of a step.
fn ends(opened: &Opened, step: &str) -> Result<(State, State), CliError> {
    // A path may go up too, before or within it.
    let is_step = |(from, to): &(&str, &str)| !from.is_empty() && !to.starts_with('/');
    if let Some((from, to)) = step.split_once("..").filter(is_step) {
        let to = if to.is_empty() { "@" } else { to };
        return Ok((state_ref::find(opened, from)?, state_ref::find(opened, to)?));
    }
    let snapshot = state_ref::find_snapshot(opened, step)?;
    let parent = snapshot.parent.ok_or_else(|| CliError::first_snapshot(step))?;
    let parent = state_ref::find(opened, &parent.to_string())?;
    Ok((parent, State::Snapshot(Box::new(snapshot))))
}
