//! `wink fs write`, `mkdir`, `mv` and `rm`; each is an operation that `wink undo` undoes.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wink_fs::{ContentHash, MoveOptions, WriteMode, WriteOptions};

use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::json::Document;
use crate::ui::answer::Answer;
use crate::ui::{format, input};

#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// File to write; missing directories are created.
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Append to the file.
    #[arg(long, conflicts_with = "new")]
    append: bool,

    /// Fail if the file exists.
    #[arg(long)]
    new: bool,

    /// Fail unless the file has this content hash, which `fs stat` shows.
    #[arg(long, value_name = "HASH", conflicts_with = "new")]
    expected_hash: Option<ContentHash>,
}

impl WriteArgs {
    fn options(&self) -> WriteOptions {
        let mode = match (self.append, self.new) {
            (true, _) => WriteMode::Append,
            (_, true) => WriteMode::Create,
            _ => WriteMode::Overwrite,
        };
        let mut options = WriteOptions::default().mode(mode);
        options.expected = self.expected_hash;
        options
    }
}

#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// Directory.
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// What to move.
    #[arg(value_name = "FROM")]
    from: PathBuf,

    /// Where to move it.
    #[arg(value_name = "TO")]
    to: PathBuf,

    /// Replace a file that exists.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// What to delete.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Delete directories with everything in them.
    #[arg(short, long)]
    recursive: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileWritten {
    pub(super) path: String,
    /// Whether it is new.
    pub(super) created: bool,
    pub(super) bytes: u64,
    pub(super) hash: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MadeDirectory {
    pub(super) path: String,
    /// Whether it is new.
    pub(super) created: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileMoved {
    pub(super) from: String,
    pub(super) to: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileRemoved {
    pub(super) paths: Vec<String>,
    pub(super) files: u64,
    pub(super) directories: u64,
}

pub(super) fn write(
    context: &Context,
    opened: &Opened,
    args: &WriteArgs,
) -> Result<Answer, CliError> {
    let path = context.path(opened, &args.path)?;
    let options = args.options();
    let content = input::read()?;
    let written = opened.files.write_bytes_with(&path.to_string(), content, &options)?;
    let document = FileWritten {
        path: path.to_string(),
        created: written.created,
        bytes: written.bytes_written,
        hash: written.content_hash.to_string(),
    };
    undoable(context, &document, |it| {
        let did = match (it.created, args.append) {
            (true, _) => "Made",
            (false, true) => "Appended to",
            (false, false) => "Replaced",
        };
        format!("{did} {}: {}\n", it.path, format::size(it.bytes))
    })
}

pub(super) fn mkdir(
    context: &Context,
    opened: &Opened,
    args: &PathArgs,
) -> Result<Answer, CliError> {
    let path = context.path(opened, &args.path)?.to_string();
    let created = opened.files.mkdir(&path)?;
    let document = MadeDirectory { path, created };
    if created {
        undoable(context, &document, |it| format!("Created {}/\n", it.path))
    } else {
        context.answer(&document, |it| format!("{}/ already exists\n", it.path))
    }
}

pub(super) fn rename(
    context: &Context,
    opened: &Opened,
    args: &MoveArgs,
) -> Result<Answer, CliError> {
    let paths = [&args.from, &args.to].map(|path| context.path(opened, path));
    let [from, to] = paths.map(|path| path.map(|path| path.to_string()));
    let (from, to) = (from?, to?);
    let options = MoveOptions::default().replace(args.force);
    opened.files.rename_with(&from, &to, &options)?;
    let document = FileMoved { from, to };
    undoable(context, &document, |it| format!("Moved {} to {}\n", it.from, it.to))
}

/// Deletes all of it or nothing, as one operation.
pub(super) fn remove(
    context: &Context,
    opened: &Opened,
    args: &RemoveArgs,
) -> Result<Answer, CliError> {
    let paths = context.paths(opened, &args.paths)?;
    let recursion =
        if args.recursive { wink_fs::Recursion::Recursive } else { wink_fs::Recursion::OnlyEmpty };
    let removed = opened.files.as_owner("delete", |fs| {
        let removed = paths.iter().map(|path| fs.remove(path, recursion));
        removed.collect::<wink_fs::Result<Vec<_>>>()
    })?;
    let document = FileRemoved {
        paths: paths.iter().map(ToString::to_string).collect(),
        files: removed.iter().map(|it| it.files).sum(),
        directories: removed.iter().map(|it| it.directories).sum(),
    };
    undoable(context, &document, |it| {
        let files = format::counted(it.files, "file", "files");
        let directories = format::counted(it.directories, "directory", "directories");
        format!("Deleted {}: {files}, {directories}\n", it.paths.join(", "))
    })
}

/// Returns the answer with the command that undoes it.
pub(super) fn undoable<D: Document>(
    context: &Context,
    document: &D,
    text: impl FnOnce(&D) -> String,
) -> Result<Answer, CliError> {
    let mut answer = context.answer(document, text)?;
    answer.notes = context.note("undo: wink undo");
    Ok(answer)
}
