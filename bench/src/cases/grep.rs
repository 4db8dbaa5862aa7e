//! Lines by content, in a directory and in memory, against ripgrep.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use wink_fs::search::{self, GrepOptions, GrepResult};
use wink_fs::{HostBackend, Limits, MemoryBackend, Tree, TreePath};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::load;
use crate::measure::{Measured, side_by_side, timed_ms};

/// A few lines of the generated tree.
const FEW: &str = r"journal_scanner\(";
/// Some 100,000 of its lines.
const MANY: &str = "(server_|stream_|table_)";

pub(crate) const HOST: Case =
    Case::new("grep-host-vs-rg", "few lines of all files", 1.0, |context| on_host(context, FEW));

pub(crate) const HOST_MANY: Case =
    Case::new("grep-host-many-vs-rg", "some 100,000 lines, counted", 1.0, |context| {
        on_host(context, MANY)
    });

pub(crate) const MEMORY: Case =
    Case::new("grep-memory-vs-rg", "few lines of all files, in memory", 1.5, in_memory);

fn on_host(context: &Context, pattern: &str) -> Result<Outcome> {
    let tree = context.tree()?;
    compare(context, tree, pattern, || {
        timed_ms(|| grep(&HostBackend::open_ambient(tree)?, pattern))
    })
}

fn in_memory(context: &Context) -> Result<Outcome> {
    let tree = context.tree()?;
    let mut memory = MemoryBackend::new();
    load::copy(&HostBackend::open_ambient(tree)?, &mut memory)?;
    compare(context, tree, FEW, || timed_ms(|| grep(&memory, FEW)))
}

fn compare(
    context: &Context,
    tree: &Path,
    pattern: &str,
    ours: impl Fn() -> Result<Measured<GrepResult>>,
) -> Result<Outcome> {
    let found = ours()?.result;
    let command = format!("rg -uuu --no-heading -n '{pattern}' | LC_ALL=C sort");
    let (ours, theirs) = side_by_side(
        || ours().map(|measured| summary_of_ours(&measured)),
        || run_rg(tree, &command),
    )?;
    Ok(Outcome {
        peer: Peer::Measured { name: "rg", command, samples: theirs },
        ours,
        unit: "ms",
        place: context.warm(tree)?,
        note: format!(
            "{} lines in {} of {} files; ours in process, in order, the first 1,000 returned and \
             all counted; rg searches binary files too",
            found.total_lines, found.total_files, found.searched
        ),
    })
}

fn grep(tree: &dyn Tree, pattern: &str) -> Result<GrepResult> {
    let (root, options) = (TreePath::root(), GrepOptions::default());
    Ok(search::grep(tree, pattern, &root, &options, &Limits::default())?)
}

/// What both sides must agree on: how many lines, and the lines themselves where all are returned.
type Summary = (u64, Option<Vec<String>>);

fn summary(lines: Vec<String>, total: u64) -> Summary {
    (total, (lines.len() as u64 == total).then_some(lines))
}

fn summary_of_ours(measured: &Measured<GrepResult>) -> Measured<Summary> {
    let found = &measured.result;
    let line = |m: &search::GrepMatch| format!("{}:{}:{}", m.path, m.line_number, m.line_content);
    let mut lines: Vec<_> = found.matches.iter().map(line).collect();
    lines.sort();
    Measured { value: measured.value, result: summary(lines, found.total_lines) }
}

fn run_rg(tree: &Path, command: &str) -> Result<Measured<Summary>> {
    let mut shell = Command::new("sh");
    shell.current_dir(tree).stdin(Stdio::null()).args(["-c", command]);
    let output = timed_ms(|| output_of(&mut shell))?;
    let text = String::from_utf8_lossy(&output.result);
    let lines: Vec<_> =
        text.lines().filter(|line| !is_about_binary(line)).map(str::to_owned).collect();
    let total = lines.len() as u64;
    let kept = if total > Limits::default().max_grep_matches { Vec::new() } else { lines };
    Ok(Measured { value: output.value, result: summary(kept, total) })
}

fn is_about_binary(line: &str) -> bool {
    line.starts_with("Binary file ") || line.contains(": binary file matches ")
}
