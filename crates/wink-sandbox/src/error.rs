//! Why no program can be run in a sandbox.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why no program can be run in a sandbox.
///
/// ```
/// use wink_sandbox::Sandbox;
///
/// let error = Sandbox::new("/no/such/directory").unwrap_err();
/// assert!(error.to_string().starts_with("cannot use `/no/such/directory`"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum SandboxError {
    /// A directory or file that the sandbox was given cannot be used.
    Path {
        /// Its path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A path that the program may write to leads to what must be protected.
    Protected {
        /// The path that it may write to.
        writable: PathBuf,
        /// What is protected.
        protected: PathBuf,
    },
    /// The kernel cannot enforce a rule.
    Unsupported {
        /// What is missing.
        missing: String,
    },
    /// Anything else that failed.
    Failed {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl SandboxError {
    pub(crate) fn path(path: &Path, source: io::Error) -> Self {
        Self::Path { path: path.to_owned(), source }
    }

    pub(crate) fn failed(doing: &'static str, source: impl Into<io::Error>) -> Self {
        Self::Failed { doing, source: source.into() }
    }

    pub(crate) fn unsupported(missing: impl Into<String>) -> Self {
        Self::Unsupported { missing: missing.into() }
    }
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path { path, source } => write!(f, "cannot use `{}`: {source}", path.display()),
            Self::Protected { writable, protected } => write!(
                f,
                "a program that may write to `{}` could change `{}`",
                writable.display(),
                protected.display()
            ),
            Self::Unsupported { missing } => write!(f, "this kernel has no {missing}"),
            Self::Failed { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}

impl Error for SandboxError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Path { source, .. } | Self::Failed { source, .. } => Some(source),
            Self::Protected { .. } | Self::Unsupported { .. } => None,
        }
    }
}
