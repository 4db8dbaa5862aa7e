//! `wink fork`: a directory to work in, apart from this one.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use clap::Args;
use wink_fs::archive::ArchiveTree;
use wink_fs::{
    NewSnapshot, Pin, Replaced, Snapshot, SnapshotId, SnapshotOptions, SnapshotStore as _, Store,
};

use super::milliseconds;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref::{self, State};
use crate::error::CliError;
use crate::json::{BranchEntry, Forked};
use crate::project::forks::incomplete::{self, ForkNote, IncompleteFork};
use crate::project::settings::{Branch, Settings};
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
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

pub(crate) fn run(context: &Context, args: &ForkArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    let opened = context.open()?;
    let directory = match &args.materialize {
        Some(named) => context.host_path(named),
        None => beside(&opened.project.root, &args.name),
    };
    let making = ForkNote::new(&args.name, &args.state, &directory)?;
    if let Some(made) = incomplete::finish(&opened.project, &making)? {
        return finished(context, &opened, &made, start);
    }
    check_name(&opened, &args.name)?;
    check_directory(&opened.project.root, &directory)?;
    let project = opened.project.new_branch(&args.name)?;
    let progress = context.progress("forking");
    // Before what the store has of an interrupted fork goes: the snapshot tells which files are its own.
    incomplete::clear_others(&opened.project, &making)?;
    let note = IncompleteFork::begin(&opened.project, &making)?;
    // What a process kept for this one that died before it was made.
    forget(&opened, &project, None);
    let made = make(context, &opened, args, &project, &directory, &note);
    let (snapshot, written) = made.inspect_err(|_| note.give_up(&making))?;
    let directory = crate::cli::context::real_path(&directory)?;
    let remembered = remember(&opened, &args.name, &project, &snapshot, &directory);
    remembered.inspect_err(|_| forget(&opened, &project, None))?;
    note.forget();
    drop(progress);
    answer(context, &args.name, &snapshot, &directory, written.written, start)
}

/// Answers for a fork that an interrupted command had made, all but the last steps.
fn finished(
    context: &Context,
    opened: &Opened,
    made: &Project,
    start: Instant,
) -> Result<Answer, CliError> {
    let Some(branch) = &made.settings.branch else {
        return Err(CliError::no_store(&made.directory));
    };
    let snapshot = opened.files.find_snapshot(&branch.base)?;
    answer(context, &branch.name, &snapshot, &made.root, snapshot.file_count, start)
}

fn answer(
    context: &Context,
    name: &str,
    snapshot: &Snapshot,
    directory: &Path,
    files: u64,
    start: Instant,
) -> Result<Answer, CliError> {
    let branch = BranchEntry {
        name: name.to_owned(),
        base: snapshot.id.to_string(),
        directory: directory.display().to_string(),
        kept: None,
    };
    let document = Forked { branch, files, duration_ms: milliseconds(start) };
    let mut answer = context.answer(&document, |it| {
        let files = format::counted(it.files, "file", "files");
        let BranchEntry { name, directory, .. } = &it.branch;
        let from = snapshot.id.short();
        format!("Forked {from} as {name}: {files} in {directory} · {} ms\n", it.duration_ms)
    })?;
    answer.notes = context.note(format!("bring it back: wink merge {name}"));
    Ok(answer)
}

/// Refuses a name that a fork cannot have, or has.
pub(super) fn check_name(opened: &Opened, name: &str) -> Result<(), CliError> {
    if let Some(branch) = &opened.project.settings.branch {
        return Err(CliError::in_fork(&branch.name, &opened.project.main()?));
    }
    // The store has the say on which names there may be.
    Store::check_branch_name(name).map_err(|error| CliError::branch_name(name, &error))?;
    if opened.project.find_branch(name)?.is_some() {
        return Err(CliError::branch_taken(name));
    }
    match state_ref::tagged(&opened.files, name)? {
        Some(snapshot) => Err(CliError::name_of_tag(name, &snapshot)),
        None => Ok(()),
    }
}

/// Refuses a directory of the workspace itself, and one that has a history of its own, empty or not.
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

/// Writes the files of a fork, and finds the snapshot that it begins with, or takes it.
fn make(
    context: &Context,
    opened: &Opened,
    args: &ForkArgs,
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
            write(opened.files.snapshot_with(&SnapshotOptions::default().message("fork"))?)
        }
        State::Snapshot(snapshot) => write(*snapshot),
        State::Archive(tree) => {
            let key = project::branch_key(project);
            let kept = keep(context, opened, args, &key, &tree);
            let id = kept.as_ref().ok().map(|kept| kept.id);
            kept.and_then(write).inspect_err(|_| forget(opened, project, id))
        }
    }
}

/// Takes away what was kept for a fork that could not be made; of that failure a person is told.
fn forget(opened: &Opened, project: &Path, kept: Option<SnapshotId>) {
    if let (Some(id), Ok(store)) = (kept, opened.project.open_store()) {
        let _ = store.delete(&id);
    }
    opened.project.forget_unmade(project);
}

/// Keeps the files of an archive as the first snapshot of a fork.
fn keep(
    context: &Context,
    opened: &Opened,
    args: &ForkArgs,
    key: &str,
    tree: &ArchiveTree,
) -> Result<Snapshot, CliError> {
    let store = opened.project.open_store()?.on_branch(key)?;
    let backend = opened.files.properties().backend;
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
    let branch = Branch::new(name, &snapshot.id.to_string(), &opened.project.directory)?;
    let settings = Settings::of_branch(directory, opened.project.settings.exclude.clone(), branch)?;
    let (root, directory) = (directory.to_owned(), project.to_owned());
    let fork = Project { root, directory, settings };
    // A merge needs it, however many others there are by then.
    let pin = Pin::new(snapshot.id, fork.pin_owner());
    opened.files.snapshot_store()?.pin(&pin)?;
    let fork = Context::open_project(fork)?;
    // Changes no file: it says which snapshot the fork grew from.
    fork.files.restore(snapshot)?;
    disk::make_private(project).map_err(|error| CliError::host("cannot write", project, error))?;
    // Another process may have taken the name while the files were written.
    let held = opened.project.hold_names()?;
    check_name(opened, name)?;
    let Project { root, settings, .. } = fork.project;
    opened.project.write_branch(settings, project)?;
    drop(held);
    project::leave_pointer(&root, project)
}
