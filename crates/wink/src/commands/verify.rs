//! `wink verify`: checks the history for damage.

use std::time::Instant;

use clap::Args;
use serde::Serialize;
use wink_fs::{ErrorKind, Problem, SnapshotId, VerifyOptions};

use super::{list_text, milliseconds};
use crate::cli::context::Context;
use crate::error::{self, CliError, PARTIAL};
use crate::json::documents;
use crate::ui::answer::Answer;
use crate::ui::format;

/// Check the history for damage.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Also read and hash the contents of all files.
    #[arg(long)]
    data: bool,

    /// Read only the N-th of T parts of the contents, such as 1/10.
    #[arg(long, value_name = "N/T", requires = "data", value_parser = subset)]
    subset: Option<(u32, u32)>,
}

documents! {
    Verified: "wink/verify@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Verified {
    ok: bool,
    snapshots: u64,
    packs: u64,
    objects: u64,
    bytes_checked: u64,
    problems: Vec<ProblemEntry>,
    /// The ids of snapshots that lack files although nothing is damaged now: a repair left them out, or they could not be
    /// read. `show` names the files.
    incomplete: Vec<String>,
    duration_ms: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ProblemEntry {
    what: String,
    /// The ids of the snapshots that cannot be restored completely.
    snapshots: Vec<String>,
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
    let all = opened.files.snapshots().unwrap_or_default();
    let incomplete: Vec<_> = all.iter().filter(|it| it.missing().next().is_some()).collect();
    let ok = found.problems.is_empty();
    let document = Verified {
        ok,
        snapshots: found.snapshots,
        packs: found.packs,
        objects: found.objects,
        bytes_checked: found.bytes_checked,
        problems: found.problems.iter().map(entry).collect(),
        incomplete: incomplete.iter().map(|it| it.id.to_string()).collect(),
        duration_ms: milliseconds(start),
    };
    let exit = match (ok, incomplete.is_empty()) {
        (false, _) => error::exit_code(ErrorKind::Corrupt),
        (true, false) => PARTIAL,
        (true, true) => 0,
    };
    let lines = list_text(incomplete.iter().map(|it| format::snapshot_line(it)));
    Ok(context.answer(&document, |it| text(it, &found.problems, args) + &lines)?.exit(exit))
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
        " (contents not read; use --data)".to_owned()
    };
    let found = match problems.len() as u64 {
        0 if document.incomplete.is_empty() => "no problems".to_owned(),
        0 => format!(
            "no new damage, {}",
            format::counted(
                document.incomplete.len() as u64,
                "incomplete snapshot",
                "incomplete snapshots"
            )
        ),
        n => format::counted(n, "problem", "problems"),
    };
    let mut text = format!("Verified {looked}{read}: {found} · {duration_ms} ms\n");
    for problem in problems {
        text += &format!("  {}\n", problem.what);
        if !problem.snapshots.is_empty() {
            let ids: Vec<_> = problem.snapshots.iter().map(SnapshotId::short).collect();
            text += &format!("    incomplete: {}\n", ids.join(", "));
        }
    }
    text
}
