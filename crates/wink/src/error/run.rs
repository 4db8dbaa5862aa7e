//! Errors about running programs.

use std::ffi::OsStr;
use std::io;

use wink_fs::{ErrorKind, TreePath};
use wink_sandbox::{CANNOT_INVOKE, FAILED, NOT_FOUND, SandboxError};

use super::{CliError, sanitized};
use crate::hooks::record::HookRecord;
use crate::ui::format;

impl CliError {
    /// A program that cannot be run in the sandbox.
    pub(crate) fn sandbox(error: &SandboxError) -> Self {
        let refused = Self::of(
            ErrorKind::Unsupported,
            "the program was not run, because it cannot be kept inside",
        );
        let refused = refused.because(&error.to_string());
        match error {
            SandboxError::Protected { .. } => {
                refused.hint("use a workspace and --write paths without the history in them, or `wink run --no-sandbox`")
            }
            SandboxError::Path { .. } => refused.hint("name a file or directory that exists"),
            _ => refused.hint("`wink run --no-sandbox -- CMD` runs it with all your rights"),
        }
    }

    /// `--allow-execution` for files in memory.
    pub(crate) fn execution_in_memory() -> Self {
        Self::of(ErrorKind::Unsupported, "no program can be run on files in memory")
            .hint("serve a directory with `--root DIR`, or leave --allow-execution out")
    }

    /// `--allow-execution` together with a container.
    pub(crate) fn execution_twice() -> Self {
        let text = "programs run either in the sandbox (--allow-execution) or in a container (--backend podman)";
        Self::of(ErrorKind::InvalidArgument, text).hint("leave one of the two out")
    }

    /// An event of a coding agent that cannot be read.
    pub(crate) fn hook_payload(why: &str) -> Self {
        Self::of(
            ErrorKind::InvalidArgument,
            format!("the client sent an event that cannot be read ({})", sanitized(why)),
        )
    }

    /// `wink oops` without a prompt to go back to.
    pub(crate) fn no_prompt() -> Self {
        Self::of(ErrorKind::NotFound, "no prompt is known to go back to")
            .hint("`wink setup CLIENT --hooks` lets your agent tell of prompts; until then: `wink undo`, or `wink restore`")
    }

    /// `wink oops` where the last prompt has no snapshot.
    pub(crate) fn prompt_unprotected(prompt: &HookRecord) -> Self {
        let why = prompt.failed.as_deref().unwrap_or("its hook was ended");
        Self::of(ErrorKind::NotFound, "no snapshot was taken at your last prompt")
            .because(why)
            .hint("`wink restore` lists the states to go back to")
    }

    /// A file whose versions are too large to compare.
    pub(crate) fn too_large_to_blame(path: &TreePath, most: u64) -> Self {
        let message = format!("`{path}` is larger than {}", format::size(most));
        Self::of(ErrorKind::TooLarge, message)
            .hint("`wink search PATTERN` finds the first snapshot with a text")
    }

    /// A program that does not exist.
    pub(crate) fn no_program(name: &OsStr) -> Self {
        let message = format!("cannot run `{}`: there is no such program", name.to_string_lossy());
        Self::new(ErrorKind::NotFound.code(), NOT_FOUND as u8, message)
            .hint("check its name, and PATH")
    }

    /// A program that exists and cannot be run.
    pub(crate) fn cannot_invoke(name: &OsStr, error: &io::Error) -> Self {
        let message = format!("cannot run `{}`", name.to_string_lossy());
        let refused = Self::new(ErrorKind::PermissionDenied.code(), CANNOT_INVOKE as u8, message);
        refused.cause(error).hint("check that it is a program, and executable")
    }

    /// Gives an error of `wink run` the exit code that no program of the user has by itself.
    pub(crate) fn of_run(mut self) -> Self {
        if !matches!(i32::from(self.0.exit), CANNOT_INVOKE | NOT_FOUND) {
            self.0.exit = FAILED as u8;
        }
        self
    }
}
