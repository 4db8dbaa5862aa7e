//! `wink fs ls`, `cat` and `stat`.

use serde::Serialize;
use wink_fs::{Kind, Stat, Tree, TreePath, ops};

use super::{AtArgs, FileAtArgs};
use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Listing {
    pub(super) path: String,
    pub(super) entries: Vec<FileEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileEntry {
    pub(super) name: String,
    /// `file`, `directory`, `symlink` or `other`.
    pub(super) kind: String,
    pub(super) bytes: u64,
    pub(super) executable: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileContent {
    pub(super) path: String,
    /// Of a file; null for a link.
    pub(super) hash: Option<String>,
    /// Null if it is not text.
    pub(super) text: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileStat {
    pub(super) path: String,
    /// `file`, `directory`, `symlink` or `other`.
    pub(super) kind: String,
    pub(super) bytes: u64,
    pub(super) executable: bool,
    /// Whether only its owner has access.
    pub(super) private: bool,
    /// Of a file.
    pub(super) hash: Option<String>,
    /// Of a link.
    pub(super) target: Option<String>,
    /// If known.
    pub(super) modified_at: Option<String>,
}

pub(super) fn ls(context: &Context, opened: &Opened, args: &AtArgs) -> Result<Answer, CliError> {
    let tree = args.at.tree(opened)?;
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
        "symlink" => (format::size(entry.bytes), "@"),
        _ if entry.executable => (format::size(entry.bytes), "*"),
        _ => (format::size(entry.bytes), ""),
    };
    format!("{size:>10}  {}{mark}\n", entry.name)
}

pub(super) fn cat(
    context: &Context,
    opened: &Opened,
    args: &FileAtArgs,
) -> Result<Answer, CliError> {
    let tree = args.at.tree(opened)?;
    let path = context.path(opened, &args.path)?;
    let bytes = match tree.stat(&path)?.kind {
        Kind::Symlink => tree.read_link(&path)?,
        _ => tree.open(&path)?.read_all().map_err(|error| CliError::other(&error))?.to_vec(),
    };
    if context.is_for_people() {
        Ok(Answer { bytes, ..Answer::default() })
    } else {
        let hash = ops::content_hash(&*tree, &path).ok().map(|hash| hash.to_string());
        let text = String::from_utf8(bytes).ok();
        Answer::json(&FileContent { path: path.to_string(), hash, text })
    }
}

pub(super) fn stat(context: &Context, opened: &Opened, args: &AtArgs) -> Result<Answer, CliError> {
    let tree = args.at.tree(opened)?;
    let path = context.path(opened, &args.path)?;
    let stat = tree.stat(&path)?;
    let document = describe(&*tree, &path, &stat)?;
    context.answer(&document, |it| text(it, &stat))
}

fn describe(tree: &dyn Tree, path: &TreePath, stat: &Stat) -> Result<FileStat, CliError> {
    let is_file = stat.kind == Kind::File;
    let hash = is_file.then(|| ops::content_hash(tree, path)).transpose()?;
    let target = (stat.kind == Kind::Symlink).then(|| tree.read_link(path)).transpose()?;
    Ok(FileStat {
        path: path.to_string(),
        kind: stat.kind.to_string(),
        bytes: stat.size_bytes,
        executable: stat.mode.executable,
        private: stat.mode.private,
        hash: hash.map(|hash| hash.to_string()),
        target: target.map(|target| String::from_utf8_lossy(&target).into_owned()),
        modified_at: stat.modified_at.map(format::utc),
    })
}

fn text(document: &FileStat, stat: &Stat) -> String {
    let mut rows = vec![("kind", document.kind.clone())];
    if stat.kind != Kind::Directory {
        rows.push(("size", format::size(document.bytes)));
    }
    if document.executable || document.private {
        let marks = [(document.executable, "executable"), (document.private, "private")];
        let marks = marks.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name);
        rows.push(("mode", marks.collect::<Vec<_>>().join(", ")));
    }
    rows.extend(document.target.as_deref().map(|it| ("target", format::first_line(it))));
    rows.extend(stat.modified_at.map(|it| ("changed", format::local(it))));
    rows.extend(document.hash.clone().map(|hash| ("hash", hash)));
    let head = format!("{}\n", document.path);
    rows.iter().fold(head, |text, (name, value)| text + &format!("  {name:<8}  {value}\n"))
}
