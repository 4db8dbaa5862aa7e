//! Errors about input, confirmation and tools.

use std::io;

use wink_agent::ToolResult;
use wink_fs::ErrorKind;

use super::{CliError, exit_code, sanitized};
use crate::ui::format;

impl CliError {
    /// Standard input that cannot be read.
    pub(crate) fn input(error: &io::Error) -> Self {
        Self::of(ErrorKind::Io, "cannot read standard input")
            .cause(error)
            .hint("redirect a file with `< FILE`")
    }

    /// Standard input over the limit.
    pub(crate) fn input_too_large(most: u64) -> Self {
        let message = format!("standard input is larger than {}", format::size(most));
        Self::of(ErrorKind::TooLarge, message).hint("copy the file into the workspace instead")
    }

    /// A signal that asked the command to end.
    pub(crate) fn interrupted() -> Self {
        let exit = exit_code(ErrorKind::Cancelled);
        Self::new("interrupted", exit, "the command was interrupted")
            .hint("the next command recovers what it left unfinished; see `wink status`")
    }

    /// The user answered no.
    pub(crate) fn declined() -> Self {
        Self::of(ErrorKind::Cancelled, "nothing was done").hint("`--yes` skips the question")
    }

    /// A question without a terminal to ask it on.
    pub(crate) fn unanswered(question: &str) -> Self {
        let message = format!("nothing was done, because this needs confirmation: {question}");
        Self::of(ErrorKind::InvalidArgument, message).hint("confirm with `--yes`")
    }

    /// An unknown tool, in the words for a model.
    pub(crate) fn unknown_tool(message: &str) -> Self {
        Self::of(ErrorKind::InvalidArgument, message).hint("`wink tool` lists the tools")
    }

    /// A failed tool call, in the words for a model.
    pub(crate) fn tool(kind: ErrorKind, result: &ToolResult) -> Self {
        let mut failure = Self::of(kind, &result.message);
        failure.0.value = Some(result.value.clone());
        failure
    }

    /// A failed `wink fs edit`: names commands and options where the tool's message names tools and parameters.
    /// Only the ends of the message are replaced, so that quoted file content stays.
    pub(crate) fn edit(kind: ErrorKind, result: &ToolResult, path: &str) -> Self {
        let mut failure = Self::tool(kind, result);
        let message = &mut failure.0.message;
        let head = format!("Nothing was changed in {path}: ");
        if let Some(rest) = message.strip_prefix(&format!("{head}old_string ")) {
            *message = format!("{head}OLD {rest}");
        }
        let look = format!("with `wink fs cat {}`.", format::shell_quote(path));
        let ends = [
            ("with read_file.", &*look),
            ("or set replace_all to true.", "or give `--all`."),
            ("or make a file with write_file.", "or make a file with `wink fs write`."),
        ];
        for (theirs, ours) in ends {
            if let Some(rest) = message.strip_suffix(theirs) {
                *message = format!("{rest}{ours}");
            }
        }
        failure
    }

    /// A tool that runs programs, without `--allow-execution`.
    pub(crate) fn execution_not_allowed(tool: &str) -> Self {
        let message = format!("`{tool}` runs programs on this computer");
        Self::of(ErrorKind::PermissionDenied, message)
            .hint("allow it with --allow-execution; a sandbox keeps them inside the workspace")
    }

    /// Options of the sandbox, without `--allow-execution`.
    pub(crate) fn sandbox_without_execution() -> Self {
        Self::of(
            ErrorKind::InvalidArgument,
            "there are options of the sandbox, but no tool may run programs",
        )
        .hint("allow it with --allow-execution")
    }

    /// Arguments of a tool that are not a JSON object.
    pub(crate) fn not_an_object(error: &serde_json::Error) -> Self {
        Self::of(ErrorKind::InvalidArgument, "the arguments are not a JSON object")
            .cause(error)
            .hint("give an object, such as '{\"path\":\"a.txt\"}', or `key=value`")
    }

    /// An argument given twice.
    pub(crate) fn argument_given_twice(key: &str) -> Self {
        Self::of(ErrorKind::InvalidArgument, format!("`{}` is given twice", sanitized(key)))
            .hint("give each argument once")
    }

    /// An argument of a tool without a name.
    pub(crate) fn no_argument(text: &str) -> Self {
        Self::of(
            ErrorKind::InvalidArgument,
            format!("`{}` is not an argument of a tool", sanitized(text)),
        )
        .hint("write `key=value`; `wink tool NAME --schema` shows the keys")
    }
}
