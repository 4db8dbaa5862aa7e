//! `wink branch`: the forks there are.

use clap::{Args, Subcommand};

use super::fork::check_name;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::error::{CliError, PARTIAL};
use crate::json::{BranchDeleted, BranchEntry, BranchRenamed, DamagedEntry, Forks};
use crate::project::settings::Branch;
use crate::project::{self, DamagedFork, Project};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Subcommand)]
pub(crate) enum BranchCommand {
    /// List the forks of the workspace; in a fork, those of its workspace.
    List,

    /// Delete a fork; its files and snapshots stay, but its directory is no longer protected.
    Delete(DeleteArgs),

    /// Rename a fork; its directory stays where it is.
    Rename(RenameArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Name of the fork.
    #[arg(value_name = "NAME")]
    #[arg(add = completion::forks())]
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// Current name.
    #[arg(value_name = "OLD")]
    #[arg(add = completion::forks())]
    old: String,

    /// New name.
    #[arg(value_name = "NEW")]
    new: String,
}

pub(crate) fn run(context: &Context, command: &BranchCommand) -> Result<Answer, CliError> {
    let opened = context.open()?;
    match command {
        BranchCommand::List => list(context, &opened),
        BranchCommand::Delete(args) => delete(context, &opened, &args.name),
        BranchCommand::Rename(args) => rename(context, &opened, args),
    }
}

fn list(context: &Context, opened: &Opened) -> Result<Answer, CliError> {
    let project::Forks { whole, damaged } = opened.project.branches()?;
    whole.iter().for_each(Project::announce);
    let fork = opened.project.settings.branch.as_ref().map(|branch| branch.name.clone());
    let document = Forks {
        branches: whole.iter().filter_map(described).collect(),
        damaged: damaged.iter().map(DamagedEntry::from).collect(),
        fork,
    };
    let answer = context.answer(&document, |it| it.branches.iter().map(line).collect())?;
    let mut answer = answer.exit(if damaged.is_empty() { 0 } else { PARTIAL });
    if context.is_for_people() {
        answer.notes = damaged.iter().map(DamagedFork::warning).collect();
    }
    answer.notes.extend(way_on(context, opened, &document)?);
    Ok(answer)
}

/// Says what to do next.
fn way_on(context: &Context, opened: &Opened, document: &Forks) -> Result<Vec<String>, CliError> {
    if let Some(name) = &document.fork {
        let main = opened.project.main()?;
        let (shown, main) = (main.display(), format::path_for_shell(&main));
        return Ok(context.note(format!(
            "note: this is the fork {name} of {shown}\nbring it back: wink -C {main} merge {name}"
        )));
    }
    if document.branches.is_empty() && document.damaged.is_empty() {
        Ok(context.note("next: wink fork NAME"))
    } else {
        Ok(Vec::new())
    }
}

fn described(project: &Project) -> Option<BranchEntry> {
    let Branch { name, base, kept, .. } = project.settings.branch.clone()?;
    let directory = if kept.is_some() { String::new() } else { project.root.display().to_string() };
    Some(BranchEntry { name, base, directory, kept })
}

fn line(branch: &BranchEntry) -> String {
    let place = match &branch.kept {
        Some(kept) => format!("kept as {}", short(kept)),
        None => branch.directory.clone(),
    };
    format!("{:<20}  {}  {place}\n", format::first_line(&branch.name), short(&branch.base))
}

fn short(id: &str) -> String {
    id.parse().map_or(String::new(), |id: wink_fs::SnapshotId| id.short())
}

/// Finds a fork by its name; only where it is a fork of has a say on it.
pub(super) fn find(opened: &Opened, name: &str) -> Result<Project, CliError> {
    if let Some(branch) = &opened.project.settings.branch {
        return Err(CliError::in_fork(&branch.name, &opened.project.main()?));
    }
    let project = opened.project.find_branch(name)?.ok_or_else(|| CliError::no_branch(name))?;
    project.announce();
    Ok(project)
}

/// Takes away what belongs to a fork, and last what it is found by: so the rest can be taken away
/// later, whatever happens meanwhile.
fn delete(context: &Context, opened: &Opened, name: &str) -> Result<Answer, CliError> {
    let project = find(opened, name)?;
    context.confirm(&format!("Forget the fork {name}?"))?;
    let failed = |error| CliError::host("cannot forget", &project.directory, error);
    let branch = described(&project).ok_or_else(|| CliError::no_branch(name))?;
    let needed = project.settings.branch.iter().flat_map(Branch::needed);
    for id in needed.filter_map(|id| id.parse().ok()) {
        opened.files.snapshot_store()?.unpin(&id, &project.pin_owner())?;
    }
    opened.project.open_store()?.forget_branch(&project.key())?;
    project.forget_pointer()?;
    // Who excludes something everywhere writes into all settings there are.
    let _held = opened.project.hold_settings()?;
    disk::remove_all(&project.directory).map_err(failed)?;
    let is_gone = disk::is_gone(&project.root);
    let document = BranchDeleted { branch };
    context.answer(&document, |it| match (is_gone, &it.branch.directory) {
        _ if it.branch.kept.is_some() => format!("Forgot the fork {name}; its snapshot stays.\n"),
        (true, gone) => format!("Forgot the fork {name}; its directory {gone} was gone already.\n"),
        (false, stays) => format!(
            "Forgot the fork {name}.\n{stays} stays, and is no workspace any more: nothing there is \
             protected until `wink init`.\n"
        ),
    })
}

/// Changes the name in the fork's settings and nothing else: all that is kept of it is found by its key.
fn rename(context: &Context, opened: &Opened, args: &RenameArgs) -> Result<Answer, CliError> {
    let RenameArgs { old, new } = args;
    let _held = opened.project.hold_names()?;
    let mut project = find(opened, old)?;
    check_name(opened, new)?;
    project.change(|settings| {
        let branch = settings.branch.as_mut().ok_or_else(|| CliError::no_branch(old))?;
        branch.name.clone_from(new);
        Ok(())
    })?;
    let branch = described(&project).ok_or_else(|| CliError::no_branch(new))?;
    let document = BranchRenamed { branch, was: old.clone() };
    context.answer(&document, |it| format!("The fork {} is {} now\n", it.was, it.branch.name))
}
