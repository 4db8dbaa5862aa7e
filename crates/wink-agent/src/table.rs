//! The one table of tools.

use serde_json::Value;

use crate::context::ToolContext;
use crate::refusal::Refusal;
use crate::result::ToolResult;
use crate::suggest::nearest;
use crate::tool::Tool;
use crate::tools;

/// Every tool, in the order it is shown.
pub static TOOLS: &[Tool] = &[
    tools::ls::TOOL,
    tools::read_file::TOOL,
    tools::write_file::TOOL,
    tools::edit_file::TOOL,
    tools::multi_edit::TOOL,
    tools::apply_patch::TOOL,
    tools::mkdir::TOOL,
    tools::mv::TOOL,
    tools::rm::TOOL,
    tools::glob::TOOL,
    tools::grep::TOOL,
    tools::export::TOOL,
    tools::import::TOOL,
];

/// Names that tools had in other places, each with the one it has here.
const ALIASES: [(&str, &str); 2] = [("list_directory", "ls"), ("delete_file", "rm")];

/// Finds a tool by its exact name, or by one it is known by elsewhere.
///
/// ```
/// assert_eq!(wink_agent::find("delete_file").map(|tool| tool.name), Some("rm"));
/// ```
pub fn find(name: &str) -> Option<&'static Tool> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| *own);
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Calls a tool by name; an unknown name is a failed result.
pub fn call(context: &ToolContext, name: &str, arguments: Value) -> ToolResult {
    match find(name) {
        Some(tool) => tool.call(context, arguments),
        None => Refusal::invalid_argument(unknown_tool_message(name)).into(),
    }
}

/// Words the answer to a tool name that does not exist.
pub fn unknown_tool_message(name: &str) -> String {
    let names = TOOLS.iter().map(|tool| tool.name);
    let shown: String = name.chars().take(60).collect();
    match nearest(name, names.clone()) {
        Some(near) => format!("There is no tool `{shown}`; did you mean `{near}`?"),
        None => format!(
            "There is no tool `{shown}`; the tools are {}.",
            names.collect::<Vec<_>>().join(", ")
        ),
    }
}
