//! The wink binary.

mod cli;
mod commands;
mod demo;
mod error;
mod json;
mod mcp;
mod project;
mod serve;
mod sys;
mod ui;

use std::process::ExitCode;

use crate::cli::context::Context;
use crate::cli::{Cli, Command, completion, help};
use crate::error::CliError;
use crate::sys::{logging, signals};
use crate::ui::answer::{self, Answer};
use crate::ui::output::Output;

fn main() -> ExitCode {
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
    let context = Context::new(&cli.global)?;
    logging::begin(&context, cli.global.log.as_ref(), cli.global.verbose)?;
    tracing::debug!(arguments = ?std::env::args_os().skip(1).collect::<Vec<_>>(), "started");
    if cli.global.json && !hears_signals(&cli.command) {
        signals::tell_programs();
    }
    match &cli.command {
        Command::Init(args) => commands::init::run(&context, args),
        Command::Status => commands::status::run(&context),
        Command::Snapshot(args) => commands::snapshot::run(&context, args),
        Command::Log(args) => commands::log::run(&context, args),
        Command::Show(args) => commands::show::run(&context, args),
        Command::Diff(args) => commands::diff::run(&context, args),
        Command::Restore(args) => commands::restore::run(&context, args),
        Command::Revert(args) => commands::revert::run(&context, args),
        Command::Undo(args) => commands::undo::run(&context, args),
        Command::Redo => commands::redo::run(&context),
        Command::Op(command) => commands::op::run(&context, command),
        Command::Tag(args) => commands::tag::run(&context, args),
        Command::Search(args) => commands::search::run(&context, args),
        Command::Prune(args) => commands::prune::run(&context, args),
        Command::Verify(args) => commands::verify::run(&context, args),
        Command::Repair => commands::repair::run(&context),
        Command::Fork(args) => commands::fork::run(&context, args),
        Command::Branch(command) => commands::branch::run(&context, command),
        Command::Merge(args) => commands::merge::run(&context, args),
        Command::Export(args) => commands::export::run(&context, args),
        Command::Import(args) => commands::import::run(&context, args),
        Command::Fs(command) => commands::fs::run(&context, command),
        Command::Doctor(args) => commands::doctor::run(&context, args),
        Command::Completions(args) => commands::completions::run(&context, args),
        Command::Man(args) => commands::man::run(&context, args),
        Command::Config(command) => commands::config::run(&context, command),
        Command::Session(command) => commands::session::run(&context, command),
        Command::Tool(args) => commands::tool::run(&context, args),
        Command::Mcp(args) => commands::mcp::run(&context, args).map(|()| Answer::default()),
        Command::Demo(args) => demo::run(&context, args, Output::new(&cli.global)),
        Command::Serve(args) => serve::run(&context, args),
    }
}

/// Tells whether a command ends by itself when it is asked to.
fn hears_signals(command: &Command) -> bool {
    match command {
        Command::Mcp(_) | Command::Serve(_) => true,
        Command::Tool(args) => args.may_execute(),
        _ => false,
    }
}

/// Tells how to word the refusal of arguments that did not parse.
fn is_json_wanted() -> bool {
    std::env::args_os().skip(1).take_while(|it| it != "--").any(|it| it == "--json")
}
