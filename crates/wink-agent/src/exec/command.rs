//! A command to run.

use std::collections::BTreeMap;
use std::fmt;

use wink_fs::TreePath;

use super::watch::OutputWatch;

/// A program to run, and its environment.
///
/// ```
/// use wink_agent::exec::{Command, Program};
///
/// let command = Command::new(Program::Shell("ls".to_owned()));
/// assert!(command.cwd.is_root() && command.env.is_empty() && command.stdin.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// The program.
    pub program: Program,
    /// The directory of the workspace it is run in.
    pub cwd: TreePath,
    /// Environment variables beside those of the executor.
    pub env: BTreeMap<String, String>,
    /// Its standard input.
    pub stdin: String,
    /// What is told of its output while it runs.
    pub watch: Option<OutputWatch>,
}

impl Command {
    /// Runs a program in the root of the workspace, with empty input.
    pub fn new(program: Program) -> Self {
        let cwd = TreePath::root();
        let env = BTreeMap::new();
        Self { program, cwd, env, stdin: String::new(), watch: None }
    }
}

/// A program as a model writes it.
///
/// ```
/// use wink_agent::exec::Program;
///
/// assert_eq!(Program::Python("print(1)".to_owned()).to_string(), "print(1)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Program {
    /// A command for the shell.
    Shell(String),
    /// A program in Python.
    Python(String),
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(text) | Self::Python(text) => f.write_str(text),
        }
    }
}
