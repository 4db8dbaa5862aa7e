//! `restore`: restore files from a snapshot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::{Receipt, RestoreOptions, Snapshot, StateRef, TreePath, Workspace};

use crate::history::changes::{ChangeAnswer, Changes};
use crate::history::missing_path::Both;
use crate::history::state::State;
use crate::history::{changes, missing_path, state};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "restore",
    title: "Restore snapshot",
    description: "Restore all files from a snapshot (checkpoint): files created since are \
                  deleted, deleted files come back. With `path`, restore only that file or \
                  directory. The current state is saved first, and undo reverses the restore.",
    effect: Effect::Writes,
    family: Family::History,
    destructive: true,
    idempotent: true,
    works_in_forks: false,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Snapshot tag, id or start of an id, @- for the last one, @-2 for the one before, or a fork's name.
    snapshot: String,
    /// Only this file or directory.
    path: Option<String>,
    /// Only show what would change.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    snapshot: Option<String>,
    saved: Option<String>,
    written: u64,
    brought_back: u64,
    removed: u64,
    unchanged: u64,
    changes: Vec<ChangeAnswer>,
    changed_outside: Vec<String>,
    missing: Vec<String>,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let mut options = RestoreOptions::default().dry_run(params.dry_run).report_external(true);
    let state = state::find(call, &params.snapshot)?;
    let mut one_sided = None;
    if let Some(path) = &params.path {
        let path = call.path(path)?;
        one_sided = only_in_one(files, &state, &path)?.then(|| path.clone());
        options = options.path(path);
    }
    let (receipt, what, snapshot) = match state {
        // A snapshot of it would be a change.
        State::Fork(fork, name) if params.dry_run => {
            (files.rehearse_restore(&fork, &options), format!("fork {name}"), None)
        }
        state => {
            let snapshot = state.snapshot(files)?;
            let what = format!("snapshot {}", changes::named(&snapshot));
            // From here on it is finished: files are replaced as a whole.
            call.context().check_cancelled()?;
            (files.restore_with(&snapshot, &options), what, Some(snapshot))
        }
    };
    let receipt = receipt.map_err(changes::refusal)?;
    if let Some(path) = one_sided.filter(|_| receipt.changes.is_empty()) {
        return Err(missing_path::excluded(&path));
    }
    let changes = Changes::of(&receipt.changes);
    let message = message(&receipt, &changes, &what, params.dry_run);
    let now = files.excluded();
    let then = snapshot.iter().flat_map(Snapshot::excluded_by_setting);
    let message = message + &changes::excluded(files, now.patterns().chain(then));
    let message =
        message + &changes::missing("Not restored, and left as they are", receipt.missing.iter());
    let answer = Answer {
        snapshot: snapshot.map(|it| it.id.to_string()),
        saved: receipt.saved.map(|id| id.to_string()),
        written: receipt.written,
        brought_back: receipt.brought_back,
        removed: receipt.removed,
        unchanged: receipt.unchanged,
        changes: changes.answer_from(0),
        changed_outside: changes::paths(&receipt.changed_outside),
        missing: receipt.missing.iter().map(|it| it.path.clone()).collect(),
    };
    Ok(ToolResult::success(message, answer))
}

/// Returns whether only one side has the path; one for which nothing could happen is refused.
fn only_in_one(files: &Workspace, state: &State, path: &TreePath) -> Result<bool, ToolError> {
    if matches!(state, State::At(StateRef::Live)) {
        // It is refused as a snapshot.
        return Ok(false);
    }
    files.heed_exclusions().map_err(changes::refusal)?;
    let trees = [files.tree_without_excluded(), state.tree(files)?];
    let in_none = "neither in the workspace nor in the snapshot";
    Ok(!missing_path::is_in_both(files, path, &Both { trees, in_none })?)
}

fn message(receipt: &Receipt, changes: &Changes, what: &str, dry_run: bool) -> String {
    if changes.len() == 0 {
        return format!("The files already match {what}; nothing was changed.");
    }
    let counts = format!(
        "{} changed back, {} brought back, {} removed",
        counted(receipt.written, "file"),
        receipt.brought_back,
        receipt.removed
    );
    let head = if dry_run {
        format!("Dry run, nothing was changed. Restoring {what} would mean {counts}:")
    } else {
        format!("Restored {what}: {counts}:")
    };
    let changes = changes.listed(changes::since(receipt.saved));
    format!("{head}{changes}{}{}", outside(receipt), changes::kept(receipt.saved))
}

/// Names the files that another program changed, where calls changed others: where editors and other programs
/// changed all of them, there is nothing to tell apart.
fn outside(receipt: &Receipt) -> String {
    let Receipt { changed_outside, written, brought_back, removed, .. } = receipt;
    match changed_outside.len() as u64 {
        0 => String::new(),
        count if count >= written + brought_back + removed => String::new(),
        _ => format!(
            "\nOf these, other programs changed since the last snapshot:{}",
            changes::listed(changed_outside)
        ),
    }
}
