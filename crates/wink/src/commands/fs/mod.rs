//! `wink fs`: reads files of any state, and changes the current ones.

mod change;
mod edit;
mod find;
mod look;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use wink_fs::Tree;

use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref;
use crate::error::CliError;
use crate::json::documents;
use crate::ui::answer::Answer;

/// Read files of any state, and change the current ones.
#[derive(Debug, Args)]
#[command(after_help = REFS)]
pub(crate) struct FsArgs {
    #[command(subcommand)]
    command: FsCommand,
}

#[derive(Debug, Subcommand)]
enum FsCommand {
    /// List a directory.
    Ls(AtArgs),

    /// Print a file, byte for byte unless a terminal would interpret it.
    Cat(FileAtArgs),

    /// Show what is known of a file, directory or link.
    Stat(AtArgs),

    /// Find files by path.
    Glob(find::GlobArgs),

    /// Find lines by regular expression.
    Grep(find::GrepArgs),

    /// Write a file from standard input, byte for byte.
    Write(change::WriteArgs),

    /// Replace text in a file.
    Edit(edit::EditArgs),

    /// Create a directory and its missing parents.
    Mkdir(change::PathArgs),

    /// Move a file or directory.
    Mv(change::MoveArgs),

    /// Delete files, links and directories.
    Rm(change::RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// Path [default: the current directory].
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    #[arg(add = completion::paths())]
    path: PathBuf,

    #[command(flatten)]
    at: StateArg,
}

#[derive(Debug, Args)]
pub(crate) struct FileAtArgs {
    /// File.
    #[arg(value_name = "PATH")]
    #[arg(add = completion::paths())]
    path: PathBuf,

    #[command(flatten)]
    at: StateArg,
}

/// The option `--at`.
#[derive(Debug, Args)]
pub(crate) struct StateArg {
    /// State [default: the current files].
    #[arg(long, value_name = "REF", default_value = "@", hide_default_value = true)]
    #[arg(add = completion::states())]
    at: String,
}

impl StateArg {
    fn tree(&self, opened: &Opened) -> Result<Arc<dyn Tree>, CliError> {
        state_ref::find(opened, &self.at)?.tree(&opened.files)
    }
}

documents! {
    look::Listing: "wink/fs.ls@1";
    look::FileContent: "wink/fs.cat@1";
    look::FileStat: "wink/fs.stat@1";
    find::FoundFiles: "wink/fs.glob@1";
    find::FoundLines: "wink/fs.grep@1";
    change::FileWritten: "wink/fs.write@1";
    change::MadeDirectory: "wink/fs.mkdir@1";
    change::FileMoved: "wink/fs.mv@1";
    change::FileRemoved: "wink/fs.rm@1";
    edit::FileEdited: "wink/fs.edit@1";
}

pub(crate) fn run(context: &Context, args: &FsArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    match &args.command {
        FsCommand::Ls(args) => look::ls(context, &opened, args),
        FsCommand::Cat(args) => look::cat(context, &opened, args),
        FsCommand::Stat(args) => look::stat(context, &opened, args),
        FsCommand::Glob(args) => find::glob(context, &opened, args),
        FsCommand::Grep(args) => find::grep(context, &opened, args),
        FsCommand::Write(args) => change::write(context, &opened, args),
        FsCommand::Edit(args) => edit::run(context, &opened, args),
        FsCommand::Mkdir(args) => change::mkdir(context, &opened, args),
        FsCommand::Mv(args) => change::rename(context, &opened, args),
        FsCommand::Rm(args) => change::remove(context, &opened, args),
    }
}
