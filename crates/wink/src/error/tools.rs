//! Failures of what comes in, and of the tools of agents.

use std::io;

use wink_agent::ToolResult;
use wink_fs::ErrorKind;

use super::{CliError, shown};
use crate::ui::format;

impl CliError {
    /// Standard input that cannot be read.
    pub(crate) fn input(error: &io::Error) -> Self {
        Self::of(ErrorKind::Io, "standard input could not be read")
            .cause(error)
            .hint("give it again, such as by `< FILE`")
    }

    /// Standard input that does not end in time.
    pub(crate) fn input_too_large(most: u64) -> Self {
        let message = format!("standard input is larger than {}", format::size(most));
        Self::of(ErrorKind::TooLarge, message).hint("copy the file into the workspace instead")
    }

    /// A signal that asked the command to end.
    pub(crate) fn interrupted() -> Self {
        let exit = ErrorKind::Cancelled.exit_code();
        Self::new("interrupted", exit, "the command was interrupted")
            .hint("what it left unfinished is mended by the next one; `wink status` says more")
    }

    /// A person who said no.
    pub(crate) fn declined() -> Self {
        Self::of(ErrorKind::Cancelled, "nothing was done").hint("`--yes` answers beforehand")
    }

    /// A question before what cannot be undone, where no user is there to answer it.
    pub(crate) fn unanswered(question: &str) -> Self {
        let message = format!("nothing was done, because no user can be asked: {question}");
        Self::of(ErrorKind::InvalidArgument, message).hint("say so beforehand with `--yes`")
    }

    /// A tool that is not there; the words are those that a model reads.
    pub(crate) fn unknown_tool(message: &str) -> Self {
        Self::of(ErrorKind::InvalidArgument, message).hint("`wink tool` lists the tools")
    }

    /// A tool that did not do it; the words are those that a model reads.
    pub(crate) fn tool(kind: ErrorKind, result: &ToolResult) -> Self {
        let mut failure = Self::of(kind, &result.message);
        failure.0.value = Some(result.value.clone());
        failure
    }

    /// An edit that a person typed: where a model is told of its tools and their parameters, he is told of commands.
    /// What the message shows of the file stays as it is.
    pub(crate) fn edit(kind: ErrorKind, result: &ToolResult, path: &str) -> Self {
        let mut failure = Self::tool(kind, result);
        let message = &mut failure.0.message;
        let head = format!("Nothing was changed in {path}: ");
        if let Some(rest) = message.strip_prefix(&format!("{head}old_string ")) {
            *message = format!("{head}OLD {rest}");
        }
        let look = format!("with `wink fs cat {}`.", format::for_shell(path));
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

    /// A tool that runs programs, which the user did not allow.
    pub(crate) fn execution_not_allowed(tool: &str) -> Self {
        let message = format!("`{tool}` runs programs on this computer with all your rights");
        Self::of(ErrorKind::PermissionDenied, message)
            .hint("allow it with --allow-execution; nothing keeps them inside the workspace")
    }

    /// Arguments of a tool that are no JSON object.
    pub(crate) fn not_an_object(error: &serde_json::Error) -> Self {
        Self::of(ErrorKind::InvalidArgument, "the arguments are no JSON object")
            .cause(error)
            .hint("give an object, such as '{\"path\":\"a.txt\"}', or `key=value`")
    }

    /// An argument of a tool that is given more than once.
    pub(crate) fn argument_given_twice(key: &str) -> Self {
        Self::of(ErrorKind::InvalidArgument, format!("`{}` is given twice", shown(key)))
            .hint("give each argument once")
    }

    /// An argument of a tool without a name.
    pub(crate) fn no_argument(text: &str) -> Self {
        Self::of(ErrorKind::InvalidArgument, format!("`{}` is no argument of a tool", shown(text)))
            .hint("write `key=value`; `wink tool NAME --schema` shows the keys")
    }
}
