//! Whose a call is, and on which files: the arguments that are no tool's own.

use serde_json::{Map, Value};
use wink_agent::{Tool, ToolContext, ToolError};
use wink_fs::ErrorKind;

use super::Endpoint;
use crate::mcp::declared_tools::{FORK, SESSION};

impl Endpoint {
    /// Returns the context of a call, and removes the names of its session and its fork from the arguments.
    pub(in super::super) fn context_of(
        &self,
        tool: &Tool,
        arguments: &mut Map<String, Value>,
    ) -> Result<ToolContext, ToolError> {
        let mut context = self.context.clone();
        if let Some(sessions) = &self.sessions
            && let Some(name) = taken(arguments, SESSION)
        {
            let (session, seen) = sessions.find(&name)?;
            context.seen = Some(seen);
            context = context.session(&session);
        }
        context.are_forks_reachable = self.has_forks();
        let takes_fork = self.has_forks() && tool.works_in_forks;
        context.caller_parameters = match (self.sessions.is_some(), takes_fork) {
            (true, true) => &[FORK, SESSION],
            (true, false) => &[SESSION],
            (false, true) => &[FORK],
            (false, false) => &[],
        };
        if takes_fork && let Some(name) = taken(arguments, FORK) {
            let name = name.as_str().ok_or_else(no_text)?;
            context.workspace = Some(context.forks.find(name)?);
            context.fork = Some(name.to_owned());
        }
        Ok(context)
    }
}

/// Takes an argument out that is there.
fn taken(arguments: &mut Map<String, Value>, name: &str) -> Option<Value> {
    arguments.remove(name).filter(|value| !value.is_null())
}

fn no_text() -> ToolError {
    let message = format!("`{FORK}` must be a string: the name of a fork.");
    ToolError::new(ErrorKind::InvalidArgument, message)
}
