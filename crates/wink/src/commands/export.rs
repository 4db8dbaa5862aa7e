//! `wink export`: a state as an archive.

use std::path::PathBuf;

use clap::Args;
use wink_agent::WithoutSpecial;
use wink_fs::archive::{self, ExportOptions};

use crate::cli::completion;
use crate::cli::context::Context;
use crate::cli::state_ref::{self, State};
use crate::error::CliError;
use crate::json::{ExportedTo, SkippedEntry};
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// File to write, such as `work.fs.zip`.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// State [default: the current files, without excluded ones].
    #[arg(long, value_name = "REF", default_value = "@", hide_default_value = true)]
    #[arg(add = completion::states())]
    at: String,

    /// Replace a file that exists.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(context: &Context, args: &ExportArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let state = state_ref::find(&opened, &args.at)?;
    let target = context.host_path(&args.file);
    let options = ExportOptions::default().only_new(!args.force);
    let progress = context.progress("exporting");
    let tree = WithoutSpecial::of(match &state {
        State::Live => opened.files.tree_without_excluded(),
        state => state.tree(&opened.files)?,
    });
    if let State::Snapshot(snapshot) = &state {
        context.counted.begin(snapshot.file_count, snapshot.total_bytes);
    }
    let exported = archive::export_ambient(&context.counted.counted(&tree), &target, &options)
        .map_err(|error| CliError::export(&target, error))?;
    drop(progress);
    let document = ExportedTo {
        file: target.display().to_string(),
        files: exported.file_count,
        bytes: exported.total_bytes,
        archive_bytes: exported.archive_bytes,
        skipped: SkippedEntry::special(&tree.left_out()),
    };
    context.answer(&document, |it| {
        let files = format::counted(it.files, "file", "files");
        let (bytes, packed) = (format::size(it.bytes), format::size(it.archive_bytes));
        let head = format!("Exported {} to {}: {files}, {bytes} in {packed}\n", args.at, it.file);
        head + &format::not_captured(&it.skipped)
    })
}
