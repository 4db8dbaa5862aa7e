//! `wink branch`: the forks there are.

use clap::{Args, Subcommand};

use super::fork::{entry, owner};
use crate::answer::Answer;
use crate::context::{Context, Opened};
use crate::documents::{BranchDeleted, BranchEntry, Branches};
use crate::failure::Failure;
use crate::home::{self, Home};
use crate::settings::Settings;
use crate::{disk, words};

#[derive(Debug, Subcommand)]
pub(crate) enum BranchCommand {
    /// Lists the forks of the workspace.
    List,

    /// Forgets a fork; its directory and its snapshots stay.
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The name of the fork.
    #[arg(value_name = "NAME")]
    name: String,
}

pub(crate) fn run(context: &Context, command: &BranchCommand) -> Result<Answer, Failure> {
    let opened = context.open()?;
    match command {
        BranchCommand::List => list(context, &opened),
        BranchCommand::Delete(args) => delete(context, &opened, &args.name),
    }
}

fn list(context: &Context, opened: &Opened) -> Result<Answer, Failure> {
    let branches = opened.home.branches()?;
    let document = Branches { branches: branches.iter().filter_map(described).collect() };
    let mut answer = context.answer(&document, |it| it.branches.iter().map(line).collect())?;
    if document.branches.is_empty() {
        answer.notes = context.note("next: wink fork NAME");
    }
    Ok(answer)
}

fn described(home: &Home) -> Option<BranchEntry> {
    let branch = home.settings.branch.as_ref()?;
    Some(entry(&branch.name, &branch.base, &home.root))
}

fn line(branch: &BranchEntry) -> String {
    let base = branch.base.parse().map_or(String::new(), |id: wink_fs::SnapshotId| id.short());
    format!("{:<20}  {base}  {}\n", words::first_line(&branch.name), branch.directory)
}

/// Finds a fork by its name.
pub(super) fn find(opened: &Opened, name: &str) -> Result<Home, Failure> {
    let is_named = |home: &Home| home.settings.branch.as_ref().is_some_and(|it| it.name == name);
    opened.home.branches()?.into_iter().find(is_named).ok_or_else(|| Failure::no_branch(name))
}

fn delete(context: &Context, opened: &Opened, name: &str) -> Result<Answer, Failure> {
    let home = find(opened, name)?;
    let failed = |error| Failure::host("cannot forget", &home.directory, error);
    let branch = described(&home).ok_or_else(|| Failure::no_branch(name))?;
    let usual = home::usual_place(&home.root)?;
    let kept_in = Settings::read(&usual)?.map(|it| it.kept_in()).transpose()?.flatten();
    if kept_in.as_ref() == Some(&home.directory) {
        disk::remove_all(&usual).map_err(failed)?;
    }
    disk::remove_all(&home.directory).map_err(failed)?;
    disk::remove_all(&home.store()?.join("branches").join(name)).map_err(failed)?;
    if let Ok(base) = branch.base.parse() {
        opened.files.snapshot_store()?.unpin(&base, &owner(name))?;
    }
    let document = BranchDeleted { branch };
    context
        .answer(&document, |it| format!("Forgot the fork {name}; {} stays.\n", it.branch.directory))
}
