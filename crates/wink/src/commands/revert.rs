//! `wink revert`: one step taken out, with what came after it left in.

use std::time::Instant;

use clap::Args;
use wink_fs::At;

use super::merged::{self, MergeFlags};
use crate::answer::Answer;
use crate::context::{Context, Opened};
use crate::documents::Reverted;
use crate::failure::Failure;
use crate::refs::{self, State};

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    /// The step: from one state to another, or a snapshot, which means what it changed.
    #[arg(value_name = "A..B")]
    step: String,

    #[command(flatten)]
    flags: MergeFlags,
}

pub(crate) fn run(context: &Context, args: &RevertArgs) -> Result<Answer, Failure> {
    let start = Instant::now();
    let opened = context.open()?;
    let (from, to) = ends(&opened, &args.step)?;
    let reverted = opened.files.revert_with(&from, &to, &args.flags.options())?;
    let id = |state: &State| match At::from(state) {
        At::Snapshot(id) => Some(id),
        _ => None,
    };
    let (from, to) = (id(&from), id(&to));
    let outcome = merged::outcome(&reverted, &args.flags, start);
    let document = Reverted { from, to, outcome };
    let text =
        |_: &Reverted| merged::text("Reverted", "revert", &args.step, &reverted, &args.flags);
    merged::answer(context, &document, &reverted, text)
}

/// Finds both ends of a step.
fn ends(opened: &Opened, step: &str) -> Result<(State, State), Failure> {
    if let Some((from, to)) = step.split_once("..") {
        let to = if to.is_empty() { "@" } else { to };
        return Ok((refs::find(&opened.files, from)?, refs::find(&opened.files, to)?));
    }
    let snapshot = refs::find_snapshot(&opened.files, step)?;
    let parent = snapshot.parent.ok_or_else(|| Failure::first_snapshot(step))?;
    let parent = refs::find(&opened.files, &parent.to_string())?;
    Ok((parent, State::Snapshot(Box::new(snapshot))))
}
