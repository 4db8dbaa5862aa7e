//! Shared by the tools that run programs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use wink_fs::{ErrorKind, Execution, SnapshotId};

use crate::exec::{Command, Ended, Executed, Executor, Output, USUAL_TIMEOUT};
use crate::history::changes::{self, ChangeAnswer, Changes};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::util::counted;

/// Runs a program for a model, as one operation.
pub(crate) fn run(
    call: &ToolCall<'_>,
    command: &Command,
    timeout: Option<u64>,
) -> Result<ToolResult, ToolError> {
    let executor = executor(call)?;
    let timeout = checked_timeout(executor, timeout)?;
    // The timeout begins when the program has the writer lock.
    let (executed, execution) =
        call.execute(|place| executor.run(command, place, &call.stop(timeout)?))?;
    let changed = execution.map(|it| Changed { paths: Changes::of(&it.changes), saved: it.saved });
    let message = message(&executed, &said(changed.as_ref(), excluded(call).as_deref()));
    Ok(ToolResult::success(message, ExecutionAnswer::of(&executed, changed.as_ref())))
}

/// What a program did, as data.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExecutionAnswer {
    exit_code: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    duration_ms: u64,
    stdout_bytes: u64,
    stderr_bytes: u64,
    stdout_file: Option<String>,
    stderr_file: Option<String>,
    changes: Option<Vec<ChangeAnswer>>,
    change_count: Option<u64>,
    saved: Option<String>,
}

/// What a program changed, and the snapshot of what was there before.
struct Changed {
    paths: Changes,
    saved: Option<SnapshotId>,
}

/// Returns the executor; an error if there is none.
pub(crate) fn executor<'c>(call: &ToolCall<'c>) -> Result<&'c dyn Executor, ToolError> {
    call.context().executor.as_deref().ok_or_else(|| {
        ToolError::new(
            ErrorKind::Unsupported,
            "No program can be run here, because there is no executor; use the file tools.",
        )
    })
}

fn checked_timeout(executor: &dyn Executor, timeout: Option<u64>) -> Result<Duration, ToolError> {
    let most = executor.max_timeout();
    let timeout = timeout.map_or(USUAL_TIMEOUT.min(most), Duration::from_secs);
    if timeout > most {
        return Err(ToolError::invalid_argument(format!(
            "`timeout` must be at most {} seconds; do the work in shorter steps.",
            most.as_secs()
        )));
    }
    Ok(timeout)
}

impl ToolCall<'_> {
    /// Runs a program that changes files directly; if it fails or panics, its changes are rolled back.
    fn execute(
        &self,
        work: impl FnOnce(&mut wink_fs::ExecutionPlace<'_>) -> Result<Executed, ToolError>,
    ) -> Result<(Executed, Option<Execution>), ToolError> {
        let files = self.everything()?;
        let remark = self.context().executor.as_ref().and_then(|it| it.remark());
        let name =
            remark.map_or(self.name().to_owned(), |remark| format!("{}, {remark}", self.name()));
        let done = files.as_executor(&name, |place| self.caught(|| work(place)));
        done.map_err(|refusal| {
            if was_ended(refusal.kind()) {
                self.may_have_changed();
                with_excluded_note(refusal, excluded(self))
            } else {
                refusal
            }
        })
    }
}

/// Returns whether the program may have run before it failed.
fn was_ended(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Cancelled | ErrorKind::Unavailable | ErrorKind::Io)
}

fn message(executed: &Executed, said: &str) -> String {
    let took = format!("{:.1} s", executed.duration.as_secs_f64());
    let mut message = if executed.timed_out {
        format!(
            "Timed out after {took}; the program and all processes it started were ended. Set a longer timeout, or \
         do less at once."
        )
    } else {
        format!("The program {} after {took}.", executed.ended)
    };
    if let Some(note) = &executed.note {
        message.push('\n');
        message.push_str(note);
    }
    for (name, output) in [("stdout", &executed.stdout), ("stderr", &executed.stderr)] {
        message.push_str(&printed(name, output));
    }
    message + said
}

fn printed(name: &str, output: &Output) -> String {
    match output.total_bytes() {
        0 => format!("\n{name}: empty"),
        bytes => {
            let text = output.text();
            let text = text.strip_suffix('\n').unwrap_or(&text);
            format!("\n{name}, {}:\n{text}", counted(bytes, "byte"))
        }
    }
}

fn said(changed: Option<&Changed>, excluded: Option<&str>) -> String {
    let said = match (changed, excluded) {
        (None, _) => {
            "\nWhich files changed is unknown, because this workspace keeps no history.".to_owned()
        }
        (Some(Changed { paths, .. }), None) if paths.len() == 0 => "\nNo file changed.".to_owned(),
        (Some(Changed { paths, .. }), Some(_)) if paths.len() == 0 => {
            "\nNo captured file changed.".to_owned()
        }
        (Some(Changed { paths, saved }), _) => format!(
            "\n{} changed, which undo reverses:{}",
            counted(paths.len(), "path"),
            paths.listed(changes::since(*saved))
        ),
    };
    let unseen = excluded.map(|list| {
        format!("\nExcluded by setting, so changes there are neither seen nor undone: {list}.")
    });
    said + &unseen.unwrap_or_default()
}

/// Lists the exclusions: the history does not see what a program changes there, and cannot roll it back.
fn excluded(call: &ToolCall<'_>) -> Option<String> {
    let excluded = call.context().workspace.as_ref()?.excluded();
    changes::excluded_list(excluded.patterns())
}

/// Adds that changes to excluded paths were not rolled back.
fn with_excluded_note(refusal: ToolError, excluded: Option<String>) -> ToolError {
    match (excluded, refusal.kind()) {
        (None, _) => refusal,
        (Some(list), ErrorKind::Cancelled) => refusal.reworded(format!(
            "The call was cancelled and its changes were rolled back, except in what is excluded by setting: {list}."
        )),
        (Some(list), _) => {
            let stays = format!("\nIts changes in what is excluded by setting were not rolled back: {list}.");
            refusal.saying_also(&stays)
        }
    }
}

impl ExecutionAnswer {
    fn of(executed: &Executed, changed: Option<&Changed>) -> Self {
        let (exit_code, signal) = match executed.ended {
            Ended::Exit(code) => (Some(code), None),
            Ended::Signal(number) => (None, Some(number)),
        };
        let saved_as = |output: &Output| output.saved().map(ToString::to_string);
        Self {
            exit_code,
            signal,
            timed_out: executed.timed_out,
            duration_ms: u64::try_from(executed.duration.as_millis()).unwrap_or(u64::MAX),
            stdout_bytes: executed.stdout.total_bytes(),
            stderr_bytes: executed.stderr.total_bytes(),
            stdout_file: saved_as(&executed.stdout),
            stderr_file: saved_as(&executed.stderr),
            changes: changed.map(|it| it.paths.answer_from(0)),
            change_count: changed.map(|it| it.paths.len()),
            saved: changed.and_then(|it| it.saved).map(|id| id.to_string()),
        }
    }
}
