//! `wink export`: writes a state to an archive.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wink_agent::WithoutSpecial;
use wink_fs::archive::{self, ExportOptions, Portability};

use super::{incomplete_text, list_text};
use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::Context;
use crate::cli::state_ref::{self, State};
use crate::error::{CliError, PARTIAL};
use crate::json::{SkippedEntry, documents};
use crate::ui::answer::Answer;
use crate::ui::format;

/// Export a state to an archive.
#[derive(Debug, Args)]
#[command(after_help = REFS)]
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

documents! {
    ExportedTo: "wink/export@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ExportedTo {
    file: String,
    files: u64,
    /// The total size of the files.
    bytes: u64,
    archive_bytes: u64,
    /// What the exported state should hold and does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<SkippedEntry>,
    /// What is not in the archive, and why.
    skipped: Vec<SkippedEntry>,
    /// Names that other systems may not support, and why.
    portability: Vec<PortabilityEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PortabilityEntry {
    path: String,
    why: String,
}

impl From<&Portability> for PortabilityEntry {
    fn from(found: &Portability) -> Self {
        Self { path: found.path.to_string(), why: found.problem.to_string() }
    }
}

pub(crate) fn run(context: &Context, args: &ExportArgs) -> Result<Answer, CliError> {
    let target = context.host_path(&args.file);
    if !target.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip")) {
        return Err(CliError::not_a_zip(&args.file));
    }
    let opened = context.open()?;
    let state = state_ref::find(&opened, &args.at)?;
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
    let missing = match &state {
        State::Snapshot(snapshot) => snapshot.missing().map(SkippedEntry::from).collect(),
        _ => Vec::new(),
    };
    let document = ExportedTo {
        missing,
        file: target.display().to_string(),
        files: exported.file_count,
        bytes: exported.total_bytes,
        archive_bytes: exported.archive_bytes,
        skipped: SkippedEntry::special(&tree.left_out()),
        portability: exported.portability.iter().map(PortabilityEntry::from).collect(),
    };
    let mut answer = context.answer(&document, |it| {
        let files = format::counted(it.files, "file", "files");
        let (bytes, packed) = (format::size(it.bytes), format::size(it.archive_bytes));
        let head = format!("Exported {} to {}: {files}, {bytes} in {packed}\n", args.at, it.file);
        context.summary(head) + &format::not_captured(&it.skipped) + &incomplete_text(&it.missing)
    })?;
    if !document.missing.is_empty() {
        answer = answer.exit(PARTIAL);
    }
    if !document.portability.is_empty() {
        let line = |it: &PortabilityEntry| format!("{}: {}", it.path, it.why);
        let lines = list_text(document.portability.iter().map(line));
        answer.notes = context.note(format!(
            "warning: names that other systems may not support:\n{}",
            lines.trim_end()
        ));
    }
    Ok(answer)
}
