//! `ls`: what is in a directory.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wink_fs::ops::{self, ListOptions, Listed};
use wink_fs::{Kind, TreePath};

use crate::refusal::Refusal;
use crate::result::ToolResult;
use crate::tool::{Effect, Run, Tool};
use crate::tool_call::ToolCall;
use crate::{arguments, schema};

pub(crate) const TOOL: Tool = Tool {
    name: "ls",
    title: "List directory",
    description: "Lists the direct children of a directory, sorted by name, each with its kind \
                  and its size in bytes. Without a path it lists the workspace root.",
    effect: Effect::Reads,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// Directory to list, relative to the workspace root.
    #[serde(default = "root")]
    path: String,
}

fn root() -> String {
    ".".to_owned()
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, Refusal> {
    let path = call.path(&params.path)?;
    let entries = ops::list(&*call.tree(), &path, &ListOptions::default().sizes(true))?;
    Ok(ToolResult::success(message(&path, &entries), value(&path, &entries)))
}

fn message(path: &TreePath, entries: &[Listed]) -> String {
    if entries.is_empty() {
        return format!("The directory {path} is empty. Create a file in it with write_file.");
    }
    let mut message = format!("{path}: {}\n", counted(entries));
    entries.iter().for_each(|entry| message.push_str(&line(entry)));
    message
}

/// Kinds in the order they are counted, in the plural.
const COUNTED: [(Kind, &str); 4] = [
    (Kind::Directory, "directories"),
    (Kind::File, "files"),
    (Kind::Symlink, "symlinks"),
    (Kind::Other, "others"),
];

fn counted(entries: &[Listed]) -> String {
    let count = |wanted| entries.iter().filter(|entry| entry.kind == wanted).count();
    let counts = COUNTED.map(|(kind, plural)| (count(kind), plural));
    let present = counts.iter().filter(|(count, _)| *count > 0);
    present.map(|(count, plural)| format!("{plural} {count}")).collect::<Vec<_>>().join(", ")
}

fn line(entry: &Listed) -> String {
    let size = entry.size_bytes.map_or("-".to_owned(), |size| size.to_string());
    format!("{:<9} {size:>10} {}\n", entry.kind.to_string(), entry.name)
}

fn value(path: &TreePath, entries: &[Listed]) -> Value {
    let entries: Vec<Value> = entries.iter().map(entry_value).collect();
    json!({"path": path.to_string(), "entries": entries})
}

fn entry_value(entry: &Listed) -> Value {
    json!({"name": entry.name, "kind": entry.kind.to_string(), "size_bytes": entry.size_bytes})
}
