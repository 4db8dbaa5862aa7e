//! `wink session`: inspects saved agent sessions, and loads or saves their files.

mod describe;
mod list;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use wink_agent::checkpoint;
use wink_agent::session::{
    LoadOptions, Session, load_session_tree, read_session_tree, write_session_tree,
};
use wink_fs::archive::{ArchiveLimits, ArchiveTree};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::{SkippedEntry, documents};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

/// Inspect saved agent sessions, and load or save their files.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
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

documents! {
    list::SessionList: "wink/session.list@1";
    show::SessionShown: "wink/session.show@1";
    SessionChecked: "wink/session.check@1";
    SessionLoaded: "wink/session.load@1";
    SessionDumped: "wink/session.dump@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SessionChecked {
    file: String,
    ok: bool,
    sessions: u64,
    /// How many files the archive beside it has; null where there is none.
    archive_files: Option<u64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SessionLoaded {
    file: String,
    id: String,
    files: u64,
    written: u64,
    removed: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SessionDumped {
    id: String,
    session: String,
    archive: String,
    /// What is not in the archive, and why.
    skipped: Vec<SkippedEntry>,
}

pub(crate) fn run(context: &Context, args: &SessionArgs) -> Result<Answer, CliError> {
    match &args.command {
        SessionCommand::List(args) => list::run(context, &context.host_path(&args.place)),
        SessionCommand::Show(args) => show::run(context, &context.host_path(&args.file)),
        SessionCommand::Check(args) => check(context, &context.host_path(&args.file)),
        SessionCommand::Load(args) => load(context, &context.host_path(&args.file)),
        SessionCommand::Dump(args) => dump(context, &context.host_path(&args.place)),
    }
}

/// Reads a session and its children.
fn read(file: &Path) -> Result<Session, CliError> {
    load_session_tree(file).map_err(|error| CliError::session(file, &error))
}

/// Returns the archive beside a session, if it exists.
fn archive_of(file: &Path) -> Option<PathBuf> {
    let archive = file.with_extension("fs.zip");
    disk::is_file(&archive).then_some(archive)
}

/// Reads a whole session, and every content of the archive beside it.
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

/// Fails if the session changes when it is written and read again.
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
    // Only its name: a dump is handed on, and the path says where and for whom it was made.
    let name = opened.project.root.file_name().unwrap_or_default().to_string_lossy();
    let session = Session::builder().tag("workspace", name).build();
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
        "resume it: wink session load {}",
        format::shell_quote_path(&dumped.session)
    )));
    Ok(answer)
}
