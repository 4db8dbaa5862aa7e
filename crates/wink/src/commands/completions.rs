//! `wink completions`: prints the completion script of a shell.

use clap::Args;
use clap_complete::env::Shells;
use serde::Serialize;

use crate::cli::completion::VARIABLE;
use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::documents;
use crate::ui::answer::Answer;

/// Print shell completions for commands and names of states.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell.
    #[arg(value_name = "SHELL", value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

documents! {
    CompletionScript: "wink/completions@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CompletionScript {
    shell: String,
    script: String,
}

pub(crate) fn run(context: &Context, args: &CompletionsArgs) -> Result<Answer, CliError> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell);
    let mut script = Vec::new();
    if let Some(shell) = shell {
        let written = shell.write_registration(VARIABLE, "wink", "wink", "wink", &mut script);
        written.map_err(|error| CliError::output(&error))?;
    }
    let script = String::from_utf8_lossy(&script).into_owned();
    let document = CompletionScript { shell: args.shell.clone(), script };
    context.answer(&document, |it| it.script.clone())
}
