//! Failures to make forks, and to find them.

use std::path::Path;

use wink_fs::{Error, ErrorKind};

use super::{Failure, NO_REF, shown};
use crate::words;

impl Failure {
    /// What only the workspace can do that this one is a fork of.
    pub(crate) fn in_fork(name: &str, main: &Path) -> Self {
        let message = format!("this workspace is the fork `{name}` of `{}`", main.display());
        let main = words::path_for_shell(main);
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

    /// A directory that holds what a fork left that was not finished.
    pub(crate) fn half_made(directory: &Path) -> Self {
        let message = format!(
            "`{}` was left by a `wink fork` that did not come to its end",
            directory.display()
        );
        let directory = words::path_for_shell(directory);
        Self::of(ErrorKind::AlreadyExists, message)
            .because("it holds files of a state that is kept, and is no workspace")
            .hint(format!(
                "unless somebody put something into it since, `rm -r {directory}`, and fork again; or name \
                 another directory"
            ))
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
        let said = Failure::half_made(Path::new("/home/me/my project-x")).text();
        assert!(said.contains("`rm -r '/home/me/my project-x'`"), "{said}");
    }
}
