//! `wink log`: the snapshots, newest first.

use clap::Args;
use wink_fs::{Snapshot, SnapshotCause};

use super::{DAMAGED, changes_since, changes_text};
use crate::answer::Answer;
use crate::context::Context;
use crate::documents::{Changes, Log, SnapshotEntry};
use crate::failure::Failure;
use crate::{refs, words};

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Lists only the newest so many.
    #[arg(short = 'n', value_name = "N")]
    count: Option<usize>,
}

pub(crate) fn run(context: &Context, args: &LogArgs) -> Result<Answer, Failure> {
    let opened = context.open()?;
    let last = refs::last(&opened.files)?;
    let live = match &last {
        Some(last) => changes_since(&opened.files, last)?,
        None => None,
    };
    let mut snapshots = opened.files.snapshots()?;
    snapshots.reverse();
    snapshots.truncate(args.count.unwrap_or(usize::MAX));
    let document = Log {
        live,
        current: last.as_ref().map(|it| it.id.to_string()),
        snapshots: snapshots.iter().map(SnapshotEntry::from).collect(),
    };
    let mut answer = context.answer(&document, |_| text(last.as_ref(), live, &snapshots))?;
    if last.is_none() {
        answer.notes = context.note("next: wink snapshot");
    }
    Ok(answer)
}

fn text(last: Option<&Snapshot>, live: Option<Changes>, snapshots: &[Snapshot]) -> String {
    let head = match (last, live) {
        (Some(last), Some(changes)) => {
            format!("@  live      {} since {}\n", changes_text(changes), last.id.short())
        }
        (Some(_), None) => format!("@  live      {DAMAGED}\n"),
        (None, _) => "@  live      no snapshot yet\n".to_owned(),
    };
    snapshots.iter().fold(head, |text, it| text + &line(it) + "\n")
}

fn line(snapshot: &Snapshot) -> String {
    let mark = match (&snapshot.tag, snapshot.cause) {
        (Some(_), _) => '◆',
        (None, SnapshotCause::Safety) => '◌',
        (None, _) => '○',
    };
    let files = words::counted(snapshot.file_count, "file", "files");
    let size = words::size(snapshot.total_bytes);
    format!("{mark}  {}  · {files}, {size}", words::snapshot_line(snapshot))
}
