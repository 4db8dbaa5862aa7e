//! `wink show`: shows a snapshot and its changes.

use clap::Args;
use serde::Serialize;
use wink_fs::archive::ArchiveTree;
use wink_fs::{Changed, Snapshot};

use super::diff::in_order;
use super::{changes_text, list_text};
use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref::{self, State};
use crate::error::CliError;
use crate::json::{ChangedEntry, Changes, SnapshotEntry, documents};
use crate::ui::answer::Answer;
use crate::ui::format;
use crate::ui::style::Paint;

/// Show a snapshot and what it changed.
#[derive(Debug, Args)]
#[command(after_help = REFS)]
pub(crate) struct ShowArgs {
    /// Snapshot or archive [default: the last snapshot].
    #[arg(value_name = "REF", default_value = "@-", hide_default_value = true)]
    #[arg(add = completion::states())]
    snapshot: String,
}

documents! {
    Shown: "wink/show@1";
    ArchiveShown: "wink/show.archive@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Shown {
    snapshot: SnapshotEntry,
    /// Changes since the parent; null if there is none.
    changes: Option<Changes>,
    /// Sorted by path.
    entries: Vec<ChangedEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ArchiveShown {
    file: String,
    created_at: String,
    files: u64,
    /// The total size of the files.
    bytes: u64,
}

pub(crate) fn run(context: &Context, args: &ShowArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    match state_ref::find(&opened, &args.snapshot)? {
        State::Snapshot(snapshot) => show(context, &opened, &snapshot),
        State::Archive(tree) => show_archive(context, &args.snapshot, &tree),
        State::Live => Err(CliError::live_ref()),
        State::OfOperation(state) => Err(CliError::unkept_state(&state)),
    }
}

fn show(context: &Context, opened: &Opened, snapshot: &Snapshot) -> Result<Answer, CliError> {
    let parent = snapshot.parent.and_then(|id| opened.files.find_snapshot(id).ok());
    let _progress = context.progress("comparing");
    let diff = parent.map(|parent| opened.files.diff(&parent, snapshot)).transpose()?;
    let changed: Vec<&Changed> = diff.as_ref().map(in_order).unwrap_or_default();
    let document = Shown {
        snapshot: SnapshotEntry::from(snapshot),
        changes: diff.as_ref().map(Changes::from),
        entries: changed.into_iter().map(ChangedEntry::from).collect(),
    };
    Ok(context.answer(&document, |it| text(it, snapshot))?.painted(Paint::Letters).long())
}

fn show_archive(context: &Context, name: &str, tree: &ArchiveTree) -> Result<Answer, CliError> {
    let document = ArchiveShown {
        file: name.to_owned(),
        created_at: format::utc(tree.created_at()),
        files: tree.file_count(),
        bytes: tree.total_bytes(),
    };
    context.answer(&document, |it| {
        let (made, size) = (format::local(tree.created_at()), format::size(it.bytes));
        let files = format::counted(it.files, "file", "files");
        format!("Archive {}\n  {:<10}{made}\n  {:<10}{files}, {size}\n", it.file, "made", "holds")
    })
}

fn text(document: &Shown, snapshot: &Snapshot) -> String {
    let mut text = format!("Snapshot {}\n", format::snapshot_name(snapshot));
    let mut line = |name: &str, value: &str| text += &format!("  {name:<10}{value}\n");
    if let Some(incomplete) = format::incomplete(snapshot) {
        line("state", &incomplete);
    }
    line("id", &document.snapshot.id);
    line("taken", &format::local(snapshot.created_at));
    line(
        "holds",
        &format!(
            "{}, {}",
            format::counted(snapshot.file_count, "file", "files"),
            format::size(snapshot.total_bytes)
        ),
    );
    for (at, text) in snapshot.message.iter().flat_map(|it| it.lines()).enumerate() {
        line(if at == 0 { "message" } else { "" }, &format::first_line(text));
    }
    let excluded: Vec<_> = snapshot.excluded_by_setting().collect();
    if !excluded.is_empty() {
        line("excluded", &excluded.join(", "));
    }
    for (at, missing) in snapshot.missing().enumerate() {
        let name = if at == 0 { "missing" } else { "" };
        line(name, &format!("{} ({})", missing.path, missing.why));
    }
    let changes = match (snapshot.parent, document.changes) {
        (_, Some(changes)) => changes_text(changes),
        (None, None) => "first snapshot".to_owned(),
        (Some(_), None) => "the previous one is missing".to_owned(),
    };
    line("changes", &changes);
    let entry = |entry: &ChangedEntry| format!("{} {}", entry.letter(), entry.shown());
    text + &list_text(document.entries.iter().map(entry))
}
