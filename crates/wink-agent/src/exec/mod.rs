//! Running programs for a model.
//!
//! A context without an [`Executor`] runs none. The embedding program chooses one: [`ScriptedExecutor`] runs
//! nothing, [`HostExecutor`] runs programs on this machine, in a sandbox or not.

mod command;
mod executed;
#[cfg(target_os = "linux")]
mod host;
mod output;
mod outputs;
pub(crate) mod report;
mod scripted;

use std::fmt;
use std::time::Duration;

use wink_fs::ExecutionPlace;
use wink_fs::search::Stop;

use crate::tool::error::ToolError;

pub use self::command::{Command, Program};
pub use self::executed::{Ended, Executed};
#[cfg(target_os = "linux")]
pub use self::host::{HostExecutor, run_process};
pub use self::output::{Output, OutputCollector};
pub use self::outputs::Outputs;
pub use self::scripted::ScriptedExecutor;

/// How long a program may run unless the call sets a timeout.
pub(crate) const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest timeout that a call may set.
pub(crate) const MAX_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs programs on the files of a workspace.
///
/// # Contract
///
/// - A program that ends, however it does, is a result; an error means that none was run to its end, and
///   its changes are rolled back if there is a history.
/// - When `stop` says so, the program and all that it started is ended. At a deadline that is a result
///   that says so; a call that was cancelled is an error.
/// - When `run` returns, nothing that it started changes files any more.
/// - Memory stays bounded, whatever a program prints.
///
/// ```
/// use serde_json::json;
/// use std::sync::Arc;
/// use wink_agent::exec::{Executed, ScriptedExecutor};
/// use wink_agent::{ToolContext, Toolset};
///
/// let executor = ScriptedExecutor::new(|command, _| {
///     Ok(Executed::exit(0).stdout(format!("ran {}", command.program)))
/// });
/// let context =
///     ToolContext::over(&wink_fs::Workspace::memory()).executor(Arc::new(executor));
/// let result = Toolset::ALL.call(&context, "shell_execute", json!({"command": "make"}));
/// assert!(result.message.contains("ran make"));
/// ```
pub trait Executor: Send + Sync + fmt::Debug {
    /// Runs a program until it ends or `stop` ends it.
    fn run(
        &self,
        command: &Command,
        place: &mut ExecutionPlace<'_>,
        stop: &Stop,
    ) -> Result<Executed, ToolError>;

    /// Returns what the operation log adds to the name of the tool, such as that there was no sandbox.
    fn remark(&self) -> Option<&'static str> {
        None
    }

    /// Returns the longest timeout that a call may set.
    fn max_timeout(&self) -> Duration {
        MAX_TIMEOUT
    }

    /// Ends what the executor keeps between programs, such as a container, and a program that still runs.
    fn stop(&self) {}
}
