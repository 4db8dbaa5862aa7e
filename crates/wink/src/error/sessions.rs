//! Failures of sessions in files.

use std::path::Path;

use wink_agent::session::SessionError;
use wink_fs::ErrorKind;

use super::CliError;
use crate::sys::disk;

/// What the first line of a session has in it.
const MARK: &[u8] = b"\"wink session\"";

impl CliError {
    /// A session that cannot be read or written.
    pub(crate) fn session(file: &Path, error: &SessionError) -> Self {
        let beginning = disk::beginning(file);
        let is_marked = beginning.windows(MARK.len()).any(|bytes| bytes == MARK);
        if error.kind() == ErrorKind::Corrupt && !is_marked {
            return Self::new("failed", 1, format!("`{}` is no session", file.display()))
                .hint("`wink session list` lists those in a directory");
        }
        let (file, text) = (file.display(), error.to_string());
        match text.rsplit_once("; ") {
            Some((message, hint)) => {
                Self::of(error.kind(), format!("`{file}`: {message}")).hint(hint)
            }
            None => Self::of(error.kind(), format!("`{file}`: {text}")),
        }
    }

    /// A session that is another one when it was written and read again.
    pub(crate) fn session_changes(file: &Path) -> Self {
        let message = format!("`{}` is not the same when it is written again", file.display());
        Self::of(ErrorKind::Corrupt, message).hint("use the version of wink that wrote it")
    }

    /// A session without the archive of its files.
    pub(crate) fn no_archive(file: &Path) -> Self {
        let archive = file.with_extension("fs.zip");
        Self::of(ErrorKind::NotFound, format!("`{}` is not there", archive.display()))
            .hint("a session's files are in an archive beside it; `wink session list` says which have one")
    }

    /// A directory for a session that every snapshot of the workspace would hold too.
    pub(crate) fn dump_inside(root: &Path, directory: &Path) -> Self {
        let (root, directory) = (root.display(), directory.display());
        Self::of(ErrorKind::InvalidArgument, format!("`{directory}` is in the workspace `{root}`"))
            .hint("name a directory outside of it")
    }
}
