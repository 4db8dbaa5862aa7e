//! `wink verify`: damage in the history, found before it is needed.

use std::time::Instant;

use clap::Args;
use wink_fs::{ErrorKind, Problem, SnapshotId, VerifyOptions};

use super::milliseconds;
use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::{ProblemEntry, Verified};
use crate::ui::answer::Answer;
use crate::ui::format;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Also read and hash the contents of all files.
    #[arg(long)]
    data: bool,

    /// Read only the N-th of T parts of the contents, such as 1/10.
    #[arg(long, value_name = "N/T", requires = "data", value_parser = subset)]
    subset: Option<(u32, u32)>,
}

fn subset(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(n, t)| Some((n.parse().ok()?, t.parse().ok()?)));
    match parts {
        Some((n, t)) if 1 <= n && n <= t => Ok((n, t)),
        _ => Err("give the part and the number of parts, such as 1/10".to_owned()),
    }
}

pub(crate) fn run(context: &Context, args: &VerifyArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    let opened = context.open()?;
    let mut options = VerifyOptions::default().data(args.data).progress(context.counted.clone());
    options.subset = args.subset;
    let progress = context.progress("verifying the history");
    let found = opened.files.snapshot_store()?.verify(&options)?;
    drop(progress);
    let ok = found.problems.is_empty();
    let document = Verified {
        ok,
        snapshots: found.snapshots,
        packs: found.packs,
        objects: found.objects,
        bytes_checked: found.bytes_checked,
        problems: found.problems.iter().map(entry).collect(),
        duration_ms: milliseconds(start),
    };
    let exit = if ok { 0 } else { ErrorKind::Corrupt.exit_code() };
    Ok(context.answer(&document, |it| text(it, &found.problems, args))?.exit(exit))
}

fn entry(problem: &Problem) -> ProblemEntry {
    let snapshots = problem.snapshots.iter().map(ToString::to_string).collect();
    ProblemEntry { what: problem.what.clone(), snapshots }
}

fn text(document: &Verified, problems: &[Problem], args: &VerifyArgs) -> String {
    let Verified { snapshots, packs, objects, bytes_checked, duration_ms, .. } = document;
    let looked = format!(
        "{}, {}, {}",
        format::counted(*snapshots, "snapshot", "snapshots"),
        format::counted(*packs, "pack", "packs"),
        format::counted(*objects, "object", "objects"),
    );
    let read = if args.data {
        format!(", {} read", format::size(*bytes_checked))
    } else {
        " (contents not read; --data does)".to_owned()
    };
    let found = match problems.len() as u64 {
        0 => "no problems".to_owned(),
        n => format::counted(n, "problem", "problems"),
    };
    let mut text = format!("Verified {looked}{read}: {found} · {duration_ms} ms\n");
    for problem in problems {
        text += &format!("  {}\n", problem.what);
        if !problem.snapshots.is_empty() {
            let ids: Vec<_> = problem.snapshots.iter().map(SnapshotId::short).collect();
            text += &format!("    not whole: {}\n", ids.join(", "));
        }
    }
    text
}
