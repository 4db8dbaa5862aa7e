//! Failures to make forks, and to find them.

use std::path::Path;

use wink_fs::{Error, ErrorKind, TreePath};

use super::{CliError, NO_REF, shown};
use crate::ui::format;

/// How many files are named that are in the way.
const NAMED: usize = 3;

impl CliError {
    /// What only the workspace can do that this one is a fork of.
    pub(crate) fn in_fork(name: &str, main: &Path) -> Self {
        let message = format!("this workspace is the fork `{name}` of `{}`", main.display());
        let main = format::path_for_shell(main);
        Self::of(ErrorKind::Unsupported, message)
            .hint(format!("forks are made, merged, renamed and forgotten there: wink -C {main} …"))
    }

    /// A name that a fork has already.
    pub(crate) fn branch_taken(name: &str) -> Self {
        Self::of(ErrorKind::AlreadyExists, format!("there is a fork `{name}` already"))
            .hint(format!("give another name, or forget that one: wink branch delete {name}"))
    }

    /// A name that no fork can have.
    pub(crate) fn branch_name(name: &str, error: &Error) -> Self {
        let text = error.to_string();
        let why = text.rsplit_once("`: ").map_or(&*text, |(_, why)| why);
        Self::of(error.kind(), format!("`{}` is no name for a fork: {why}", shown(name)))
            .hint("a name is no path; `--materialize DIR` says where the directory is")
    }

    /// A name that no fork has.
    pub(crate) fn no_branch(name: &str) -> Self {
        Self::new("no_branch", NO_REF, format!("there is no fork `{name}`"))
            .hint("`wink branch list` shows those there are")
    }

    /// A directory that files could not be written into.
    pub(crate) fn materialise(directory: &Path, error: Error) -> Self {
        let mut failure = Self::from(error);
        failure.0.message = format!("cannot use `{}`: {}", directory.display(), failure.0.message);
        failure
    }

    /// A directory into which another process writes the files of a fork.
    pub(crate) fn being_made(directory: &Path) -> Self {
        let message = format!("another process makes `{}` a fork", directory.display());
        Self::of(ErrorKind::Locked, message)
            .hint("wait until it is done, or name another directory")
    }

    /// A directory with files of an interrupted fork, and of the user's own where these are known.
    pub(crate) fn half_made(directory: &Path, own: &[TreePath]) -> Self {
        let shown_directory = directory.display();
        let message = format!("`{shown_directory}` was left by a `wink fork` that was interrupted");
        let failure = Self::of(ErrorKind::AlreadyExists, message);
        let directory = format::path_for_shell(directory);
        if own.is_empty() {
            return failure
                .because("which of the files in it are part of that fork is not known any more")
                .hint(format!(
                    "unless there are files of your own in it, `rm -r {directory}`, and fork again; or name \
                     another directory with `--materialize`"
                ));
        }
        let named = own.iter().take(NAMED).map(|path| format!("`{}`", shown(&path.to_string())));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if own.len() > NAMED {
            named += &format!(" and {} more", own.len() - NAMED);
        }
        failure.because(&format!("not part of that fork, and so not removed: {named}")).hint(
            "move that elsewhere, and fork again; or name another directory with `--materialize`",
        )
    }

    /// A directory for a fork that every snapshot of the workspace would hold too.
    pub(crate) fn fork_inside(root: &Path, directory: &Path) -> Self {
        let (root, directory) = (root.display(), directory.display());
        Self::of(ErrorKind::InvalidArgument, format!("`{directory}` is in the workspace `{root}`"))
            .hint("name a directory beside it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once, who pasted it lost `/home/me/my`.
    #[test]
    fn what_is_to_be_removed_is_named_as_a_shell_takes_it() {
        let said = CliError::half_made(Path::new("/home/me/my project-x"), &[]).text();
        assert!(said.contains("`rm -r '/home/me/my project-x'`"), "{said}");
    }
}
