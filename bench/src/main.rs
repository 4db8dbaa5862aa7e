//! Measures wink side by side with its peers and against its budgets.

#![allow(
    clippy::disallowed_methods,
    reason = "the peers are std::fs itself, and every tree here is made and checked from outside"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints its results")]

mod args;
mod case;
mod cases;
mod context;
mod digest;
mod load;
mod machine;
mod measure;
mod report;
mod rng;
mod run;
mod small_files;
mod source_tree;
mod stats;
mod text;
mod trace;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use args::{Args, Mode};

fn main() -> ExitCode {
    match start(Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: Args) -> Result<ExitCode> {
    match args.mode {
        Some(Mode::Child { case, arguments }) => {
            println!("{}", cases::find(&case)?.answer_as_child(&arguments)?);
            Ok(ExitCode::SUCCESS)
        }
        None => run::run(&args),
    }
}
