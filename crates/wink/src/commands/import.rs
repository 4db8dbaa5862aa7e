//! `wink import`: imports files from an archive.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::list_text;
use crate::cli::context::Context;
use crate::error::{CliError, PARTIAL};
use crate::json::{SkippedEntry, documents};
use crate::ui::answer::Answer;
use crate::ui::format;

/// Import files from an archive (the current state is saved first).
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Archive.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

documents! {
    ImportedFrom: "wink/import@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ImportedFrom {
    file: String,
    files: u64,
    written: u64,
    removed: u64,
    unchanged: u64,
    /// What was left as it is, because it could not be saved before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<SkippedEntry>,
}

pub(crate) fn run(context: &Context, args: &ImportArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let file = context.host_path(&args.file);
    let progress = context.progress("importing");
    let imported =
        opened.files.import_archive(&file).map_err(|error| CliError::import(&file, error))?;
    drop(progress);
    let document = ImportedFrom {
        file: file.display().to_string(),
        files: imported.file_count,
        written: imported.replaced.written,
        removed: imported.replaced.removed,
        unchanged: imported.replaced.unchanged,
        missing: imported.missing.iter().map(SkippedEntry::from).collect(),
    };
    let mut answer = context.answer(&document, |it| {
        let files = format::counted(it.files, "file", "files");
        let [written, removed] = [it.written, it.removed].map(format::number);
        let line = format!("Imported {}: {files}, {written} written, {removed} removed\n", it.file);
        let head = context.summary(line);
        let line = |it: &SkippedEntry| format!("{}  {}", it.path, it.why);
        match it.missing.len() {
            0 => head,
            _ => {
                let left = list_text(it.missing.iter().map(line));
                format!("{head}These could not be saved, and were left as they are:\n{left}")
            }
        }
    })?;
    let exit = if document.missing.is_empty() { 0 } else { PARTIAL };
    answer = answer.exit(exit);
    if document.written + document.removed > 0 {
        answer.notes = context.note("undo: wink undo");
    }
    Ok(answer)
}
