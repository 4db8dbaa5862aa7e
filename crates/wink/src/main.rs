//! The wink binary.

mod address;
mod cli;
mod connections;
mod http_guard;
mod mcp;
mod serve;
mod welcome;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With stderr closed there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Box<dyn Error>> {
    match &cli.command {
        Command::Serve(args) => serve::run(args),
    }
}
