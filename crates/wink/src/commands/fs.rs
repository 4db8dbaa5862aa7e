//! `wink fs`: a look at the files of any state.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use wink_fs::{Kind, ops};

use crate::answer::Answer;
use crate::context::{Context, Opened};
use crate::documents::{FileContent, FileEntry, Listing};
use crate::failure::Failure;
use crate::{refs, words};

#[derive(Debug, Subcommand)]
pub(crate) enum FsCommand {
    /// Lists a directory.
    Ls(AtArgs),

    /// Prints a file, byte for byte.
    Cat(AtArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// The path [default: the directory the command works in].
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    path: PathBuf,

    /// The state [default: the files as they are now].
    #[arg(long, value_name = "REF", default_value = "@", hide_default_value = true)]
    at: String,
}

pub(crate) fn run(context: &Context, command: &FsCommand) -> Result<Answer, Failure> {
    let opened = context.open()?;
    match command {
        FsCommand::Ls(args) => ls(context, &opened, args),
        FsCommand::Cat(args) => cat(context, &opened, args),
    }
}

fn ls(context: &Context, opened: &Opened, args: &AtArgs) -> Result<Answer, Failure> {
    let tree = refs::find(opened, &args.at)?.tree(&opened.files)?;
    let path = context.path(opened, &args.path)?;
    let mut entries = Vec::new();
    for entry in tree.list(&path)? {
        let stat = tree.stat(&path.join(&entry.name)?)?;
        let (name, kind) = (entry.name.to_string(), entry.kind.to_string());
        let (bytes, executable) = (stat.size_bytes, stat.mode.executable);
        entries.push(FileEntry { name, kind, bytes, executable });
    }
    let document = Listing { path: path.to_string(), entries };
    context.answer(&document, |document| document.entries.iter().map(line).collect())
}

fn line(entry: &FileEntry) -> String {
    let (size, mark) = match entry.kind.as_str() {
        "directory" => (String::new(), "/"),
        "symlink" => (words::size(entry.bytes), "@"),
        _ if entry.executable => (words::size(entry.bytes), "*"),
        _ => (words::size(entry.bytes), ""),
    };
    format!("{size:>10}  {}{mark}\n", entry.name)
}

fn cat(context: &Context, opened: &Opened, args: &AtArgs) -> Result<Answer, Failure> {
    let tree = refs::find(opened, &args.at)?.tree(&opened.files)?;
    let path = context.path(opened, &args.path)?;
    let bytes = match tree.stat(&path)?.kind {
        Kind::Symlink => tree.read_link(&path)?,
        _ => tree.open(&path)?.read_all().map_err(|error| Failure::other(&error))?.to_vec(),
    };
    match context.is_for_people() {
        true => Ok(Answer { bytes, ..Answer::default() }),
        false => {
            let hash = ops::content_hash(&*tree, &path).ok().map(|hash| hash.to_string());
            let text = String::from_utf8(bytes).ok();
            Answer::json(&FileContent { path: path.to_string(), hash, text })
        }
    }
}
