//! Calls and answers as one text.

use std::fmt::Write as _;

use serde_json::Value;
use wink_agent::{ToolContext, ToolResult, call};
use wink_fs::Workspace;

/// Makes the calls in order and shows each with its answer.
pub(crate) fn transcript(workspace: &Workspace, calls: &[(&str, Value)]) -> String {
    let mut text = String::new();
    for (name, arguments) in calls {
        let ToolResult { message, value, .. } =
            call(&ToolContext::over(workspace), name, arguments.clone());
        let _ = writeln!(text, "> {name} {arguments}\n{message}\n= {value}\n");
    }
    text
}
