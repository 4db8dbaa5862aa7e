//! `wink search`: text in all snapshots.

use std::path::PathBuf;

use clap::Args;
use wink_fs::Snapshot;
use wink_fs::search::{Case, GrepOptions, StateMatch};

use crate::answer::Answer;
use crate::completing;
use crate::context::{Context, Opened};
use crate::documents::{HistoryLine, SearchedHistory, SnapshotName};
use crate::failure::Failure;
use crate::{refs, words};

/// How many lines are listed where nobody says.
const LINES: u64 = 1000;

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The regular expression.
    #[arg(value_name = "PATTERN")]
    pattern: String,

    /// Looks only into this snapshot and what came after it.
    #[arg(long, value_name = "REF")]
    #[arg(add = completing::states())]
    since: Option<String>,

    /// Takes upper and lower case for the same.
    #[arg(short, long)]
    ignore_case: bool,

    /// Takes the pattern as plain text.
    #[arg(short = 'F', long)]
    fixed_strings: bool,

    /// Lists at most so many lines.
    #[arg(short = 'n', value_name = "N", default_value_t = LINES)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,

    /// Only these paths, each with all that is below it.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &SearchArgs) -> Result<Answer, Failure> {
    let opened = context.open()?;
    let paths = context.paths(&opened, &args.paths)?;
    let snapshots = since(&opened, args.since.as_deref())?;
    let case = if args.ignore_case { Case::Insensitive } else { Case::Sensitive };
    let options = GrepOptions::default().case(case).literal(args.fixed_strings);
    let options = options.max_matches(args.count);
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

/// Returns the snapshots from one on, oldest first.
fn since(opened: &Opened, name: Option<&str>) -> Result<Vec<Snapshot>, Failure> {
    let mut all = opened.files.snapshots()?;
    if let Some(name) = name {
        let from = refs::find_snapshot(opened, name)?.sequence;
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

/// Writes the lines below their files, each with where it came and went.
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
    format!("  {:>5}: {}  · {span}\n", line.line, words::first_line(&line.text))
}
