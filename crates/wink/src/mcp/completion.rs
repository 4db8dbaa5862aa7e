//! Completion of references to states and of paths, for the arguments of prompts and of resource templates.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompletionInfo};
use wink_agent::ToolContext;
use wink_fs::{ErrorKind, Kind, StateRef, TreePath};

/// Completes an argument, whatever it belongs to: one name always means the same.
pub(super) fn complete(
    context: &ToolContext,
    request: &CompleteRequestParams,
) -> Result<CompletionInfo, ErrorData> {
    let typed = &request.argument.value;
    let mut values = match request.argument.name.as_str() {
        "since" | "id" | "tag" => states(context, typed).map_err(failed)?,
        "path" => paths(context, &request_state(request), typed).map_err(failed)?,
        _ => Vec::new(),
    };
    let total = u32::try_from(values.len()).ok();
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(values, total, has_more)
        .map_err(|why| ErrorData::internal_error(why, None))
}

fn failed(error: wink_fs::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Returns the state that a path is of: the snapshot that the template's `id` names, or the current files.
fn request_state(request: &CompleteRequestParams) -> StateRef {
    let known = request.context.as_ref().and_then(|context| context.get_argument("id"));
    known.map_or(StateRef::Live, |id| StateRef::from(id.as_str()))
}

/// Returns tags and short ids that begin as typed, those of the newest snapshots first.
fn states(context: &ToolContext, typed: &str) -> wink_fs::Result<Vec<String>> {
    let all = context.workspace.as_ref().map(|files| files.snapshots());
    let all = match all {
        // Without a history there are none.
        Some(Err(error)) if error.kind() == ErrorKind::Unsupported => Vec::new(),
        all => all.transpose()?.unwrap_or_default(),
    };
    let names = all.into_iter().rev().flat_map(|it| {
        let short = it.id.short();
        it.tag.into_iter().chain([short])
    });
    Ok(names.filter(|name| name.starts_with(typed)).collect())
}

/// Returns the entries of a directory that begin as typed; directories end in `/`.
fn paths(context: &ToolContext, at: &StateRef, typed: &str) -> wink_fs::Result<Vec<String>> {
    let Ok(tree) = context.look(at.clone()) else { return Ok(Vec::new()) };
    let (directory, _) = typed.rsplit_once('/').unwrap_or_default();
    let Ok(directory) = TreePath::parse(directory) else { return Ok(Vec::new()) };
    let Ok(entries) = tree.list(&directory) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let path = directory.join(&entry.name)?.to_string();
        if path.starts_with(typed) {
            found.push(if entry.kind == Kind::Directory { path + "/" } else { path });
        }
    }
    Ok(found)
}
