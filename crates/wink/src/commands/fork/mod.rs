//! `wink fork`: makes, lists, renames and deletes forks.

mod create;

use clap::{Args, Subcommand};
use serde::Serialize;
use wink_fs::Store;

use self::create::NewForkArgs;
use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref;
use crate::error::{CliError, PARTIAL};
use crate::json::documents;
use crate::project::settings::ForkSettings;
use crate::project::{self, DamagedFork, Project};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

/// Make a fork, a copy of a state in another directory; list, rename or delete forks.
#[derive(Debug, Args)]
#[command(after_help = REFS, alias = "branch")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ForkArgs {
    #[command(subcommand)]
    command: Option<ForkCommand>,

    #[command(flatten)]
    new: Option<NewForkArgs>,
}

/// Names that `wink fork` would take for a subcommand.
const RESERVED: [&str; 4] = ["list", "rename", "delete", "help"];

#[derive(Debug, Subcommand)]
pub(crate) enum ForkCommand {
    /// List the forks of the workspace; in a fork, list all forks of the same workspace.
    List,

    /// Rename a fork; its directory stays where it is.
    Rename(RenameArgs),

    /// Delete a fork; its files and snapshots stay, but its directory is no longer protected.
    Delete(DeleteArgs),
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

documents! {
    create::Forked: "wink/fork@1";
    Forks: "wink/fork.list@1";
    ForkRenamed: "wink/fork.rename@1";
    ForkDeleted: "wink/fork.delete@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Forks {
    forks: Vec<ForkEntry>,
    /// Forks with unreadable settings.
    damaged: Vec<DamagedEntry>,
    /// The name of the fork that this workspace is; null if it is not a fork.
    current: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ForkEntry {
    name: String,
    /// The id of the fork's first snapshot.
    base: String,
    /// Its directory; empty if it has none.
    directory: String,
    /// The id of the snapshot with its files, if it has no directory: an agent made it in a server.
    kept: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DamagedEntry {
    /// The name with which it was made.
    pub(crate) key: String,
    pub(crate) why: String,
}

impl From<&DamagedFork> for DamagedEntry {
    fn from(damaged: &DamagedFork) -> Self {
        Self { key: damaged.key.clone(), why: damaged.why.message().to_owned() }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ForkRenamed {
    fork: ForkEntry,
    /// The old name.
    was: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ForkDeleted {
    fork: ForkEntry,
}

pub(crate) fn run(context: &Context, args: &ForkArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    match (&args.command, &args.new) {
        (Some(ForkCommand::List), _) => list(context, &opened),
        (Some(ForkCommand::Rename(args)), _) => rename(context, &opened, args),
        (Some(ForkCommand::Delete(args)), _) => delete(context, &opened, &args.name),
        (None, Some(args)) => create::run(context, &opened, args),
        (None, None) => unreachable!("clap requires a name or a subcommand"),
    }
}

/// Returns a fork with its directory; makes it from the current files if there is none of this name.
pub(crate) fn made(context: &Context, opened: &Opened, name: &str) -> Result<Opened, CliError> {
    if opened.project.find_fork(name)?.is_none() {
        create::run(context, opened, &NewForkArgs::of_current_files(name))?;
    }
    let fork = find(opened, name)?;
    if fork.is_kept() || disk::is_gone(&fork.root) {
        return Err(CliError::fork_without_directory(name));
    }
    Context::open_project(fork, None)
}

fn list(context: &Context, opened: &Opened) -> Result<Answer, CliError> {
    let project::Forks { whole, damaged } = opened.project.forks()?;
    whole.iter().for_each(Project::announce);
    let current = opened.project.settings.fork.as_ref().map(|fork| fork.name.clone());
    let document = Forks {
        forks: whole.iter().filter_map(described).collect(),
        damaged: damaged.iter().map(DamagedEntry::from).collect(),
        current,
    };
    let answer = context.answer(&document, |it| it.forks.iter().map(line).collect())?;
    let mut answer = answer.exit(if damaged.is_empty() { 0 } else { PARTIAL });
    if context.is_for_people() {
        answer.notes = damaged.iter().map(DamagedFork::warning).collect();
    }
    answer.notes.extend(next_step(context, opened, &document)?);
    Ok(answer)
}

/// Returns a note with the next command.
fn next_step(
    context: &Context,
    opened: &Opened,
    document: &Forks,
) -> Result<Vec<String>, CliError> {
    if let Some(name) = &document.current {
        let main = opened.project.main()?;
        let (shown, main) = (main.display(), format::shell_quote_path(&main));
        return Ok(context.note(format!(
            "note: this is the fork {name} of {shown}\nmerge it: wink -C {main} merge {name}"
        )));
    }
    if document.forks.is_empty() && document.damaged.is_empty() {
        Ok(context.note("next: wink fork NAME"))
    } else {
        Ok(Vec::new())
    }
}

fn described(project: &Project) -> Option<ForkEntry> {
    let ForkSettings { name, base, kept, .. } = project.settings.fork.clone()?;
    let directory = if kept.is_some() { String::new() } else { project.root.display().to_string() };
    Some(ForkEntry { name, base, directory, kept })
}

fn line(fork: &ForkEntry) -> String {
    let place = match &fork.kept {
        Some(kept) => format!("kept as {}", short(kept)),
        None => fork.directory.clone(),
    };
    format!("{:<20}  {}  {place}\n", format::first_line(&fork.name), short(&fork.base))
}

fn short(id: &str) -> String {
    id.parse().map_or(String::new(), |id: wink_fs::SnapshotId| id.short())
}

/// Finds a fork by name. Fails in a fork: only the workspace manages its forks.
pub(super) fn find(opened: &Opened, name: &str) -> Result<Project, CliError> {
    if let Some(fork) = &opened.project.settings.fork {
        return Err(CliError::in_fork(&fork.name, &opened.project.main()?));
    }
    let project = opened.project.find_fork(name)?.ok_or_else(|| CliError::no_fork(name))?;
    project.announce();
    Ok(project)
}

/// Deletes a fork's records, its settings last: if the process dies before, the fork is still found and can be
/// deleted again.
fn delete(context: &Context, opened: &Opened, name: &str) -> Result<Answer, CliError> {
    let project = find(opened, name)?;
    context.confirm(&format!("Delete the fork {name}?"))?;
    let failed = |error| CliError::host("cannot delete", &project.directory, error);
    let fork = described(&project).ok_or_else(|| CliError::no_fork(name))?;
    let needed = project.settings.fork.iter().flat_map(ForkSettings::needed);
    for id in needed.filter_map(|id| id.parse().ok()) {
        opened.files.snapshot_store()?.unpin(&id, &project.pin_owner())?;
    }
    opened.project.open_store()?.forget_fork(&project.key())?;
    project.forget_pointer()?;
    // `prune --path` writes into the settings of all forks.
    let _held = opened.project.hold_settings()?;
    disk::remove_all(&project.directory).map_err(failed)?;
    let is_gone = disk::is_gone(&project.root);
    let document = ForkDeleted { fork };
    context.answer(&document, |it| match (is_gone, &it.fork.directory) {
        _ if it.fork.kept.is_some() => format!("Deleted the fork {name}; its snapshot stays.\n"),
        (true, gone) => format!("Deleted the fork {name}; its directory {gone} was already missing.\n"),
        (false, stays) => format!(
            "Deleted the fork {name}.\n{stays} stays, but is no longer protected; `wink init` protects it \
             again.\n"
        ),
    })
}

/// Changes only the name in the fork's settings: its records are found by its key, which stays.
fn rename(context: &Context, opened: &Opened, args: &RenameArgs) -> Result<Answer, CliError> {
    let RenameArgs { old, new } = args;
    let _held = opened.project.hold_names()?;
    let mut project = find(opened, old)?;
    check_name(opened, new)?;
    project.change(|settings| {
        let fork = settings.fork.as_mut().ok_or_else(|| CliError::no_fork(old))?;
        fork.name.clone_from(new);
        Ok(())
    })?;
    let fork = described(&project).ok_or_else(|| CliError::no_fork(new))?;
    let document = ForkRenamed { fork, was: old.clone() };
    context.answer(&document, |it| format!("Renamed the fork {} to {}.\n", it.was, it.fork.name))
}

/// Fails if a fork cannot have this name, or another fork or a tag has it.
fn check_name(opened: &Opened, name: &str) -> Result<(), CliError> {
    if let Some(fork) = &opened.project.settings.fork {
        return Err(CliError::in_fork(&fork.name, &opened.project.main()?));
    }
    if RESERVED.contains(&name) {
        return Err(CliError::reserved_fork_name(name));
    }
    Store::check_fork_name(name).map_err(|error| CliError::invalid_fork_name(name, &error))?;
    if opened.project.find_fork(name)?.is_some() {
        return Err(CliError::fork_name_taken(name));
    }
    match state_ref::tagged(&opened.files, name)? {
        Some(snapshot) => Err(CliError::name_of_tag(name, &snapshot)),
        None => Ok(()),
    }
}
