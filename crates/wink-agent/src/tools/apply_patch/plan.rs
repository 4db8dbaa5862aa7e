//! What a patch makes of the files that are there, before anything is changed.

use std::collections::BTreeSet;

use bytes::Bytes;
use wink_fs::{ContentHash, Error, ErrorKind, FileMode, Limits, Operation, Tree, TreePath};

use crate::edit::patch::{self, Action, FilePatch, HunkError};
use crate::edit::rewrite::{self, Known};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;

/// One file's part of a patch, with validated paths.
pub(super) struct Named {
    pub(super) patch: FilePatch,
    /// Where the file is, or nothing if it is to be made.
    from: Option<TreePath>,
    /// Where it is to be, or nothing if it is to be deleted.
    to: Option<TreePath>,
}

/// What happens to one file.
pub(super) struct Step {
    pub(super) from: Option<TreePath>,
    pub(super) to: Option<TreePath>,
    /// What the file is now, if it is there.
    pub(super) before: Option<Before>,
    /// What it becomes, if it stays.
    pub(super) after: Option<Bytes>,
    pub(super) executable: Option<bool>,
    /// The hunks that were not at the line they named: number, that line, and the one they were at.
    pub(super) moved: Vec<(usize, usize, usize)>,
}

/// A file as it was when the patch was tried on it.
pub(super) struct Before {
    pub(super) known: Known,
    pub(super) mode: FileMode,
}

impl Step {
    /// Returns the hash of what the file becomes.
    pub(super) fn content_hash(&self) -> Option<ContentHash> {
        self.after.as_ref().map(|bytes| ContentHash::of(bytes))
    }

    /// Returns the mode that the patch gives the file, if it does.
    pub(super) fn mode(&self) -> Option<FileMode> {
        let before = self.before.as_ref().map(|before| before.mode).unwrap_or_default();
        self.executable.map(|executable| before.executable(executable))
    }
}

/// Makes paths of the names in a patch; a path that is named twice is refused.
pub(super) fn named(call: &ToolCall<'_>, files: Vec<FilePatch>) -> Result<Vec<Named>, ToolError> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for patch in files {
        let named = name(call, patch)?;
        let from = named.from.iter().filter(|from| named.to.as_ref() != Some(from));
        if let Some(path) = from.chain(&named.to).find(|path| !seen.insert((*path).clone())) {
            let why = "the patch names it twice; put all hunks of a file under one header.";
            return Err(refused(path, why));
        }
        all.push(named);
    }
    Ok(all)
}

fn name(call: &ToolCall<'_>, patch: FilePatch) -> Result<Named, ToolError> {
    let path = |text: &str| call.path(text).map(Some);
    let (from, to) = match &patch.action {
        Action::Create { path: new } => (None, path(new)?),
        Action::Delete { path: old } => (path(old)?, None),
        Action::Update { path: both } => (path(both)?, path(both)?),
        Action::Move { from, to } => (path(from)?, path(to)?),
    };
    Ok(Named { patch, from, to })
}

/// Tries a patch on the files that are there.
pub(super) fn plan(
    tree: &dyn Tree,
    limits: &Limits,
    named: &[Named],
) -> Result<Vec<Step>, ToolError> {
    named.iter().map(|named| step(tree, limits, named)).collect()
}

fn step(tree: &dyn Tree, limits: &Limits, named: &Named) -> Result<Step, ToolError> {
    let Named { patch, from, to } = named;
    let before = from.as_ref().map(|from| before(tree, limits, from)).transpose()?;
    if let Some(to) = to.as_ref().filter(|to| from.as_ref() != Some(to)) {
        check_free(tree, to)?;
    }
    let (after, moved) = match (from, &before) {
        (Some(path), Some(before)) => patched(path, before, named)?,
        _ => (Some(patch.new_content().into()), Vec::new()),
    };
    let from = from.clone();
    let to = to.clone();
    let executable = patch.executable;
    Ok(Step { from, to, before, after, executable, moved })
}

fn before(tree: &dyn Tree, limits: &Limits, path: &TreePath) -> Result<Before, ToolError> {
    let known = rewrite::read(tree, path, limits)?;
    Ok(Before { known, mode: tree.stat(path)?.mode })
}

fn check_free(tree: &dyn Tree, path: &TreePath) -> Result<(), ToolError> {
    match tree.stat(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => {
            let refusal = ToolError::from(
                Error::new(Operation::Write, ErrorKind::AlreadyExists).with_path(path),
            );
            Err(refusal.reworded(format!(
                "Nothing was changed: {path} already exists, and the patch creates it; \
                 change it with hunks, or choose another path."
            )))
        }
    }
}

/// What a file becomes, and the hunks that were elsewhere.
type Outcome = (Option<Bytes>, Vec<(usize, usize, usize)>);

fn patched(path: &TreePath, before: &Before, named: &Named) -> Result<Outcome, ToolError> {
    let Named { patch, to, .. } = named;
    if patch.hunks.is_empty() {
        return without_hunks(path, before, named);
    }
    let patched = patch::apply(before.known.bytes.clone(), &patch.hunks)
        .map_err(|why| does_not_fit(path, &why))?;
    let after = patched.edited.bytes;
    match to {
        Some(_) => Ok((Some(after), patched.moved)),
        None if after.is_empty() => Ok((None, patched.moved)),
        None => Err(refused(path, "the patch deletes it, and it has more lines than the patch.")),
    }
}

fn without_hunks(path: &TreePath, before: &Before, named: &Named) -> Result<Outcome, ToolError> {
    let Named { patch, from, to } = named;
    match to {
        None => Ok((None, Vec::new())),
        Some(to) if Some(to) == from.as_ref() && patch.executable.is_none() => {
            Err(refused(path, "the patch has no hunk for it; begin one with @@."))
        }
        Some(_) => Ok((Some(before.known.bytes.clone()), Vec::new())),
    }
}

fn does_not_fit(path: &TreePath, why: &HunkError) -> ToolError {
    refused(path, &why.to_string()).with_lines(why.lines())
}

fn refused(path: &TreePath, why: &str) -> ToolError {
    ToolError::invalid_argument(format!("Nothing was changed: {path}: {why}")).with_path(path)
}
