//! Tools that work for one session only.

use std::sync::Arc;

use serde_json::Value;
use wink_fs::ErrorKind;

use crate::refusal::Refusal;
use crate::session::Session;
use crate::tool::{Run, Tool};
use crate::tool_call::ToolCall;

/// Makes a tool refuse every context that is not one of a session.
pub(super) fn only_for(tool: Tool, session: &Session) -> Tool {
    let (inner, session) = (tool.clone(), session.clone());
    let run = move |call: &ToolCall<'_>, arguments: Value| match call
        .context()
        .session
        .as_ref()
        .is_some_and(|given| given.is_same(&session))
    {
        true => inner.run(call, arguments),
        false => Err(refusal(&inner)),
    };
    Tool { run: Run::Theirs(Arc::new(run)), ..tool }
}

fn refusal(tool: &Tool) -> Refusal {
    let message = format!(
        "`{}` belongs to another session and did nothing; use the tools of this session's prompt.",
        tool.name
    );
    Refusal::new(ErrorKind::PermissionDenied, message)
}
