//! An executor that runs nothing.

use std::fmt;

use wink_fs::ExecutionPlace;
use wink_fs::search::Stop;

use super::{Command, Executed, Executor};
use crate::tool::error::ToolError;

type Script =
    dyn Fn(&Command, &mut ExecutionPlace<'_>) -> Result<Executed, ToolError> + Send + Sync;

/// Answers commands by a function, for tests and demonstrations.
///
/// The function may change the files it is given, as a program would.
///
/// ```
/// use serde_json::json;
/// use std::sync::Arc;
/// use wink_agent::exec::{Executed, ScriptedExecutor};
/// use wink_agent::{ToolContext, Toolset};
/// use wink_fs::{TreePath, WriteOptions, ops};
///
/// let executor = ScriptedExecutor::new(|_, place| {
///     ops::write(place.files, &TreePath::parse("out.txt")?, "built", &WriteOptions::default())?;
///     Ok(Executed::exit(0))
/// });
/// let files = wink_fs::Workspace::memory();
/// let context = ToolContext::over(&files).executor(Arc::new(executor));
/// let built = Toolset::ALL.call(&context, "shell_execute", json!({"command": "make"}));
/// assert!(built.message.contains("A out.txt"), "{}", built.message);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub struct ScriptedExecutor(Box<Script>);

impl ScriptedExecutor {
    /// Creates an executor from a function.
    pub fn new(
        script: impl Fn(&Command, &mut ExecutionPlace<'_>) -> Result<Executed, ToolError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Box::new(script))
    }
}

impl Executor for ScriptedExecutor {
    fn run(
        &self,
        command: &Command,
        place: &mut ExecutionPlace<'_>,
        _: &Stop,
    ) -> Result<Executed, ToolError> {
        (self.0)(command, place)
    }
}

impl fmt::Debug for ScriptedExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptedExecutor")
    }
}
