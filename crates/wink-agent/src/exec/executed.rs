//! The result of running a program.

use std::time::Duration;

use super::output::Output;

/// The result of running a program.
///
/// ```
/// use wink_agent::exec::{Ended, Executed};
///
/// let failed = Executed::exit(2).stderr("no rule to make target");
/// assert_eq!(failed.ended, Ended::Exit(2));
/// assert_eq!(failed.stderr.text(), "no rule to make target");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Executed {
    /// How it ended.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: Output,
    /// Its standard error.
    pub stderr: Output,
    /// How long it took.
    pub duration: Duration,
    /// Whether it was ended by the timeout.
    pub timed_out: bool,
    /// What else the caller should know about the run.
    pub note: Option<String>,
}

/// How a program ended.
///
/// ```
/// use wink_agent::exec::Ended;
///
/// assert_eq!(Ended::Signal(9).to_string(), "was ended by signal 9");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// By itself, with a code.
    Exit(i32),
    /// By a signal.
    Signal(i32),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "ended with exit code {code}"),
            Self::Signal(number) => write!(f, "was ended by signal {number}"),
        }
    }
}

impl Executed {
    /// Creates the result of a program that ended by itself and printed nothing.
    pub fn exit(code: i32) -> Self {
        Self::ended(Ended::Exit(code))
    }

    /// Creates the result of a program that printed nothing.
    pub fn ended(ended: Ended) -> Self {
        let stdout = Output::default();
        let stderr = Output::default();
        Self { ended, stdout, stderr, duration: Duration::ZERO, timed_out: false, note: None }
    }

    /// Sets its standard output.
    #[must_use]
    pub fn stdout(mut self, text: impl Into<Output>) -> Self {
        self.stdout = text.into();
        self
    }

    /// Sets its standard error.
    #[must_use]
    pub fn stderr(mut self, text: impl Into<Output>) -> Self {
        self.stderr = text.into();
        self
    }

    /// Sets how long it took.
    #[must_use]
    pub fn duration(mut self, duration: Duration) -> Self {
        self.duration = duration;
        self
    }

    /// Sets what else the caller should know.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Marks it as ended by the timeout.
    #[must_use]
    pub fn timed_out(mut self, timed_out: bool) -> Self {
        self.timed_out = timed_out;
        self
    }
}
