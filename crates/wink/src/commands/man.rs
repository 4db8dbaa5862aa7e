//! `wink man`: the manual.

use std::path::{Path, PathBuf};

use clap::Args;
use clap_mangen::Man;

use crate::answer::Answer;
use crate::context::Context;
use crate::documents::{ManualPage, ManualPages};
use crate::failure::Failure;
use crate::{disk, help, words};

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// A directory that the pages of all commands are written to [default: the first page is printed].
    #[arg(value_name = "DIR")]
    into: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &ManArgs) -> Result<Answer, Failure> {
    match &args.into {
        Some(into) => write(context, &context.host_path(into)),
        None => print(context),
    }
}

fn print(context: &Context) -> Result<Answer, Failure> {
    let mut page = Vec::new();
    Man::new(help::command()).render(&mut page).map_err(|error| Failure::output(&error))?;
    let document = ManualPage { page: String::from_utf8_lossy(&page).into_owned() };
    context.answer(&document, |it| it.page.clone())
}

fn write(context: &Context, into: &Path) -> Result<Answer, Failure> {
    let failed = |error| Failure::host("cannot write into", into, error);
    disk::make_directory(into).map_err(failed)?;
    clap_mangen::generate_to(help::command(), into).map_err(failed)?;
    let names = disk::names(into).map_err(failed)?;
    let pages = names.iter().map(|name| name.to_string_lossy().into_owned());
    let pages: Vec<_> =
        pages.filter(|name| name.starts_with("wink") && name.ends_with(".1")).collect();
    let document = ManualPages { directory: into.display().to_string(), pages };
    context.answer(&document, |it| {
        let pages = words::counted(it.pages.len() as u64, "page", "pages");
        format!("Wrote {pages} to {}\n", it.directory)
    })
}
