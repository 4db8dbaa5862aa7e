//! Looks up tools by name, and explains names that are not offered.

use wink_agent::{Effect, Family, Tool, ToolError, Toolset};
use wink_fs::ErrorKind;

use super::Endpoint;

/// The result of looking up a tool by name.
pub(in super::super) enum Found {
    Tool(&'static Tool),
    /// It cannot be used here.
    Refused(ToolError),
    Unknown,
}

impl Endpoint {
    /// Finds a tool that is offered.
    pub(in super::super) fn find(&self, name: &str) -> Found {
        let Some(tool) = self.tools.find(name) else { return Found::Unknown };
        match self.offered().find(|offered| offered.name == tool.name) {
            Some(tool) => Found::Tool(tool),
            None if self.only_reads && tool.effect == Effect::Writes => {
                Found::Refused(only_reads(tool))
            }
            None if tool.family == Family::History => Found::Refused(no_history(tool)),
            None => Found::Unknown,
        }
    }

    /// Words the answer to a tool name that is not offered.
    pub(in super::super) fn unknown_tool_message(&self, name: &str) -> String {
        Toolset::unknown_tool_message(name, self.offered())
    }
}

/// Refuses a tool that changes files.
fn only_reads(tool: &Tool) -> ToolError {
    let message = format!(
        "`{}` changes files, and this server was started read-only; nothing was changed.",
        tool.name
    );
    ToolError::new(ErrorKind::ReadOnly, message)
}

/// Refuses a tool that works on a history.
fn no_history(tool: &Tool) -> ToolError {
    let message = format!(
        "`{}` needs a history, and this workspace keeps none; use the file tools.",
        tool.name
    );
    ToolError::new(ErrorKind::Unsupported, message)
}
