//! `wink man`: prints the manual, or writes its pages.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::error::CliError;
use crate::json::documents;
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::format;

/// Print the manual, or write all its pages.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands to this directory [default: print the first page].
    #[arg(value_name = "DIR")]
    into: Option<PathBuf>,
}

documents! {
    ManualPage: "wink/man@1";
    ManualPages: "wink/man.write@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ManualPage {
    page: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ManualPages {
    directory: String,
    pages: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &ManArgs) -> Result<Answer, CliError> {
    match &args.into {
        Some(into) => write(context, &context.host_path(into)),
        None => print(context),
    }
}

fn print(context: &Context) -> Result<Answer, CliError> {
    let mut page = Vec::new();
    page_of(built()).render(&mut page).map_err(|error| CliError::output(&error))?;
    let document = ManualPage { page: String::from_utf8_lossy(&page).into_owned() };
    context.answer(&document, |it| it.page.clone())
}

fn built() -> Command {
    let mut command = help::command().disable_help_subcommand(true);
    command.build();
    command
}

/// Returns the page of a command; its synopsis is what its help says of its use.
fn page_of(mut command: Command) -> Man {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let source = concat!("wink ", env!("CARGO_PKG_VERSION"));
    Man::new(command.override_usage(usage)).source(source).manual("wink manual")
}

/// Writes the pages of a command and of all below it.
fn write_all(command: &Command, into: &Path) -> io::Result<()> {
    command
        .get_subcommands()
        .filter(|it| !it.is_hide_set())
        .try_for_each(|it| write_all(it, into))?;
    page_of(command.clone()).generate_to(into).map(drop)
}

fn write(context: &Context, into: &Path) -> Result<Answer, CliError> {
    let failed = |error| CliError::host("cannot write into", into, error);
    disk::make_directory(into).map_err(failed)?;
    write_all(&built(), into).map_err(failed)?;
    let names = disk::names(into).map_err(failed)?;
    let pages = names.iter().map(|name| name.to_string_lossy().into_owned());
    let pages: Vec<_> =
        pages.filter(|name| name.starts_with("wink") && name.ends_with(".1")).collect();
    let document = ManualPages { directory: into.display().to_string(), pages };
    context.answer(&document, |it| {
        let pages = format::counted(it.pages.len() as u64, "page", "pages");
        format!("Wrote {pages} to {}\n", it.directory)
    })
}
