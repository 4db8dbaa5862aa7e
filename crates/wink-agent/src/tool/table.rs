//! The tables of tools, one for each family.

use serde_json::Value;

use crate::tool::Tool;
use crate::tool::context::ToolContext;
use crate::tool::result::ToolResult;
use crate::tool::set::Toolset;
use crate::tools;

/// The file tools, in the order they are shown.
pub(crate) static FILES: &[Tool] = &[
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

/// The history tools, in the order they are shown.
pub(crate) static HISTORY: &[Tool] = &[
    tools::snapshot::TOOL,
    tools::history::TOOL,
    tools::diff::TOOL,
    tools::restore::TOOL,
    tools::revert::TOOL,
    tools::undo::TOOL,
    tools::fork::TOOL,
    tools::merge::TOOL,
];

/// The tools that run programs, in the order they are shown.
pub(crate) static EXECUTION: &[Tool] = &[tools::shell_execute::TOOL, tools::evaluate_python::TOOL];

/// Finds a file tool by its name or an alias.
///
/// ```
/// assert_eq!(wink_agent::find("delete_file").map(|tool| tool.name), Some("rm"));
/// ```
pub fn find(name: &str) -> Option<&'static Tool> {
    Toolset::FILES.find(name)
}

/// Calls a file tool by name; an unknown name is a failed result.
pub fn call(context: &ToolContext, name: &str, arguments: Value) -> ToolResult {
    Toolset::FILES.call(context, name, arguments)
}
