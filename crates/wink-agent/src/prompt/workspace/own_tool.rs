//! Tools that work for one session only.

use std::sync::Arc;

use serde_json::Value;

use crate::session::Session;
use crate::tool::call::ToolCall;
use crate::tool::{Run, Tool};

/// Makes a tool refuse every context that is not one of a session.
pub(crate) fn only_for(tool: Tool, session: &Session) -> Tool {
    let (inner, session) = (tool.clone(), session.clone());
    let run = move |call: &ToolCall<'_>, arguments: Value| {
        call.context().check_session(&session, inner.name)?;
        inner.run(call, arguments)
    };
    Tool { run: Run::Theirs(Arc::new(run)), ..tool }
}
