//! What git takes for the mode and the content of an entry.

use wink_fs::{Error, Kind, Operation, Tree, TreePath};

use crate::error::CliError;

/// A mode, and what git does not know of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mode {
    /// As git writes it.
    pub(super) text: &'static str,
    /// Whether only its owner has access.
    pub(super) private: bool,
}

pub(super) fn mode(tree: &dyn Tree, path: &TreePath, kind: Kind) -> Result<Mode, CliError> {
    if kind == Kind::Symlink {
        return Ok(Mode { text: "120000", private: false });
    }
    let mode = tree.stat(path)?.mode;
    let text = if mode.executable { "100755" } else { "100644" };
    Ok(Mode { text, private: mode.private })
}

pub(super) fn size(tree: &dyn Tree, path: &TreePath, kind: Kind) -> Result<u64, CliError> {
    Ok(match kind {
        Kind::Symlink => tree.read_link(path)?.len() as u64,
        _ => tree.stat(path)?.size_bytes,
    })
}

/// Reads a file, or where a link leads.
pub(super) fn content(tree: &dyn Tree, path: &TreePath, kind: Kind) -> Result<Vec<u8>, CliError> {
    if kind == Kind::Symlink {
        return Ok(tree.read_link(path)?);
    }
    let content = tree.open(path)?.read_all();
    let failed = |error| Error::system(Operation::Diff, error).with_path(path);
    Ok(content.map_err(failed)?.into())
}
