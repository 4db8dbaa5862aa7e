//! What a program may do, and the command that runs it so.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment;
use crate::error::SandboxError;
use crate::launcher::{self, landlock};
use crate::readable;

/// What a program may do.
///
/// ```
/// use wink_sandbox::Sandbox;
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let (project, history) = (directory.path().join("project"), directory.path().join("history"));
/// # std::fs::create_dir(&project).unwrap();
/// # std::fs::create_dir(&history).unwrap();
/// let sandbox = Sandbox::new(&project)?.protect(&history);
/// assert!(sandbox.command("make".as_ref()).is_ok());
/// let too_much = sandbox.writable(directory.path())?;
/// assert!(too_much.command("make".as_ref()).is_err(), "the history is below it");
/// # Ok::<(), wink_sandbox::SandboxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sandbox {
    writable: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    variables: Vec<OsString>,
    has_network: bool,
}

impl Sandbox {
    /// Creates a sandbox whose program writes to one directory, and to nothing else.
    pub fn new(workspace: impl AsRef<Path>) -> Result<Self, SandboxError> {
        Ok(Self {
            writable: vec![real_path(workspace.as_ref())?],
            readable: Vec::new(),
            protected: Vec::new(),
            variables: Vec::new(),
            has_network: false,
        })
    }

    /// Also lets the program write to another directory or file.
    pub fn writable(mut self, path: impl AsRef<Path>) -> Result<Self, SandboxError> {
        self.writable.push(real_path(path.as_ref())?);
        Ok(self)
    }

    /// Also lets the program read another directory or file.
    pub fn readable(mut self, path: impl AsRef<Path>) -> Result<Self, SandboxError> {
        self.readable.push(real_path(path.as_ref())?);
        Ok(self)
    }

    /// Refuses to run a program that could write below a directory.
    #[must_use]
    pub fn protect(mut self, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        self.protected.push(readable::real_path(directory).unwrap_or_else(|| directory.to_owned()));
        self
    }

    /// Passes another environment variable on, if it is set.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>) -> Self {
        self.variables.push(name.into());
        self
    }

    /// Lets the program use IP sockets.
    #[must_use]
    pub fn network(mut self, has_network: bool) -> Self {
        self.has_network = has_network;
        self
    }

    /// Returns the command that runs a program in the sandbox; arguments, streams and further variables are the caller's.
    ///
    /// The process that it starts is the launcher, which ends as the program did, or with [`FAILED`](crate::FAILED). When
    /// it gets SIGTERM or SIGHUP it ends the program with all its descendants first; SIGKILL leaves it no time for that.
    pub fn command(&self, program: &OsStr) -> Result<Command, SandboxError> {
        self.check()?;
        // Not its path, at which an update may have put another program meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.arg(launcher::NAME);
        let usual = readable::usual(&self.protected);
        let paths = |flag: &'static str, paths: &[PathBuf]| -> Vec<OsString> {
            paths.iter().flat_map(|path| [flag.into(), path.clone().into_os_string()]).collect()
        };
        command.args(paths(launcher::WRITE, &self.writable));
        command.args(paths(launcher::READ, &usual)).args(paths(launcher::READ, &self.readable));
        if self.has_network {
            command.arg(launcher::NETWORK);
        }
        command.arg(launcher::PROGRAM).arg(program);
        let passed =
            env::vars_os().filter(|(name, _)| environment::is_passed(name, &self.variables));
        command.env_clear().envs(passed);
        Ok(command)
    }

    /// Fails if the kernel cannot enforce the rules, or if the program could write to what is protected.
    pub fn check(&self) -> Result<(), SandboxError> {
        for writable in &self.writable {
            let leads_to = |protected: &&PathBuf| {
                protected.starts_with(writable) || writable.starts_with(protected)
            };
            if let Some(protected) = self.protected.iter().find(leads_to) {
                let (writable, protected) = (writable.clone(), protected.clone());
                return Err(SandboxError::Protected { writable, protected });
            }
        }
        landlock::check()
    }
}

fn real_path(path: &Path) -> Result<PathBuf, SandboxError> {
    readable::real_path(path)
        .ok_or_else(|| SandboxError::path(path, io::ErrorKind::NotFound.into()))
}
