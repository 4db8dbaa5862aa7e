//! An executor that runs anything, on this machine.

mod process;

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command as SystemCommand;
use std::time::Duration;

use wink_fs::search::Stop;
use wink_fs::{Error, ErrorKind, ExecutionPlace, Kind, Operation};

pub use self::process::run_process;
use super::{Command, Executed, Executor, MAX_TIMEOUT, Outputs, Program};
use crate::tool::error::ToolError;

/// The default `PATH` of programs.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Runs commands on this machine, with all that the process itself may do. **This is not a sandbox.**
///
/// A command begins in the workspace, but nothing keeps it there: it reads every file that the process
/// may read, uses the network, and starts what it likes. Use it only if the agent that calls the tools is
/// trusted with the machine, or if the machine itself is the sandbox.
///
/// What it does: an environment of its own (no variable of the process is passed on), a home outside the
/// workspace, a process group that is killed as a whole when time is over, when the call is cancelled and
/// when the command has ended, and bounded output. A program that makes a session of its own (`setsid`)
/// escapes the group, and with it the kill.
///
/// ```
/// use serde_json::json;
/// use std::sync::Arc;
/// use wink_agent::exec::HostExecutor;
/// use wink_agent::{ToolContext, Toolset};
///
/// # let directory = tempfile::tempdir().unwrap();
/// let files = wink_fs::Workspace::host(directory.path())?;
/// let executor = HostExecutor::unsafe_on_this_machine()?;
/// let context = ToolContext::over(&files).executor(Arc::new(executor));
/// let said = Toolset::ALL.call(&context, "shell_execute", json!({"command": "echo hello"}));
/// assert!(said.message.contains("hello"), "{}", said.message);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub struct HostExecutor {
    outputs: Outputs,
    path: String,
    max_timeout: Duration,
}

impl HostExecutor {
    /// Creates an executor that gives the agent the rights of this process.
    pub fn unsafe_on_this_machine() -> wink_fs::Result<Self> {
        let outputs =
            Outputs::temporary().map_err(|error| Error::system(Operation::Open, error))?;
        Ok(Self { outputs, path: USUAL_PATH.to_owned(), max_timeout: MAX_TIMEOUT })
    }

    /// Sets the `PATH` of programs.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the longest timeout that a call may set.
    #[must_use]
    pub fn max_timeout(mut self, max_timeout: Duration) -> Self {
        self.max_timeout = max_timeout;
        self
    }

    /// Returns the saved output of programs.
    pub fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    fn prepared(&self, command: &Command, directory: PathBuf) -> SystemCommand {
        let (program, option, text) = match &command.program {
            Program::Shell(text) => ("sh", "-c", text),
            Program::Python(text) => ("python3", "-c", text),
        };
        let mut prepared = SystemCommand::new(program);
        prepared.args([option, text]).current_dir(directory).env_clear();
        prepared.env("PATH", &self.path).env("HOME", self.outputs.directory());
        prepared.env("LANG", "C.UTF-8").env("PYTHONDONTWRITEBYTECODE", "1");
        prepared.envs(&command.env);
        prepared
    }
}

impl Executor for HostExecutor {
    fn run(
        &self,
        command: &Command,
        place: &mut ExecutionPlace<'_>,
        stop: &Stop,
    ) -> Result<Executed, ToolError> {
        let directory = directory(command, place)?;
        let outputs = self.outputs.watched(command.watch.as_ref());
        run_process(self.prepared(command, directory), &command.stdin, &outputs, stop)
    }

    fn max_timeout(&self) -> Duration {
        self.max_timeout
    }
}

/// Returns the directory to run in; links on the way to it are refused.
fn directory(command: &Command, place: &ExecutionPlace<'_>) -> Result<PathBuf, ToolError> {
    let root = place.directory.clone().ok_or_else(|| {
        ToolError::new(
            ErrorKind::Unsupported,
            "The files are in memory, where no program can be run; use the file tools.",
        )
    })?;
    match place.files.stat(&command.cwd)?.kind {
        Kind::Directory => Ok(root.join(OsStr::from_bytes(command.cwd.as_bytes()))),
        _ => Err(Error::new(Operation::Open, ErrorKind::NotADirectory)
            .with_path(&command.cwd)
            .with_detail("`cwd` must be a directory; name one that ls shows")
            .into()),
    }
}

impl fmt::Debug for HostExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostExecutor(UNSAFE: runs anything with the rights of this process)")
    }
}
