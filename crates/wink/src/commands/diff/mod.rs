//! `wink diff`: shows the differences between two states.

mod binary;
mod columns;
mod git_entry;
mod patch;
mod side_by_side;
mod stat;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wink_fs::{Changed, Diff, DiffOptions, Scope, Tree, TreePath};

use self::patch::{Binary, Written};
use crate::cli::REFS;
use crate::cli::completion;
use crate::cli::context::{Context, Opened};
use crate::cli::state_ref::{self, State};
use crate::error::{CliError, PARTIAL};
use crate::json::{ChangedEntry, Changes, SkippedEntry, documents};
use crate::ui::answer::Answer;
use crate::ui::style::Paint;
use crate::ui::{format, terminal};

/// The part of `--help` about the forms of output.
const PATCHES: &str = "\
In a file or a pipe, the output is a patch for `git apply`, with up to 128 MiB of binary files; omitted files
are named, and the exit code is 3. Git has no patches for empty directories and private files: they are on
lines of their own, which `git apply` skips. On a terminal, binary files are named with their sizes.
With --json, only the changed paths are listed.";

/// Show the differences between two states.
#[derive(Debug, Args)]
#[command(after_help = format!("{PATCHES}\n\n{REFS}"))]
pub(crate) struct DiffArgs {
    /// First state [default: the last snapshot], or both as `A..B`.
    #[arg(value_name = "A")]
    #[arg(add = completion::states())]
    base: Option<String>,

    /// Second state [default: the current files].
    #[arg(value_name = "B")]
    #[arg(add = completion::states())]
    target: Option<String>,

    /// Show how many lines changed in each file.
    #[arg(long, conflicts_with = "name_status")]
    stat: bool,

    /// Show only which files changed.
    #[arg(long)]
    name_status: bool,

    /// Show both states in two columns: `|` changed, `<` only in the first, `>` only in the second.
    #[arg(long, short = 'y', conflicts_with_all = ["stat", "name_status"])]
    side_by_side: bool,

    /// Exit with 1 if there is a difference.
    #[arg(long)]
    exit_code: bool,

    /// Only these paths, with everything below them.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

documents! {
    Compared: "wink/diff@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Compared {
    /// The first state's id; null for the current files and for an archive.
    base: Option<String>,
    /// The second state's id; null for the current files and for an archive.
    target: Option<String>,
    changes: Changes,
    unchanged: u64,
    /// Sorted by path.
    entries: Vec<ChangedEntry>,
    /// What was not compared, because one of the states is incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<SkippedEntry>,
}

pub(crate) fn run(context: &Context, args: &DiffArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let _progress = context.progress("comparing");
    let base = args.base.as_deref().unwrap_or("@-");
    let (base, target) = match &args.target {
        Some(target) => (base, target.as_str()),
        None => state_ref::range(base).unwrap_or((base, "@")),
    };
    let base = state_ref::find(&opened, base)?;
    let target = state_ref::find(&opened, target)?;
    let paths = context.paths(&opened, &args.paths)?;
    let options = DiffOptions::default()
        .hunks(context.is_for_people() && !args.name_status)
        .scope(Scope::paths(paths.clone()));
    check(&opened, &paths, [&base, &target])?;
    let diff = compare(&opened, &base, &target, options)?;
    let answer = if !context.is_for_people() {
        Answer::json(&describe(&base, &target, &diff))?
    } else {
        shown(context, &opened, args, (&base, &target), &diff)?.long()
    };
    let mut answer = answer;
    if !diff.missing.is_empty() {
        answer.notes.push(format::missing_note(&diff.missing));
        answer.exit = answer.exit.max(PARTIAL);
    }
    let differs = u8::from(args.exit_code && !diff.is_empty());
    let exit = answer.exit.max(differs);
    Ok(answer.exit(exit))
}

/// Fails for paths that are in neither state.
fn check(opened: &Opened, paths: &[TreePath], states: [&State; 2]) -> Result<(), CliError> {
    if paths.is_empty() {
        return Ok(());
    }
    let [before, after] = states.map(|state| state.tree(&opened.files));
    let trees = [before?, after?];
    match paths.iter().find(|path| trees.iter().all(|tree| tree.stat(path).is_err())) {
        Some(path) => Err(CliError::in_no_state(path)),
        None => Ok(()),
    }
}

fn compare(
    opened: &Opened,
    base: &State,
    target: &State,
    options: DiffOptions,
) -> Result<Diff, CliError> {
    if let (Ok(base), Ok(target)) = (base.at(""), target.at("")) {
        return Ok(opened.files.diff_with(base, target, &options)?);
    }
    // One of them is an archive, which is not a state of the workspace.
    let scope = options.scope.clone().excluding(opened.excluded.clone());
    let (base, target) = (base.tree(&opened.files)?, target.tree(&opened.files)?);
    Ok(wink_fs::diff(&*base, &*target, &options.scope(scope))?)
}

/// Shows the differences as text.
fn shown(
    context: &Context,
    opened: &Opened,
    args: &DiffArgs,
    (base, target): (&State, &State),
    diff: &Diff,
) -> Result<Answer, CliError> {
    let all = in_order(diff);
    let answer = |text, paint| Answer { text, paint, ..Answer::default() };
    if args.name_status {
        let line = |it: &&Changed| {
            let entry = ChangedEntry::from(*it);
            format!("{}\t{}\n", entry.letter(), entry.shown())
        };
        return Ok(answer(all.iter().map(line).collect(), Paint::Letters));
    }
    if args.stat {
        return Ok(answer(stat::text(&all), Paint::Plain));
    }
    let (before, after) = (base.tree(&opened.files)?, target.tree(&opened.files)?);
    if args.side_by_side {
        let width = terminal::width();
        let (text, painted) = side_by_side::text(&*before, &*after, &all, width)?;
        return Ok(answer(text, Paint::Ready(painted)));
    }
    patch_answer(context, &*before, &*after, &all)
}

/// Shows differences as a patch.
pub(super) fn patch_answer(
    context: &Context,
    before: &dyn Tree,
    after: &dyn Tree,
    all: &[&Changed],
) -> Result<Answer, CliError> {
    let binary = if terminal::is_there() { Binary::Told } else { Binary::Whole };
    let written = patch::text(before, after, all, binary)?;
    let exit = if written.left_out.is_empty() { 0 } else { PARTIAL };
    let mut notes: Vec<_> = written.left_out.iter().map(left_out_note).collect();
    if let Some(note) = not_gits_note(&written).filter(|_| binary == Binary::Whole) {
        notes.extend(context.note(note));
    }
    Ok(Answer { text: written.text, paint: Paint::Patch, notes, exit, ..Answer::default() })
}

/// Returns a note if the patch has lines that `git apply` skips.
fn not_gits_note(written: &Written) -> Option<&'static str> {
    match (written.has_other_lines, written.is_for_git) {
        (false, _) => None,
        (true, true) => Some(
            "note: git has no patches for empty directories and private files: `git apply` skips those lines",
        ),
        (true, false) => Some(
            "note: git has no patches for empty directories and private files, and there is no other difference: \
             `git apply` finds nothing to apply",
        ),
    }
}

/// Returns a warning that the patch is incomplete.
fn left_out_note(path: &TreePath) -> String {
    let most = format::size(patch::MOST_BYTES);
    format!(
        "warning: `{path}` is omitted, so `git apply` rejects the patch: it can hold {most} of binary \
         files\nhelp: give the other paths after `--`; `wink export` writes whole states"
    )
}

/// Returns the changes sorted by path; deletions come before additions.
pub(super) fn in_order(diff: &Diff) -> Vec<&Changed> {
    let mut all: Vec<_> = diff.deleted.iter().chain(&diff.modified).chain(&diff.added).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

fn describe(base: &State, target: &State, diff: &Diff) -> Compared {
    Compared {
        base: base.id(),
        target: target.id(),
        changes: Changes::from(diff),
        unchanged: diff.unchanged_count,
        entries: in_order(diff).into_iter().map(ChangedEntry::from).collect(),
        missing: diff.missing.iter().map(SkippedEntry::from).collect(),
    }
}
