//! Errors about session files.

use std::path::Path;

use wink_agent::session::SessionError;
use wink_fs::ErrorKind;

use super::{CliError, FAILED};
use crate::sys::disk;

/// Part of the first line of every session file.
const MARK: &[u8] = b"\"wink session\"";

impl CliError {
    /// A session that cannot be read or written.
    pub(crate) fn session(file: &Path, error: &SessionError) -> Self {
        let beginning = disk::beginning(file);
        let is_marked = beginning.windows(MARK.len()).any(|bytes| bytes == MARK);
        if error.kind() == ErrorKind::Corrupt && !is_marked {
            return Self::new("failed", FAILED, format!("`{}` is not a session", file.display()))
                .hint("`wink session list` lists the sessions in a directory");
        }
        let (file, text) = (file.display(), error.to_string());
        match text.rsplit_once("; ") {
            Some((message, hint)) => {
                Self::of(error.kind(), format!("`{file}`: {message}")).hint(hint)
            }
            None => Self::of(error.kind(), format!("`{file}`: {text}")),
        }
    }

    /// A session that changes when it is written and read again.
    pub(crate) fn session_changes(file: &Path) -> Self {
        let message = format!("`{}` changes when it is read and written again", file.display());
        Self::of(ErrorKind::Corrupt, message).hint("use the version of wink that wrote it")
    }

    /// A session without the archive of its files.
    pub(crate) fn no_archive(file: &Path) -> Self {
        let archive = file.with_extension("fs.zip");
        Self::of(ErrorKind::NotFound, format!("`{}` does not exist", archive.display()))
            .hint("a session's files are in an archive beside it; `wink session list` shows which have one")
    }

    /// A directory for a session inside the workspace: every snapshot would contain it.
    pub(crate) fn dump_inside(root: &Path, directory: &Path) -> Self {
        let (root, directory) = (root.display(), directory.display());
        Self::of(
            ErrorKind::InvalidArgument,
            format!("`{directory}` is inside the workspace `{root}`"),
        )
        .hint("choose a directory outside of it")
    }
}
