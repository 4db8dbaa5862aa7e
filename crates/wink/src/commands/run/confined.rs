//! The options of the sandbox, and the command that they make.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use tempfile::TempDir;
use wink_agent::exec::HostExecutor;
use wink_sandbox::Sandbox;

use crate::cli::context::Context;
use crate::error::CliError;
use crate::project::{self, Project};

/// What a program may do beyond its workspace.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Sandbox options")]
pub(crate) struct SandboxArgs {
    /// Let the program use the network.
    #[arg(long)]
    net: bool,

    /// Let the program read another file or directory.
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,

    /// Let the program write to another file or directory; changes there cannot be undone.
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,

    /// Pass an environment variable on that may hold a secret.
    #[arg(long, value_name = "NAME")]
    env: Vec<OsString>,

    /// Run it with all your rights, also outside of the workspace; the operation log says so.
    #[arg(long, conflicts_with_all = ["net", "read", "write", "env"])]
    pub(crate) no_sandbox: bool,
}

/// A command that is ready to start.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) command: Command,
    program: OsString,
    /// The program's temporary directory; deleted afterwards.
    _temporary: Option<TempDir>,
}

impl SandboxArgs {
    /// Returns the sandbox for a workspace.
    pub(crate) fn sandbox(
        &self,
        context: &Context,
        root: &Path,
        project: Option<&Project>,
    ) -> Result<Sandbox, CliError> {
        let failed = |error| CliError::sandbox(&error);
        let mut sandbox = Sandbox::new(root).map_err(failed)?.network(self.net);
        for path in &self.read {
            sandbox = sandbox.readable(context.host_path(path)).map_err(failed)?;
        }
        for path in &self.write {
            sandbox = sandbox.writable(context.host_path(path)).map_err(failed)?;
        }
        sandbox = self.env.iter().fold(sandbox, Sandbox::variable);
        // All histories, and the settings: a program that could write there would be free to undo, and to hide it.
        let config = project::config_home().map(|home| home.join("wink"));
        let own = project.map(|it| it.directory.clone()).into_iter();
        let shared = project.map(Project::shared).transpose()?;
        let protected = own.chain(shared).chain(project::all_places().ok()).chain(config);
        Ok(protected.fold(sandbox, Sandbox::protect))
    }

    /// Returns what runs the programs of tools.
    pub(crate) fn executor(
        &self,
        context: &Context,
        root: &Path,
        project: Option<&Project>,
    ) -> Result<HostExecutor, CliError> {
        if self.no_sandbox {
            return Ok(HostExecutor::unsafe_on_this_machine()?);
        }
        self.check(context, root, project)?;
        Ok(HostExecutor::sandboxed(self.sandbox(context, root, project)?)?)
    }

    /// Returns whether any option is given.
    pub(crate) fn is_given(&self) -> bool {
        let lists = [self.read.is_empty(), self.write.is_empty(), self.env.is_empty()];
        self.net || self.no_sandbox || lists.contains(&false)
    }

    /// Fails if no program can be run so.
    pub(crate) fn check(
        &self,
        context: &Context,
        root: &Path,
        project: Option<&Project>,
    ) -> Result<(), CliError> {
        if self.no_sandbox {
            return Ok(());
        }
        self.sandbox(context, root, project)?.check().map_err(|error| CliError::sandbox(&error))
    }

    /// Returns the command that runs a program, in the sandbox or not.
    pub(crate) fn prepare(
        &self,
        context: &Context,
        root: &Path,
        project: Option<&Project>,
        program: &[OsString],
    ) -> Result<Prepared, CliError> {
        let (name, arguments) =
            program.split_first().ok_or_else(|| CliError::no_program(&OsString::new()))?;
        if self.no_sandbox {
            let mut command = Command::new(name);
            command.args(arguments);
            return Ok(Prepared { command, program: name.clone(), _temporary: None });
        }
        let temporary = tempfile::Builder::new().prefix("wink-run-").tempdir();
        let temporary = temporary.map_err(|error| CliError::other(&error))?;
        let failed = |error| CliError::sandbox(&error);
        let sandbox =
            self.sandbox(context, root, project)?.writable(temporary.path()).map_err(failed)?;
        let mut command = sandbox.command(name).map_err(failed)?;
        command.args(arguments).env("TMPDIR", temporary.path());
        Ok(Prepared { command, program: name.clone(), _temporary: Some(temporary) })
    }
}

impl Prepared {
    pub(super) fn not_started(&self, error: &io::Error) -> CliError {
        match error.kind() {
            ErrorKind::NotFound => CliError::no_program(&self.program),
            _ => CliError::cannot_invoke(&self.program, error),
        }
    }
}
