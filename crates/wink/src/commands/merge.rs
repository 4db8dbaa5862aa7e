//! `wink merge`: what was done in a fork, brought in.

use std::time::Instant;

use clap::Args;
use wink_fs::{Snapshot, SnapshotOptions};

use super::branch;
use super::merged::{self, MergeFlags};
use crate::answer::Answer;
use crate::completing;
use crate::context::Context;
use crate::documents::MergedIn;
use crate::failure::Failure;
use crate::home::Home;

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The name of the fork.
    #[arg(value_name = "NAME")]
    #[arg(add = completing::forks())]
    name: String,

    #[command(flatten)]
    flags: MergeFlags,
}

pub(crate) fn run(context: &Context, args: &MergeArgs) -> Result<Answer, Failure> {
    let start = Instant::now();
    let opened = context.open()?;
    let home = branch::find(&opened, &args.name)?;
    let base = home.settings.branch.as_ref().map(|it| it.base.clone());
    let base = base.ok_or_else(|| Failure::no_branch(&args.name))?;
    let theirs = keep(home)?;
    let merged = opened.files.merge_states(&*base, &theirs, &args.flags.options())?;
    let (branch, theirs) = (args.name.clone(), theirs.id.to_string());
    let outcome = merged::outcome(&merged, &args.flags, start);
    let document = MergedIn { branch, base, theirs, outcome };
    let text = |_: &MergedIn| merged::text("Merged", "merge", &args.name, &merged, &args.flags);
    merged::answer(context, &document, &merged, text)
}

/// Takes a snapshot of a fork as it is now.
fn keep(home: Home) -> Result<Snapshot, Failure> {
    let fork = Context::open_home(home)?;
    Ok(fork.files.snapshot_with(&SnapshotOptions::default().message("merge"))?)
}
