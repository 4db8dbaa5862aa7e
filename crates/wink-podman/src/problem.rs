//! What is wrong with Podman or a container.

use std::fmt;
use std::time::Duration;

use wink_agent::ToolError;
use wink_fs::{Error, ErrorKind, Operation};

/// Why no program can be run.
///
/// All of them are [`ErrorKind::Unavailable`]: the files can still be read and written. The text names no
/// path of the host.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// There is no such program.
    Missing,
    /// The program cannot be started.
    CannotStart(String),
    /// The program did not answer.
    Hangs(Duration),
    /// The program failed, and said this.
    Failed {
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// The last line it printed, without paths.
        said: String,
    },
    /// The program does not know what is needed of it.
    TooOld(String),
    /// The program printed something else than it should.
    Garbage,
    /// The image is not there, and nothing is fetched from a network.
    NoImage(String),
    /// The supervisor cannot run in this image or from this disk.
    NoSupervisor(String),
    /// The memory and the processors cannot be limited.
    NoLimits,
    /// The restrictions that Podman puts on system calls are not known.
    NoSeccomp,
    /// A directory for the container cannot be made.
    NoDirectory(String),
    /// The container ended, or its supervisor is not to be understood any more.
    Died,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("Podman is not installed"),
            Self::CannotStart(why) => write!(f, "Podman cannot be started ({why})"),
            Self::Hangs(time) => write!(f, "Podman did not answer within {} s", time.as_secs()),
            Self::Failed { code: Some(code), said } => {
                write!(f, "Podman failed with exit code {code}: {said}")
            }
            Self::Failed { code: None, said } => write!(f, "Podman was killed: {said}"),
            Self::TooOld(said) => write!(f, "this Podman is too old: {said}"),
            Self::Garbage => f.write_str("what Podman printed cannot be understood"),
            Self::NoImage(image) => {
                write!(f, "the image {image} is not on this machine; `podman pull {image}` fetches it")
            }
            Self::NoSupervisor(why) => write!(f, "the supervisor cannot run in the container ({why})"),
            Self::NoLimits => f.write_str(
                "the memory and the processors of a container cannot be limited here: a user other than root \
                 needs cgroups version 2 for it",
            ),
            Self::NoSeccomp => f.write_str(
                "Podman's seccomp profile is not in its usual place, so system calls cannot be restricted",
            ),
            Self::NoDirectory(why) => {
                write!(f, "a private directory for the container cannot be made ({why})")
            }
            Self::Died => f.write_str("the container ended"),
        }
    }
}

impl Problem {
    /// Explains a failure of Podman by what it printed.
    pub(crate) fn failed(code: Option<i32>, said: &[u8]) -> Self {
        let said = without_paths(said);
        let unknown = ["unknown flag", "unknown shorthand", "unknown command"];
        if unknown.iter().any(|it| said.contains(it)) {
            Self::TooOld(said)
        } else {
            Self::Failed { code, said }
        }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        let kind = match problem {
            Problem::NoLimits => ErrorKind::Unsupported,
            _ => ErrorKind::Unavailable,
        };
        Self::new(Operation::Open, kind).with_detail(problem.to_string())
    }
}

impl From<Problem> for ToolError {
    fn from(problem: Problem) -> Self {
        let kind = Error::from(problem.clone()).kind();
        let message =
            format!("No program can be run, because {problem}; the file tools still work.");
        Self::new(kind, message)
    }
}

/// Returns the last line that a program printed, without paths of the host.
pub(crate) fn without_paths(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line =
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
    let shown = line.split_whitespace().map(|word| {
        if word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').starts_with('/') {
            "…"
        } else {
            word
        }
    });
    let shown: Vec<_> = shown.collect();
    shown.join(" ").chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_podman_says_is_shown_without_paths_of_the_host() {
        let said = b"first\nError: statfs /home/me/secret: no such file\n\n";
        assert_eq!(without_paths(said), "Error: statfs … no such file");
        assert_eq!(without_paths(b"Error: \"/root/x\": \x1b[31mbad"), "Error: … [31mbad");
        assert_eq!(without_paths(b""), "nothing was said");
    }
}
