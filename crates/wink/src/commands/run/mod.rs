//! `wink run`: runs a program in a sandbox, as one operation that can be undone.

mod child;
pub(crate) mod confined;

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use wink_fs::{Error, Execution};

use self::child::Ending;
pub(crate) use self::confined::SandboxArgs;
use super::{fork, list_text, milliseconds};
use crate::cli::context::{Context, Opened};
use crate::error::CliError;
use crate::json::{ChangedEntry, documents};
use crate::project::Project;
use crate::ui::answer::Answer;
use crate::ui::{format, input};

/// Run a program in a sandbox: it writes only to the workspace, and all that it changes is one operation to undo.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunArgs {
    /// Run it in a fork, new or existing, and leave the workspace as it is.
    #[arg(long, value_name = "NAME")]
    fork: Option<String>,

    /// Keep the changes without a question.
    #[arg(long)]
    keep: bool,

    /// Undo the changes when the program has ended.
    #[arg(long, conflicts_with_all = ["keep", "fork"])]
    discard: bool,

    /// Take no snapshot: the changes are not listed and cannot be undone.
    #[arg(long, conflicts_with_all = ["fork", "keep", "discard"])]
    no_snapshot: bool,

    /// The program and its arguments.
    #[arg(value_name = "CMD", last = true, required = true)]
    program: Vec<OsString>,

    #[command(flatten)]
    sandbox: SandboxArgs,
}

const AFTER_HELP: &str = "\
In the sandbox a program reads the system, the directories of PATH, common tools and the workspace. It writes to the
workspace and to a temporary directory of its own, never to the history. It has no network without --net, and no
variables of the environment that may hold secrets, unless --env names them. All its processes end with it.

Exit code: that of the program; 125 if wink failed, 126 if the program cannot be run, 127 if there is none.";

documents! {
    Ran: "wink/run@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Ran {
    /// The exit code of the program; null if a signal ended it.
    exit_code: Option<i32>,
    /// The signal that ended it.
    signal: Option<i32>,
    /// Whether it ran in the sandbox.
    sandboxed: bool,
    /// The fork that it ran in.
    fork: Option<String>,
    /// What it changed; null if no snapshot was taken.
    entries: Option<Vec<ChangedEntry>>,
    /// The id of the snapshot from before, if anything changed.
    saved: Option<String>,
    /// Whether the changes were undone.
    discarded: bool,
    duration_ms: u64,
}

pub(crate) fn run(context: &Context, args: &RunArgs) -> Result<Answer, CliError> {
    try_run(context, args).map_err(CliError::of_run)
}

fn try_run(context: &Context, args: &RunArgs) -> Result<Answer, CliError> {
    let start = Instant::now();
    if args.no_snapshot {
        let project = Project::find_any(&context.directory, context.store.as_deref())?;
        let root = project.map_or_else(|| context.directory.clone(), |project| project.root);
        let ending = start_in(context, args, &root, &context.directory)?;
        return answer(context, args, &ending, None, false, start);
    }
    let opened = context.open()?;
    let (opened, directory) = match &args.fork {
        Some(name) => {
            let fork = fork::made(context, &opened, name)?;
            let directory = fork.project.root.clone();
            (fork, directory)
        }
        None => (opened, context.directory.clone()),
    };
    let (ending, execution) = execute(context, args, &opened, &directory)?;
    let changes_anything = !execution.changes.is_empty();
    let discards = changes_anything && args.fork.is_none() && discards(args, context, &execution)?;
    if discards {
        opened.files.undo()?;
    }
    answer(context, args, &ending, Some(&execution), discards, start)
}

/// Runs the program as one operation.
fn execute(
    context: &Context,
    args: &RunArgs,
    opened: &Opened,
    directory: &Path,
) -> Result<(Ending, Execution), CliError> {
    // Checked before the snapshot, which may take a while.
    args.sandbox.check(context, &opened.project.root, Some(&opened.project))?;
    let done = opened.files.as_executor(&args.name(), |place| {
        let root = place.directory.as_deref().unwrap_or(&opened.project.root);
        start_in(context, args, root, directory).map_err(RunError::Cli)
    });
    let (ending, execution) = done.map_err(CliError::from)?;
    let execution = execution.ok_or_else(|| CliError::no_store(&opened.project.directory))?;
    Ok((ending, execution))
}

fn start_in(
    context: &Context,
    args: &RunArgs,
    root: &Path,
    directory: &Path,
) -> Result<Ending, CliError> {
    let project = Project::find_any(root, context.store.as_deref())?;
    let prepared = args.sandbox.prepare(context, root, project.as_ref(), &args.program)?;
    child::run(prepared, directory)
}

/// Why a program was not run: fails like any other change, so that nothing is left of it.
enum RunError {
    Files(Error),
    Cli(CliError),
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Files(error)
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Files(error) => error.into(),
            RunError::Cli(error) => error,
        }
    }
}

impl RunArgs {
    /// Returns the name of the operation, as it was typed.
    fn name(&self) -> String {
        let typed: Vec<_> =
            self.program.iter().map(|word| format::shell_quote_path(Path::new(word))).collect();
        let unconfined = if self.sandbox.no_sandbox { " --no-sandbox" } else { "" };
        format!("run{unconfined}: {}", typed.join(" "))
    }
}

/// Asks in a terminal whether to keep the changes; elsewhere they are kept, because `wink undo` undoes them.
fn discards(args: &RunArgs, context: &Context, execution: &Execution) -> Result<bool, CliError> {
    if args.keep || args.discard || !context.can_ask() {
        return Ok(args.discard);
    }
    context.say(&changed(&entries(execution)));
    input::ask_usually_yes("Keep these changes?").map(|keeps| !keeps)
}

fn entries(execution: &Execution) -> Vec<ChangedEntry> {
    execution.changes.iter().map(ChangedEntry::from).collect()
}

fn changed(entries: &[ChangedEntry]) -> String {
    let lines = list_text(entries.iter().map(|it| format!("{} {}", it.letter(), it.shown())));
    let count = format::counted(entries.len() as u64, "path", "paths");
    format!("changed {count}:\n{}", lines.trim_end())
}

fn answer(
    context: &Context,
    args: &RunArgs,
    ending: &Ending,
    execution: Option<&Execution>,
    discarded: bool,
    start: Instant,
) -> Result<Answer, CliError> {
    let document = Ran {
        exit_code: ending.code,
        signal: ending.signal,
        sandboxed: !args.sandbox.no_sandbox,
        fork: args.fork.clone(),
        entries: execution.map(entries),
        saved: execution.and_then(|it| it.saved).map(|id| id.to_string()),
        discarded,
        duration_ms: milliseconds(start),
    };
    // Stdout is the program's.
    let mut answer = context.answer(&document, |_| String::new())?.exit(ending.exit());
    answer.notes = notes(context, args, &document);
    Ok(answer)
}

fn notes(context: &Context, args: &RunArgs, document: &Ran) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(entries) = document.entries.as_ref().filter(|entries| !entries.is_empty()) else {
        return notes;
    };
    let was_asked = args.fork.is_none() && !args.keep && !args.discard && context.can_ask();
    if !was_asked {
        notes.extend(context.note(changed(entries)));
    }
    notes.extend(match &document.fork {
        Some(name) => context.note(format!("merge it: wink merge {name}")),
        None if document.discarded => context.note("discarded; bring it back: wink redo"),
        None => context.note("undo: wink undo"),
    });
    notes
}
