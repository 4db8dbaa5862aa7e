//! `wink fork NAME`: makes a fork in a directory of its own.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use clap::Args;
use serde::Serialize;
use wink_fs::archive::ArchiveTree;
use wink_fs::{
    NewSnapshot, Pin, Replaced, Snapshot, SnapshotId, SnapshotOptions, SnapshotStore as _,
};

use super::{ForkEntry, check_name};
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref::{self, State};
use crate::commands::{incomplete_text, milliseconds};
use crate::error::{CliError, PARTIAL};
use crate::json::SkippedEntry;
use crate::project::forks::incomplete::{self, ForkNote, IncompleteFork};
use crate::project::git::head;
use crate::project::settings::{ForkSettings, Settings};
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Args)]
pub(crate) struct NewForkArgs {
    /// Name of the fork; no other fork or snapshot may have it.
    #[arg(value_name = "NAME")]
    name: String,

    /// State to start from [default: the current files, of which a snapshot is taken].
    #[arg(value_name = "REF", default_value = "@", hide_default_value = true)]
    #[arg(add = completion::states())]
    state: String,

    /// Directory of the fork, new or empty [default: beside the workspace, named after both].
    #[arg(long, value_name = "DIR", visible_alias = "materialise")]
    materialize: Option<PathBuf>,
}

impl NewForkArgs {
    /// The arguments of a fork of the current files, beside the workspace.
    pub(super) fn of_current_files(name: &str) -> Self {
        Self { name: name.to_owned(), state: "@".to_owned(), materialize: None }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Forked {
    pub(super) fork: ForkEntry,
    pub(super) files: u64,
    pub(super) duration_ms: u64,
    /// What the snapshot that it starts from should hold and does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) missing: Vec<SkippedEntry>,
}

pub(super) fn run(
    context: &Context,
    opened: &Opened,
    args: &NewForkArgs,
) -> Result<Answer, CliError> {
    let start = Instant::now();
    let directory = match &args.materialize {
        Some(named) => context.host_path(named),
        None => beside(&opened.project.root, &args.name),
    };
    let making = ForkNote::new(&args.name, &args.state, &directory)?;
    if let Some(made) = incomplete::finish(&opened.project, &making)? {
        return finished(context, opened, &made, start);
    }
    check_name(opened, &args.name)?;
    check_directory(&opened.project.root, &directory)?;
    let project = opened.project.new_fork_directory(&args.name)?;
    let progress = context.progress("forking");
    // Before the records of an interrupted fork are deleted: its snapshot tells which files are its own.
    incomplete::clear_others(&opened.project, &making)?;
    let note = IncompleteFork::begin(&opened.project, &making)?;
    // Records of a process that died before it had made this fork.
    forget(opened, &project, None);
    let made = make(context, opened, args, &project, &directory, &note);
    let (snapshot, written) = made.inspect_err(|_| note.give_up(&making))?;
    let directory = crate::cli::context::real_path(&directory)?;
    let remembered = remember(opened, &args.name, &project, &snapshot, &directory);
    remembered.inspect_err(|_| forget(opened, &project, None))?;
    note.forget();
    drop(progress);
    answer(context, opened, &args.name, &snapshot, &directory, written.written, start)
}

/// Returns the answer for a fork of an interrupted command, which was complete except for the last steps.
fn finished(
    context: &Context,
    opened: &Opened,
    made: &Project,
    start: Instant,
) -> Result<Answer, CliError> {
    let Some(fork) = &made.settings.fork else {
        return Err(CliError::no_store(&made.directory));
    };
    let snapshot = opened.files.find_snapshot(fork.base.as_str())?;
    answer(context, opened, &fork.name, &snapshot, &made.root, snapshot.file_count, start)
}

fn answer(
    context: &Context,
    opened: &Opened,
    name: &str,
    snapshot: &Snapshot,
    directory: &Path,
    files: u64,
    start: Instant,
) -> Result<Answer, CliError> {
    let fork = ForkEntry {
        name: name.to_owned(),
        base: snapshot.id.to_string(),
        directory: directory.display().to_string(),
        kept: None,
    };
    let missing: Vec<_> = snapshot.missing().map(SkippedEntry::from).collect();
    let document = Forked { fork, files, duration_ms: milliseconds(start), missing };
    let mut answer = context.answer(&document, |it| {
        let files = format::counted(it.files, "file", "files");
        let ForkEntry { name, directory, .. } = &it.fork;
        let from = snapshot.id.short();
        let took = it.duration_ms;
        let head = format!("Forked {from} as {name}: {files} in {directory} · {took} ms\n");
        head + &incomplete_text(&it.missing)
    })?;
    if !document.missing.is_empty() {
        answer = answer.exit(PARTIAL);
    }
    answer.notes = context.note(format!("merge it: wink merge {name}"));
    if head::is_left_out(opened) {
        answer.notes.extend(context.note(
            "note: the fork is no git repository: .git is excluded, so no snapshot holds it",
        ));
    }
    Ok(answer)
}

/// Fails for a directory inside the workspace, and for one with its own history.
fn check_directory(root: &Path, directory: &Path) -> Result<(), CliError> {
    let real = disk::real_path_to_be(directory);
    let real = real.map_err(|error| CliError::host("cannot use", directory, error))?;
    if real.starts_with(root) {
        return Err(CliError::fork_inside(root, &real));
    }
    match Project::of(&real)? {
        Some(project) => Err(CliError::already_protected(&real, &project.directory)),
        None => Ok(()),
    }
}

/// Writes the files of a fork; returns its first snapshot.
fn make(
    context: &Context,
    opened: &Opened,
    args: &NewForkArgs,
    project: &Path,
    directory: &Path,
    note: &IncompleteFork,
) -> Result<(Snapshot, Replaced), CliError> {
    let write = |snapshot: Snapshot| {
        note.begin_files(&snapshot.id)?;
        let written = opened.files.fork(&snapshot)?.materialise(directory);
        Ok((snapshot, written.map_err(|error| CliError::materialise(directory, error))?))
    };
    match state_ref::find(opened, &args.state)? {
        State::Live => {
            let options = SnapshotOptions::default().message("fork");
            let snapshot = opened.files.snapshot_with(&options)?;
            head::remember(opened, snapshot.id);
            write(snapshot)
        }
        State::Snapshot(snapshot) => write(*snapshot),
        State::OfOperation(state) => Err(CliError::unkept_state(&state)),
        State::Archive(tree) => {
            let key = project::fork_key(project);
            let kept = keep(context, opened, args, &key, &tree);
            let id = kept.as_ref().ok().map(|kept| kept.id);
            kept.and_then(write).inspect_err(|_| forget(opened, project, id))
        }
    }
}

/// Deletes the records of a fork that could not be made; errors are ignored, because that failure is reported.
fn forget(opened: &Opened, project: &Path, kept: Option<SnapshotId>) {
    if let (Some(id), Ok(store)) = (kept, opened.project.open_store()) {
        let _ = store.delete(&id);
    }
    opened.project.forget_unmade(project);
}

/// Stores the files of an archive as the first snapshot of a fork.
fn keep(
    context: &Context,
    opened: &Opened,
    args: &NewForkArgs,
    key: &str,
    tree: &ArchiveTree,
) -> Result<Snapshot, CliError> {
    let store = opened.project.open_store()?.for_fork(key)?;
    let backend = opened.files.properties().backend.as_str();
    let mut new = NewSnapshot::new(SystemTime::now()).backend(backend);
    (new.file_count, new.total_bytes) = (tree.file_count(), tree.total_bytes());
    (new.message, new.point_in_time) = (Some(format!("fork of {}", args.state)), true);
    context.counted.begin(new.file_count, new.total_bytes);
    Ok(store.save(&context.counted.counted(tree), &new)?)
}

fn beside(root: &Path, name: &str) -> PathBuf {
    let mut directory = root.file_name().unwrap_or_default().to_owned();
    directory.push(format!("-{name}"));
    root.with_file_name(directory)
}

/// Makes the directory a workspace whose history is in the same store.
///
/// The file by which it is found is written last, and in one step: no command finds a fork that was not
/// finished, and the next fork of its name removes what it left.
fn remember(
    opened: &Opened,
    name: &str,
    project: &Path,
    snapshot: &Snapshot,
    directory: &Path,
) -> Result<(), CliError> {
    let fork = ForkSettings::new(name, &snapshot.id.to_string(), &opened.project.directory)?;
    let settings = Settings::of_fork(directory, opened.project.settings.exclude.clone(), fork)?;
    let (root, directory) = (directory.to_owned(), project.to_owned());
    let fork = Project { root, directory, settings };
    // A merge needs the first snapshot, so it must not be pruned.
    let pin = Pin::new(snapshot.id, fork.pin_owner());
    opened.files.snapshot_store()?.pin(&pin)?;
    let fork = Context::open_project(fork, None)?;
    // Changes no file: it records the parent of the fork's files.
    fork.files.restore(snapshot)?;
    disk::make_private(project).map_err(|error| CliError::host("cannot write", project, error))?;
    // Another process may have taken the name while the files were written.
    let held = opened.project.hold_names()?;
    check_name(opened, name)?;
    let Project { root, settings, .. } = fork.project;
    opened.project.write_fork(settings, project)?;
    drop(held);
    project::leave_pointer(&root, project)
}
