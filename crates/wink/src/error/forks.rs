//! Errors about forks.

use std::path::Path;

use wink_fs::{Error, ErrorKind, TreePath};

use super::{CliError, NO_REF, sanitized};
use crate::ui::format;

/// How many conflicting files are named.
const NAMED: usize = 3;

impl CliError {
    /// A fork in which no program can be run.
    pub(crate) fn fork_without_directory(name: &str) -> Self {
        Self::of(
            ErrorKind::Unsupported,
            format!("the fork `{name}` has no directory to run programs in"),
        )
        .hint(format!("make another one from it: `wink fork NEW {name}`"))
    }

    /// A command that works only in the workspace, run in one of its forks.
    pub(crate) fn in_fork(name: &str, main: &Path) -> Self {
        let message = format!("this workspace is the fork `{name}` of `{}`", main.display());
        let main = format::shell_quote_path(main);
        Self::of(ErrorKind::Unsupported, message)
            .hint(format!("make, merge, rename and delete forks there: wink -C {main} …"))
    }

    /// A name that another fork has.
    pub(crate) fn fork_name_taken(name: &str) -> Self {
        Self::of(ErrorKind::AlreadyExists, format!("a fork `{name}` already exists"))
            .hint(format!("choose another name, or delete that fork: wink fork delete {name}"))
    }

    /// A name that no fork can have.
    pub(crate) fn invalid_fork_name(name: &str, error: &Error) -> Self {
        let text = error.to_string();
        let why = text.rsplit_once("`: ").map_or(&*text, |(_, why)| why);
        Self::of(
            error.kind(),
            format!("`{}` is not a valid name for a fork: {why}", sanitized(name)),
        )
        .hint("to choose the directory, use `--materialize DIR`")
    }

    /// A name that is a subcommand of `wink fork`.
    pub(crate) fn reserved_fork_name(name: &str) -> Self {
        let message = format!("`{name}` is a subcommand of `wink fork`, not a name for a fork");
        Self::of(ErrorKind::InvalidArgument, message).hint(format!(
            "choose another name; options go after the subcommand: `wink fork {name} …`"
        ))
    }

    /// A name that no fork has.
    pub(crate) fn no_fork(name: &str) -> Self {
        Self::new("no_fork", NO_REF, format!("no fork is called `{name}`"))
            .hint("`wink fork list` lists the forks")
    }

    /// A directory for a fork that cannot be written.
    pub(crate) fn materialise(directory: &Path, error: Error) -> Self {
        let mut failure = Self::from(error);
        failure.0.message = format!("cannot use `{}`: {}", directory.display(), failure.0.message);
        failure
    }

    /// A directory in which another process is making a fork.
    pub(crate) fn being_made(directory: &Path) -> Self {
        let message = format!("another process is making a fork in `{}`", directory.display());
        Self::of(ErrorKind::Locked, message)
            .hint("wait until it is done, or choose another directory")
    }

    /// A directory left by an interrupted fork; `own` are files in it that are not part of the fork.
    pub(crate) fn half_made(directory: &Path, own: &[TreePath]) -> Self {
        let shown_directory = directory.display();
        let message = format!("`{shown_directory}` was left by an interrupted `wink fork`");
        let failure = Self::of(ErrorKind::AlreadyExists, message);
        let directory = format::shell_quote_path(directory);
        if own.is_empty() {
            return failure
                .because("which of its files belong to that fork is no longer known")
                .hint(format!(
                    "if it has no files of your own, `rm -r {directory}`, and fork again; or choose another \
                     directory with `--materialize`"
                ));
        }
        let named =
            own.iter().take(NAMED).map(|path| format!("`{}`", sanitized(&path.to_string())));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if own.len() > NAMED {
            named += &format!(" and {} more", own.len() - NAMED);
        }
        failure.because(&format!("not part of that fork, and so kept: {named}")).hint(
            "move them away, and fork again; or choose another directory with `--materialize`",
        )
    }

    /// A directory for a fork inside the workspace: every snapshot would contain it.
    pub(crate) fn fork_inside(root: &Path, directory: &Path) -> Self {
        let (root, directory) = (root.display(), directory.display());
        Self::of(
            ErrorKind::InvalidArgument,
            format!("`{directory}` is inside the workspace `{root}`"),
        )
        .hint("choose a directory outside of it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once, pasting the command deleted `/home/me/my`.
    #[test]
    fn what_is_to_be_removed_is_named_as_a_shell_takes_it() {
        let said = CliError::half_made(Path::new("/home/me/my project-x"), &[]).text();
        assert!(said.contains("`rm -r '/home/me/my project-x'`"), "{said}");
    }
}
