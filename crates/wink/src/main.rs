//! The wink binary.

mod cli;
mod clients;
mod commands;
mod demo;
mod error;
mod hooks;
mod json;
mod mcp;
mod project;
mod serve;
mod sys;
mod ui;
mod window;

use std::process::ExitCode;

use crate::cli::context::Context;
use crate::cli::{Cli, completion, help};
use crate::error::CliError;
use crate::sys::{logging, signals};
use crate::ui::answer::{self, Answer};
use crate::ui::output::Output;

fn main() -> ExitCode {
    wink_sandbox::launch();
    signals::survive_limits();
    completion::answer();
    let (output, result) = match help::parse() {
        Ok(cli) => (Output::new(&cli.global), run(&cli)),
        Err(usage) if usage.use_stderr() && is_json_wanted() => {
            (Output::plain(true), Err(CliError::usage(&usage)))
        }
        Err(usage) => usage.exit(),
    };
    answer::finish(result, &output).into()
}

fn run(cli: &Cli) -> Result<Answer, CliError> {
    let context = match Context::new(&cli.global) {
        Err(failure) if cli.command.is_hook() => return Ok(commands::hook_failed(&failure)),
        context => context?,
    };
    logging::begin(&context, cli.global.log.as_ref(), cli.global.verbose)?;
    tracing::debug!(arguments = ?std::env::args_os().skip(1).collect::<Vec<_>>(), "started");
    if cli.global.json && !cli.command.handles_signals() {
        signals::tell_programs();
    }
    cli.command.run(&context)
}

/// Returns whether an error in the arguments is printed as JSON.
fn is_json_wanted() -> bool {
    std::env::args_os().skip(1).take_while(|it| it != "--").any(|it| it == "--json")
}
