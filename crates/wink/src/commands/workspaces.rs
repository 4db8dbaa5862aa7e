//! `wink workspaces`: lists every history on this machine, and forgets one.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use wink_fs::{MemoryBackend, Snapshot, Usage, Workspace};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::{SnapshotEntry, documents};
use crate::project::{self, Project, retention};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

/// List every history on this machine, or delete one.
#[derive(Debug, Args)]
pub(crate) struct WorkspacesArgs {
    #[command(subcommand)]
    command: Option<WorkspacesCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspacesCommand {
    /// Delete a history with all its snapshots; the files of the workspace stay.
    Forget(ForgetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Directory of the workspace, or of its history.
    #[arg(value_name = "DIR")]
    workspace: PathBuf,
}

documents! {
    Workspaces: "wink/workspaces@1";
    Forgotten: "wink/workspaces.forget@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Workspaces {
    /// Sorted by directory.
    workspaces: Vec<WorkspaceEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct WorkspaceEntry {
    /// The directory of the workspace; null if the settings of the history cannot be read.
    root: Option<String>,
    /// The directory of the history.
    history: String,
    /// Whether the directory exists, and its history can be read, has a complete snapshot and room for another;
    /// `wink status` there also compares the files.
    protected: bool,
    /// Why it is not protected.
    problem: Option<String>,
    bytes: Option<u64>,
    snapshots: Option<u64>,
    last_snapshot: Option<SnapshotEntry>,
    forks: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Forgotten {
    workspace: WorkspaceEntry,
}

pub(crate) fn run(context: &Context, args: &WorkspacesArgs) -> Result<Answer, CliError> {
    match &args.command {
        None => list(context),
        Some(WorkspacesCommand::Forget(args)) => forget(context, &args.workspace),
    }
}

fn list(context: &Context) -> Result<Answer, CliError> {
    let progress = context.progress("reading the histories");
    let mut workspaces: Vec<_> = histories()?
        .into_iter()
        .map(|(place, project)| match project {
            Ok(project) => described(&project),
            Err(error) => unreadable(&place, &error),
        })
        .collect();
    drop(progress);
    workspaces.sort_by(|a, b| (&a.root, &a.history).cmp(&(&b.root, &b.history)));
    let document = Workspaces { workspaces };
    let mut answer = context.answer(&document, |it| it.workspaces.iter().map(text).collect())?;
    answer.notes = if document.workspaces.is_empty() {
        context.note("note: no directory on this machine has a history\nnext: wink init")
    } else {
        Vec::new()
    };
    Ok(answer)
}

/// A history's directory, and its settings if they are readable.
type History = (PathBuf, Result<Project, CliError>);

/// Returns every history with its directory; a fork belongs to the history of its workspace.
fn histories() -> Result<Vec<History>, CliError> {
    let places = project::all_places()?;
    let names = disk::names(&places);
    let names = names.map_err(|error| CliError::host("cannot list", &places, error))?;
    let mut found: Vec<History> = Vec::new();
    for place in names.iter().map(|name| places.join(name)) {
        let project = match project::at_place(&place) {
            Ok(Some(project)) if project.settings.fork.is_none() => Ok(project),
            // A fork, or something that is no history.
            Ok(_) => continue,
            Err(error) => Err(error),
        };
        let directory = project.as_ref().map_or(place, |it| it.directory.clone());
        if !found.iter().any(|(listed, _)| *listed == directory) {
            found.push((directory, project));
        }
    }
    Ok(found)
}

fn described(project: &Project) -> WorkspaceEntry {
    let forks = project.forks().map_or(0, |forks| forks.whole.len() + forks.damaged.len());
    let mut entry = WorkspaceEntry {
        root: Some(project.root.display().to_string()),
        history: project.directory.display().to_string(),
        protected: false,
        problem: None,
        bytes: None,
        snapshots: None,
        last_snapshot: None,
        forks: forks as u64,
    };
    entry.problem = match kept(project) {
        Err(error) => Some(error.message().to_owned()),
        Ok((snapshots, usage, has_room)) => {
            entry.bytes = Some(usage.bytes);
            entry.snapshots = Some(snapshots.len() as u64);
            let last = snapshots.iter().max_by_key(|it| it.created_at);
            entry.last_snapshot = last.map(SnapshotEntry::from);
            let is_gone = disk::is_gone(&project.root);
            let problem = match last {
                _ if is_gone => Some("its directory is missing"),
                None => Some("it has no snapshot"),
                Some(last) if last.missing().next().is_some() => {
                    Some("its last snapshot is incomplete")
                }
                Some(_) if !has_room => Some("its history has no room for another snapshot"),
                Some(_) => None,
            };
            problem.map(str::to_owned)
        }
    };
    entry.protected = entry.problem.is_none();
    entry
}

/// Returns the snapshots of a history and its size; its directory may be missing.
fn kept(project: &Project) -> Result<(Vec<Snapshot>, Usage, bool), CliError> {
    let kept = Workspace::builder(MemoryBackend::new()).read_only(true);
    let kept = kept.retention(retention::of(project)?).store(project.open_store()?).build();
    // A snapshot of nothing at all is the least that has to fit.
    let has_room = kept.has_room_for(0)?;
    Ok((kept.snapshots()?, kept.usage()?, has_room))
}

fn unreadable(place: &Path, error: &CliError) -> WorkspaceEntry {
    WorkspaceEntry {
        root: None,
        history: place.display().to_string(),
        protected: false,
        problem: Some(error.message().to_owned()),
        bytes: None,
        snapshots: None,
        last_snapshot: None,
        forks: 0,
    }
}

fn text(entry: &WorkspaceEntry) -> String {
    let root = entry.root.as_deref().unwrap_or("an unknown directory");
    let head = match &entry.problem {
        None => format!("{root} is protected.\n"),
        Some(problem) => format!("{root} is not protected: {problem}.\n"),
    };
    let mut rows = Vec::new();
    if let Some(last) = &entry.last_snapshot {
        let tag = last.tag.as_ref().map_or(String::new(), |tag| format!("  {tag}"));
        let at = format::local_of_utc(&last.created_at);
        rows.push(("last snapshot", format!("{}{tag}  {at}", last.short)));
    }
    rows.push(("history", format!("{}{}", entry.history, size_text(entry))));
    rows.iter().fold(head, |text, (name, value)| text + &format!("  {name:<14}  {value}\n"))
}

fn size_text(entry: &WorkspaceEntry) -> String {
    let mut text = String::new();
    if let (Some(snapshots), Some(bytes)) = (entry.snapshots, entry.bytes) {
        let snapshots = format::counted(snapshots, "snapshot", "snapshots");
        text += &format!("  {snapshots}, {}", format::size(bytes));
    }
    if entry.forks > 0 {
        text += &format!(", {}", format::counted(entry.forks, "fork", "forks"));
    }
    text
}

/// Deletes a history, its settings last: if the process dies before, the next `forget` still finds it.
fn forget(context: &Context, named: &Path) -> Result<Answer, CliError> {
    let named = context.host_path(named);
    let real = disk::real_path_to_be(&named).unwrap_or(named);
    let is_named = |(place, project): &History| {
        *place == real || project.as_ref().is_ok_and(|it| it.root == real)
    };
    let found = histories()?.into_iter().find(is_named);
    let (_, project) = found.ok_or_else(|| CliError::no_history(&real))?;
    let project = project?;
    let entry = described(&project);
    context.confirm(&question(&entry))?;
    let _held = project.hold_settings()?;
    let failed = |error| CliError::host("cannot delete", &project.directory, error);
    let forks = project.forks().map_or_else(|_| Vec::new(), |forks| forks.whole);
    forks.iter().try_for_each(Project::forget_pointer)?;
    disk::remove_all(&project::store_in(&project.directory)).map_err(failed)?;
    project.forget_pointer()?;
    disk::remove_all(&project.directory).map_err(failed)?;
    let document = Forgotten { workspace: entry };
    context.answer(&document, |it| {
        let root = it.workspace.root.as_deref().unwrap_or_default();
        format!("Deleted the history of {root}. Its files stay, but are no longer protected.\n")
    })
}

/// Asks, and names what would be lost.
fn question(entry: &WorkspaceEntry) -> String {
    let root = entry.root.as_deref().unwrap_or_default();
    let snapshots = entry.snapshots.map_or("unreadable snapshots".to_owned(), |count| {
        format::counted(count, "snapshot", "snapshots")
    });
    let bytes = entry.bytes.map_or(String::new(), |bytes| format!(" ({})", format::size(bytes)));
    let forks = match entry.forks {
        0 => String::new(),
        forks => format!(" and {}", format::counted(forks, "fork", "forks")),
    };
    let is_gone = entry.root.as_ref().is_some_and(|root| disk::is_gone(Path::new(root)));
    let only = if is_gone {
        " Its directory is missing: the history is all that is left of it."
    } else {
        ""
    };
    format!("Delete the history of {root}, with {snapshots}{bytes}{forks}, permanently?{only}")
}
