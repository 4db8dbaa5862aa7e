//! An executor for programs on this machine.

mod process;

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command as SystemCommand;
use std::time::Duration;

use tempfile::TempDir;
use wink_fs::search::Stop;
use wink_fs::{Error, ErrorKind, ExecutionPlace, Kind, Operation};
use wink_sandbox::{Sandbox, SandboxError};

use self::process::Ender;
pub use self::process::run_process;
use super::{Command, Executed, Executor, MAX_TIMEOUT, Output, Outputs, Program};
use crate::tool::error::ToolError;

/// The default `PATH` of programs outside of a sandbox.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Where tools keep themselves, below the user's home, and the variable that says so. Programs have another home.
const TOOLCHAINS: [(&str, &str); 2] = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")];

/// Runs commands on this machine, [in a sandbox](Self::sandboxed) or [not](Self::unsafe_on_this_machine).
///
/// Commands get a home outside of the workspace, which is deleted with the executor. Output is bounded.
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
    home: TempDir,
    sandbox: Option<Sandbox>,
    path: Option<String>,
    max_timeout: Duration,
    shares_outputs: bool,
}

impl HostExecutor {
    /// Creates an executor that runs every command in a sandbox, which must let it write to the workspace.
    ///
    /// The embedding program calls [`wink_sandbox::launch`] first thing in `main`. A command that ends takes every process
    /// that it started with it.
    pub fn sandboxed(sandbox: Sandbox) -> wink_fs::Result<Self> {
        let executor = Self::unsafe_on_this_machine()?;
        let sandbox = sandbox.writable(executor.home.path()).map_err(unconfined)?;
        sandbox.check().map_err(unconfined)?;
        Ok(Self { sandbox: Some(sandbox), ..executor })
    }

    /// Creates an executor that gives the agent the rights of this process. **This is not a sandbox.**
    ///
    /// A command begins in the workspace, but nothing keeps it there: it reads every file that the process may read, uses
    /// the network, and starts what it likes. Use it only if the agent that calls the tools is trusted with the machine, or
    /// if the machine itself is the sandbox.
    ///
    /// What it does: an environment of its own (no variable of the process is passed on), and a process group that is
    /// killed as a whole when time is over, when the call is cancelled and when the command has ended. A program that makes
    /// a session of its own (`setsid`) escapes the group, and with it the kill.
    pub fn unsafe_on_this_machine() -> wink_fs::Result<Self> {
        let failed = |error| Error::system(Operation::Open, error);
        let outputs = Outputs::temporary().map_err(failed)?;
        let home = tempfile::Builder::new().prefix("wink-home-").tempdir().map_err(failed)?;
        Ok(Self {
            outputs,
            home,
            sandbox: None,
            path: None,
            max_timeout: MAX_TIMEOUT,
            shares_outputs: false,
        })
    }

    /// Sets the `PATH` of programs.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the longest timeout that a call may set.
    #[must_use]
    pub fn max_timeout(mut self, max_timeout: Duration) -> Self {
        self.max_timeout = max_timeout;
        self
    }

    /// Saves output that is too long to show in another place.
    #[must_use]
    pub fn save_outputs(mut self, outputs: Outputs) -> Self {
        self.outputs = outputs;
        self
    }

    /// Lets a model read saved output with its next commands: a copy is in their home.
    #[must_use]
    pub fn share_outputs(mut self) -> Self {
        self.shares_outputs = true;
        self
    }

    /// Copies an output that is not shown as a whole.
    #[allow(clippy::disallowed_methods, reason = "both directories are the executor's own")]
    fn share(&self, output: &mut Output) {
        let Some(name) = output.saved().map(str::to_owned) else { return };
        // Nothing that was run is left to change it, and no program knew its name.
        if std::fs::copy(self.outputs.directory().join(&name), self.home.path().join(&name)).is_ok()
        {
            output.share_as(format!("~/{name}"));
        }
    }

    /// Returns the saved output of programs.
    pub fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    fn prepared(&self, command: &Command, directory: PathBuf) -> Result<SystemCommand, ToolError> {
        let (program, option, text) = match &command.program {
            Program::Shell(text) => ("sh", "-c", text),
            Program::Python(text) => ("python3", "-c", text),
        };
        let mut prepared = match &self.sandbox {
            Some(sandbox) => in_sandbox(sandbox, program)?,
            None => outside(program),
        };
        prepared.args([option, text]).current_dir(directory);
        prepared.env("HOME", self.home.path()).env("TMPDIR", self.home.path());
        prepared.env("LANG", "C.UTF-8").env("PYTHONDONTWRITEBYTECODE", "1");
        if let Some(path) = &self.path {
            prepared.env("PATH", path);
        }
        prepared.envs(&command.env);
        Ok(prepared)
    }
}

fn in_sandbox(sandbox: &Sandbox, program: &str) -> Result<SystemCommand, ToolError> {
    let mut prepared = sandbox.command(program.as_ref()).map_err(unconfined)?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    for (variable, directory) in TOOLCHAINS {
        let usual = home.as_ref().map(|home| home.join(directory));
        if let (None, Some(usual)) = (std::env::var_os(variable), usual) {
            prepared.env(variable, usual);
        }
    }
    Ok(prepared)
}

fn outside(program: &str) -> SystemCommand {
    let mut prepared = SystemCommand::new(program);
    prepared.env_clear().env("PATH", USUAL_PATH);
    prepared
}

fn unconfined(error: SandboxError) -> Error {
    // Names no path: that of the home means nothing to a model.
    let detail = match error {
        SandboxError::Unsupported { missing } => {
            format!("there is no sandbox, because this kernel has no {missing}")
        }
        SandboxError::Protected { .. } => {
            "there is no sandbox that keeps the history out of reach".to_owned()
        }
        _ => "the sandbox cannot be made".to_owned(),
    };
    Error::new(Operation::Open, ErrorKind::Unsupported)
        .with_detail(detail + ", so no program is run; use the file tools")
}

impl Executor for HostExecutor {
    fn run(
        &self,
        command: &Command,
        place: &mut ExecutionPlace<'_>,
        stop: &Stop,
    ) -> Result<Executed, ToolError> {
        let directory = directory(command, place)?;
        let ender = if self.sandbox.is_some() { Ender::Launcher } else { Ender::Group };
        let prepared = self.prepared(command, directory)?;
        let mut executed = process::run(prepared, &command.stdin, &self.outputs, stop, ender)?;
        if self.shares_outputs {
            self.share(&mut executed.stdout);
            self.share(&mut executed.stderr);
        }
        Ok(executed)
    }

    fn remark(&self) -> Option<&'static str> {
        if self.sandbox.is_some() { None } else { Some("no sandbox") }
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
        f.write_str(match self.sandbox {
            Some(_) => "HostExecutor(in a sandbox)",
            None => "HostExecutor(UNSAFE: runs anything with the rights of this process)",
        })
    }
}
