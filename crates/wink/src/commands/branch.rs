//! `wink branch`: the forks there are.

use clap::{Args, Subcommand};
use wink_fs::Pin;

use super::fork::{check_name, entry, owner};
use crate::answer::Answer;
use crate::completing;
use crate::context::{Context, Opened};
use crate::documents::{BranchDeleted, BranchEntry, BranchRenamed, Branches};
use crate::failure::Failure;
use crate::home::{self, Home};
use crate::settings::{Branch, Settings};
use crate::{disk, words};

#[derive(Debug, Subcommand)]
pub(crate) enum BranchCommand {
    /// Lists the forks of the workspace.
    List,

    /// Forgets a fork; its directory and its snapshots stay, and the directory is no workspace any more.
    Delete(DeleteArgs),

    /// Gives a fork another name; its directory stays where it is.
    Rename(RenameArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The name of the fork.
    #[arg(value_name = "NAME")]
    #[arg(add = completing::forks())]
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// The name it has.
    #[arg(value_name = "OLD")]
    #[arg(add = completing::forks())]
    old: String,

    /// The name it gets.
    #[arg(value_name = "NEW")]
    new: String,
}

pub(crate) fn run(context: &Context, command: &BranchCommand) -> Result<Answer, Failure> {
    let opened = context.open()?;
    match command {
        BranchCommand::List => list(context, &opened),
        BranchCommand::Delete(args) => delete(context, &opened, &args.name),
        BranchCommand::Rename(args) => rename(context, &opened, args),
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
    context.confirm(&format!("Forget the fork {name}?"))?;
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
    let is_gone = disk::is_gone(&home.root);
    let document = BranchDeleted { branch };
    context.answer(&document, |it| match (is_gone, &it.branch.directory) {
        (true, gone) => format!("Forgot the fork {name}; its directory {gone} was gone already.\n"),
        (false, stays) => format!(
            "Forgot the fork {name}.\n{stays} stays, and is no workspace any more: nothing there is \
             protected until `wink init`.\n"
        ),
    })
}

fn rename(context: &Context, opened: &Opened, args: &RenameArgs) -> Result<Answer, Failure> {
    let RenameArgs { old, new } = args;
    let home = find(opened, old)?;
    check_name(opened, new)?;
    let base = home.settings.branch.as_ref().map(|it| it.base.clone());
    let base = base.ok_or_else(|| Failure::no_branch(old))?;
    move_settings(opened, &home, old, Branch::new(new, &base, &opened.home.directory)?)?;
    if let Ok(base) = base.parse() {
        let store = opened.files.snapshot_store()?;
        store.pin(&Pin::new(base, owner(new)))?;
        store.unpin(&base, &owner(old))?;
    }
    let failed = |error| Failure::host("cannot forget", &home.directory, error);
    disk::remove_all(&home.directory).map_err(failed)?;
    let document = BranchRenamed { branch: entry(new, &base, &home.root), was: old.clone() };
    context.answer(&document, |it| format!("The fork {} is {} now\n", it.was, it.branch.name))
}

/// Puts what a fork needs under its new name; what is there under the old one goes last.
fn move_settings(opened: &Opened, home: &Home, old: &str, new: Branch) -> Result<(), Failure> {
    let failed = |error| Failure::host("cannot rename", &home.directory, error);
    let (root, directory) = (&home.root, opened.home.branch(&new.name));
    let branches = home.store()?.join("branches");
    let (from, to) = (branches.join(old), branches.join(&new.name));
    disk::make_private(&directory).map_err(failed)?;
    Settings::of_branch(root, home.settings.exclude.clone(), new)?.write(&directory)?;
    disk::rename(&from, &to).map_err(failed)?;
    Settings::pointer(root, &directory)?.write_over(&home::usual_place(root)?)
}
