//! What the tools that run programs share.

use std::time::Duration;

use serde_json::{Value, json};
use wink_fs::{ErrorKind, Execution, SnapshotId};

use crate::exec::{Command, Executed, Executor, Output, USUAL_TIMEOUT};
use crate::history::changes::{self, Changes};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::util::words::counted;

/// Runs a program for a model, as one operation.
pub(crate) fn run(
    call: &ToolCall<'_>,
    command: &Command,
    timeout: Option<u64>,
) -> Result<ToolResult, ToolError> {
    let executor = executor(call)?;
    let timeout = checked_timeout(executor, timeout)?;
    // The time counts from when it is the program's turn.
    let (executed, execution) =
        call.execute(|place| executor.run(command, place, &call.stop(timeout)?))?;
    let changed = execution.map(|it| Changed { paths: Changes::of(&it.changes), saved: it.saved });
    let message = message(&executed, &said(changed.as_ref(), excluded(call).as_deref()));
    Ok(ToolResult::success(message, value(&executed, changed.as_ref())))
}

/// What a program changed, and the snapshot of what was there before.
struct Changed {
    paths: Changes,
    saved: Option<SnapshotId>,
}

/// Returns what runs programs, if there is anything that does.
pub(crate) fn executor<'c>(call: &ToolCall<'c>) -> Result<&'c dyn Executor, ToolError> {
    call.context().executor.as_deref().ok_or_else(|| {
        ToolError::new(
            ErrorKind::Unsupported,
            "No program can be run here, because there is no executor; use the tools for files.",
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
    /// Runs something that changes files by itself; where it is refused, or panics, it is taken back.
    fn execute(
        &self,
        work: impl FnOnce(&mut wink_fs::ExecutionPlace<'_>) -> Result<Executed, ToolError>,
    ) -> Result<(Executed, Option<Execution>), ToolError> {
        let files = self.everything()?;
        let done = files.as_executor(self.name(), |place| self.caught(|| work(place)));
        done.map_err(|refusal| {
            if was_ended(refusal.kind()) {
                self.may_have_changed();
                not_taken_back(refusal, excluded(self))
            } else {
                refusal
            }
        })
    }
}

/// Tells whether a program that was refused may have run for a while.
fn was_ended(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Cancelled | ErrorKind::Unavailable | ErrorKind::Io)
}

fn message(executed: &Executed, said: &str) -> String {
    let took = format!("{:.1} s", executed.duration.as_secs_f64());
    let mut message = if executed.timed_out {
        format!(
            "The time was over after {took} and the program was ended with all it started; set a \
         longer timeout, or do less at once."
        )
    } else {
        format!("The program {} after {took}.", executed.ended)
    };
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
            "\nWhat files changed is not known, because this workspace keeps no history.".to_owned()
        }
        (Some(Changed { paths, .. }), None) if paths.len() == 0 => "\nNo file changed.".to_owned(),
        (Some(Changed { paths, .. }), Some(_)) if paths.len() == 0 => {
            "\nNo file that is captured changed.".to_owned()
        }
        (Some(Changed { paths, saved }), _) => format!(
            "\n{} changed, which undo takes back:{}",
            counted(paths.len(), "path"),
            paths.listed(changes::since(*saved))
        ),
    };
    let unseen = excluded.map(|list| {
        format!("\nExcluded by setting, so that no change there is seen or undone: {list}.")
    });
    said + &unseen.unwrap_or_default()
}

/// Lists what is excluded: the history does not know what a program did to it, and nothing rolls it back.
fn excluded(call: &ToolCall<'_>) -> Option<String> {
    let excluded = call.context().workspace.as_ref()?.excluded();
    changes::excluded_list(excluded.patterns())
}

/// Says of a program that was ended that what is excluded stays as it left it.
fn not_taken_back(refusal: ToolError, excluded: Option<String>) -> ToolError {
    match (excluded, refusal.kind()) {
        (None, _) => refusal,
        (Some(list), ErrorKind::Cancelled) => refusal.reworded(format!(
            "The call was cancelled, and what it had changed was taken back, but for what is excluded by \
             setting: {list}."
        )),
        (Some(list), _) => {
            let stays = format!("\nWhat it had changed of what is excluded by setting stays: {list}.");
            refusal.saying_also(&stays)
        }
    }
}

fn value(executed: &Executed, changed: Option<&Changed>) -> Value {
    use crate::exec::Ended::{Exit, Signal};
    let (exit_code, signal) = match executed.ended {
        Exit(code) => (Some(code), None),
        Signal(number) => (None, Some(number)),
    };
    json!({
        "exit_code": exit_code,
        "signal": signal,
        "timed_out": executed.timed_out,
        "duration_ms": u64::try_from(executed.duration.as_millis()).unwrap_or(u64::MAX),
        "stdout_bytes": executed.stdout.total_bytes(),
        "stderr_bytes": executed.stderr.total_bytes(),
        "stdout_file": executed.stdout.saved(),
        "stderr_file": executed.stderr.saved(),
        "changes": changed.map(|it| it.paths.value()),
        "change_count": changed.map(|it| it.paths.len()),
        "saved": changed.and_then(|it| it.saved).map(|id| id.to_string()),
    })
}
