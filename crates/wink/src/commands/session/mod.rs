//! `wink session`: sessions of agents in files, each beside the archive of its files.

mod describe;
mod list;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use wink_agent::checkpoint;
use wink_agent::session::{
    LoadOptions, Session, load_session_tree, read_session_tree, write_session_tree,
};
use wink_fs::archive::{ArchiveLimits, ArchiveTree};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::{SessionChecked, SessionDumped, SessionLoaded, SkippedEntry};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List the sessions in a directory.
    List(ListArgs),

    /// Show a session, its children, what they hold and which tools were called.
    Show(FileArgs),

    /// Save the files, without excluded ones, as a session that an agent can resume.
    Dump(DumpArgs),

    /// Restore files from the archive beside a session (the current state is saved first).
    Load(FileArgs),

    /// Check a session and the archive beside it for damage.
    Check(FileArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Directory [default: the current one].
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    place: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// Directory to write to, outside of the workspace.
    #[arg(value_name = "DIR")]
    place: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Session, such as `ID.jsonl`.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(context: &Context, command: &SessionCommand) -> Result<Answer, CliError> {
    match command {
        SessionCommand::List(args) => list::run(context, &context.host_path(&args.place)),
        SessionCommand::Show(args) => show::run(context, &context.host_path(&args.file)),
        SessionCommand::Check(args) => check(context, &context.host_path(&args.file)),
        SessionCommand::Load(args) => load(context, &context.host_path(&args.file)),
        SessionCommand::Dump(args) => dump(context, &context.host_path(&args.place)),
    }
}

/// Reads a session and all below it.
fn read(file: &Path) -> Result<Session, CliError> {
    load_session_tree(file).map_err(|error| CliError::session(file, &error))
}

/// Returns where the archive of a session's files is, if it is there.
fn archive_of(file: &Path) -> Option<PathBuf> {
    let archive = file.with_extension("fs.zip");
    disk::is_file(&archive).then_some(archive)
}

/// Looks at all of a session and at every content of the archive beside it.
fn check(context: &Context, file: &Path) -> Result<Answer, CliError> {
    let progress = context.progress("checking a session");
    let session = read(file)?;
    check_again(file, &session)?;
    let archive = archive_of(file).map(|archive| checked_archive(&archive)).transpose()?;
    drop(progress);
    let document = SessionChecked {
        file: file.display().to_string(),
        ok: true,
        sessions: session.walk().len() as u64,
        archive_files: archive.map(|tree| tree.file_count()),
    };
    context.answer(&document, |it| {
        let sessions = format::counted(it.sessions, "session", "sessions");
        let archive = match it.archive_files {
            Some(files) => format!("an archive of {}", format::counted(files, "file", "files")),
            None => "no archive beside it".to_owned(),
        };
        format!("{}: no problems; {sessions}, {archive}\n", it.file)
    })
}

/// Fails where a session that is written and read again is another one.
fn check_again(file: &Path, session: &Session) -> Result<(), CliError> {
    let failed = |error| CliError::session(file, &error);
    let written = |session: &Session| {
        let mut bytes = Vec::new();
        write_session_tree(session, &mut bytes).map(|_| bytes).map_err(failed)
    };
    let bytes = written(session)?;
    if bytes.is_empty() {
        return Ok(());
    }
    let again = read_session_tree(&bytes[..], &LoadOptions::default()).map_err(failed)?;
    if written(&again)? == bytes { Ok(()) } else { Err(CliError::session_changes(file)) }
}

fn checked_archive(archive: &Path) -> Result<ArchiveTree, CliError> {
    let tree = ArchiveTree::open_ambient(archive, &ArchiveLimits::default());
    let tree = tree.map_err(|error| CliError::import(archive, error))?;
    tree.verify()?;
    Ok(tree)
}

fn load(context: &Context, file: &Path) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let progress = context.progress("loading a session");
    let session = read(file)?;
    let archive = archive_of(file).ok_or_else(|| CliError::no_archive(file))?;
    let imported = opened.files.import_archive(&archive);
    let imported = imported.map_err(|error| CliError::import(&archive, error))?;
    drop(progress);
    let document = SessionLoaded {
        file: file.display().to_string(),
        id: session.id().to_string(),
        files: imported.file_count,
        written: imported.replaced.written,
        removed: imported.replaced.removed,
    };
    let mut answer = context.answer(&document, |it| {
        let files = format::counted(it.files, "file", "files");
        let [written, removed] = [it.written, it.removed].map(format::number);
        format!("Loaded the files of {}: {files}, {written} written, {removed} removed\n", it.id)
    })?;
    if document.written + document.removed > 0 {
        answer.notes = context.note("undo: wink undo");
    }
    Ok(answer)
}

fn dump(context: &Context, directory: &Path) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let failed = |error| CliError::host("cannot write to", directory, error);
    let directory = &disk::real_path_to_be(directory).map_err(failed)?;
    if directory.starts_with(&opened.project.root) {
        return Err(CliError::dump_inside(&opened.project.root, directory));
    }
    let made = disk::missing(directory);
    disk::make_private(directory).map_err(failed)?;
    let root = opened.project.root.display().to_string();
    let session = Session::builder().tag("workspace", root).build();
    let progress = context.progress("dumping a session");
    let dumped = checkpoint::dump_with_files(&session, &opened.files, directory);
    let dumped = dumped.map_err(|error| {
        disk::remove_empty(&made);
        CliError::session(directory, &error)
    })?;
    drop(progress);
    let document = SessionDumped {
        id: session.id().to_string(),
        session: dumped.session.display().to_string(),
        archive: dumped.archive.display().to_string(),
        skipped: SkippedEntry::special(&dumped.left_out),
    };
    let mut answer = context.answer(&document, |it| format!("{}\n{}\n", it.session, it.archive))?;
    if let [_, ..] = &*document.skipped {
        let skipped = format::skipped(&document.skipped.iter().collect::<Vec<_>>());
        answer.notes = context.note(format!("note: not in the archive: {skipped}"));
    }
    answer.notes.extend(context.note(format!(
        "go on with it: wink session load {}",
        format::path_for_shell(&dumped.session)
    )));
    Ok(answer)
}
