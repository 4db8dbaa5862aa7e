//! `restore`: the files of a snapshot.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use wink_fs::{Receipt, RestoreOptions, StateRef, TreePath, Workspace};

use crate::history::changes::Changes;
use crate::history::missing_path::Both;
use crate::history::state::State;
use crate::history::{changes, missing_path, state};
use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::words::counted;

pub(crate) const TOOL: Tool = Tool {
    name: "restore",
    title: "Restore snapshot",
    description: "Makes all files those of a snapshot: files made since are removed, deleted ones \
                  come back. With `path` only that file or directory. What was there before is \
                  kept in another snapshot, and undo takes the restore back. With `dry_run` it \
                  only says what would change.",
    effect: Effect::Writes,
    family: Family::History,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// The snapshot: its tag, its id or the beginning of it, @- for the last one, @-2 for the one before, or a fork's name.
    snapshot: String,
    /// Only this file, or what is below this directory.
    path: Option<String>,
    /// Only say what would change.
    #[serde(default)]
    dry_run: bool,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let files = call.everything()?;
    let mut options = RestoreOptions::default().dry_run(params.dry_run).tell_outside(true);
    options.paths.extend(params.path.clone());
    let state = state::find(call, &params.snapshot)?;
    let one_sided = match &params.path {
        Some(path) => only_in_one(files, &state, call.path(path)?)?,
        None => None,
    };
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
    let (now, then) = (files.excluded(), snapshot.iter().flat_map(|it| &it.excluded));
    let message = message + &changes::excluded(now.patterns().chain(then.map(String::as_str)));
    let value = json!({
        "snapshot": snapshot.map(|it| it.id.to_string()),
        "saved": receipt.saved.map(|id| id.to_string()),
        "written": receipt.written,
        "brought_back": receipt.brought_back,
        "removed": receipt.removed,
        "unchanged": receipt.unchanged,
        "changes": changes.value(),
        "changed_outside": changes::paths(&receipt.changed_outside),
    });
    Ok(ToolResult::success(message, value))
}

/// Returns the path where only one side has it; one for which nothing could happen is refused.
fn only_in_one(
    files: &Workspace,
    state: &State,
    path: TreePath,
) -> Result<Option<TreePath>, ToolError> {
    if matches!(state, State::At(StateRef::Live)) {
        // It is refused as a snapshot.
        return Ok(None);
    }
    files.heed_exclusions().map_err(changes::refusal)?;
    let trees = [files.tree_without_excluded(), state.tree(files)?];
    let in_none = "neither in the workspace nor in the snapshot";
    let is_in_both = missing_path::is_in_both(files, &path, &Both { trees, in_none })?;
    Ok((!is_in_both).then_some(path))
}

fn message(receipt: &Receipt, changes: &Changes, what: &str, dry_run: bool) -> String {
    if changes.len() == 0 {
        return format!("The files are as in {what} already; nothing was changed.");
    }
    let counts = format!(
        "{} changed back, {} brought back, {} removed",
        counted(receipt.written, "file"),
        receipt.brought_back,
        receipt.removed
    );
    let head = if dry_run {
        format!("Nothing was changed (dry_run); {what} would mean {counts}:")
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
            "\nOf these, others than calls changed since the last snapshot:{}",
            changes::listed(changed_outside)
        ),
    }
}
