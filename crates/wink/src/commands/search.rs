//! `wink search`: searches all snapshots.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wink_fs::Snapshot;
use wink_fs::search::StateMatch;

use super::matching::Matching;
use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref;
use crate::error::CliError;
use crate::json::documents;
use crate::ui::answer::Answer;
use crate::ui::format;

/// Search all snapshots for lines, with the first and last snapshot that has each.
#[derive(Debug, Args)]
#[command(after_help = REFS)]
pub(crate) struct SearchArgs {
    /// Regular expression.
    #[arg(value_name = "PATTERN")]
    pattern: String,

    /// Search only this snapshot and newer ones.
    #[arg(long, value_name = "REF")]
    #[arg(add = completion::states())]
    since: Option<String>,

    #[command(flatten)]
    matching: Matching,

    /// Only these paths, with everything below them.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

documents! {
    SearchedHistory: "wink/search@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SearchedHistory {
    /// Sorted by path and line, each line once for a file.
    lines: Vec<HistoryLine>,
    /// How many snapshots were searched.
    snapshots: u64,
    /// How many times a file was searched.
    searched: u64,
    /// Whether lines are missing from the list.
    truncated: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HistoryLine {
    path: String,
    /// The line number in the last snapshot that has it, from 1.
    line: u64,
    text: String,
    first: Option<SnapshotName>,
    last: Option<SnapshotName>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SnapshotName {
    id: String,
    short: String,
    tag: Option<String>,
}

impl SnapshotName {
    /// Returns the short id and the tag.
    fn shown(&self) -> String {
        match &self.tag {
            Some(tag) => format!("{} ({tag})", self.short),
            None => self.short.clone(),
        }
    }
}

impl From<&Snapshot> for SnapshotName {
    fn from(snapshot: &Snapshot) -> Self {
        let (id, short) = (snapshot.id.to_string(), snapshot.id.short());
        Self { id, short, tag: snapshot.tag.clone() }
    }
}

pub(crate) fn run(context: &Context, args: &SearchArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let paths = context.paths(&opened, &args.paths)?;
    let snapshots = since(&opened, args.since.as_deref())?;
    let options = args.matching.options();
    let progress = context.progress("searching all snapshots");
    let found = opened.files.grep_snapshots(&args.pattern, &snapshots, &paths, &options)?;
    drop(progress);
    let document = SearchedHistory {
        lines: found.lines.iter().map(|line| entry(line, &snapshots)).collect(),
        snapshots: snapshots.len() as u64,
        searched: found.searched,
        truncated: found.truncated,
    };
    let answer = context.answer(&document, text)?.long();
    let mut answer = answer.exit(u8::from(document.lines.is_empty()));
    if found.truncated {
        answer.notes = context.note("note: not all lines are listed; `-n` lists more");
    } else if snapshots.is_empty() {
        answer.notes = context.note("next: wink snapshot");
    }
    Ok(answer)
}

/// Returns the snapshots since the named one, oldest first.
fn since(opened: &Opened, name: Option<&str>) -> Result<Vec<Snapshot>, CliError> {
    let mut all = opened.files.snapshots()?;
    if let Some(name) = name {
        let from = state_ref::find_snapshot(opened, name)?.sequence;
        all.retain(|it| it.sequence >= from);
    }
    Ok(all)
}

fn entry(found: &StateMatch, snapshots: &[Snapshot]) -> HistoryLine {
    let name = |at: usize| snapshots.get(at).map(SnapshotName::from);
    HistoryLine {
        path: found.path.to_string(),
        line: found.line_number,
        text: found.line_content.clone(),
        first: name(found.first),
        last: name(found.last),
    }
}

/// Lists the lines below their files, each with its first and last snapshot.
fn text(document: &SearchedHistory) -> String {
    let mut text = String::new();
    for lines in document.lines.chunk_by(|a, b| a.path == b.path) {
        text += lines.first().map_or("", |line| &line.path);
        text += "\n";
        lines.iter().for_each(|line| text += &line_text(line));
    }
    text
}

fn line_text(line: &HistoryLine) -> String {
    let short = |name: &Option<SnapshotName>| name.as_ref().map(SnapshotName::shown);
    let (first, last) = (short(&line.first), short(&line.last));
    let span = match (first, last) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => format!("only {}", first.unwrap_or_default()),
    };
    format!("  {:>5}: {}  · {span}\n", line.line, format::first_line(&line.text))
}
