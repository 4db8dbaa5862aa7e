//! The one dialect of patterns for paths.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet};

use crate::error::{Error, ErrorKind, Operation, Result};
use crate::limits::Limits;
use crate::path::TreePath;

/// Matches paths relative to a base, in the dialect of [`search`](crate::search).
///
/// ```
/// use wink_fs::search::PathPattern;
/// use wink_fs::{Limits, TreePath};
///
/// let pattern = PathPattern::parse("**/*.{rs,toml}", &Limits::default())?;
/// assert!(pattern.matches(&TreePath::parse("Cargo.toml")?));
/// assert!(pattern.matches(&TreePath::parse("src/main.rs")?));
/// assert!(!pattern.matches(&TreePath::parse("README.md")?));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PathPattern {
    glob: GlobSet,
    names_only: bool,
}

impl PathPattern {
    /// Parses a pattern; one that does not parse, or is too long, is InvalidPattern.
    pub fn parse(pattern: &str, limits: &Limits) -> Result<Self> {
        check_length(Operation::Glob, pattern, limits)?;
        let text = pattern.trim_start_matches("./").trim_start_matches('/');
        let glob = compile(text).map_err(|error| match error.kind() {
            globset::ErrorKind::Regex(_) => invalid(Operation::Glob, pattern, "it is too complex"),
            kind => invalid(Operation::Glob, pattern, &kind.to_string()),
        })?;
        Ok(Self { glob, names_only: !pattern.contains('/') })
    }

    /// Tells whether a path relative to the base matches.
    pub fn matches(&self, path: &TreePath) -> bool {
        self.matches_bytes(path.as_bytes())
    }

    /// Tells the same of a path given as its own bytes.
    pub(super) fn matches_bytes(&self, path: &[u8]) -> bool {
        let part = match memchr::memrchr(b'/', path) {
            Some(at) if self.names_only => &path[at + 1..],
            _ => path,
        };
        self.glob.is_match(std::path::Path::new(&*as_text(part)))
    }
}

/// Compiles a pattern as a set of one, which refuses what is nested too deeply where a single matcher panics.
fn compile(pattern: &str) -> Result<GlobSet, globset::Error> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(false)
        .empty_alternates(true)
        .build()?;
    GlobSet::new([glob])
}

/// Returns the text a pattern is matched against: what listings show.
fn as_text(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(text) if path.iter().all(|b| matches!(b, b' '..=b'[' | b']'..=b'~')) => {
            Cow::Borrowed(text)
        }
        _ => TreePath::from_disk(path).map_or(Cow::Borrowed(""), |path| path.to_string().into()),
    }
}

/// Refuses a pattern that is longer than any sensible one.
pub(super) fn check_length(operation: Operation, pattern: &str, limits: &Limits) -> Result<()> {
    let (size, max) = (pattern.len(), limits.max_pattern_bytes);
    if size <= max {
        return Ok(());
    }
    let why =
        format!("it has {size} bytes and at most {max} are allowed (limit max_pattern_bytes)");
    Err(invalid(operation, pattern, &why))
}

/// Says what is wrong with a pattern.
pub(super) fn invalid(operation: Operation, pattern: &str, why: &str) -> Error {
    Error::new(operation, ErrorKind::InvalidPattern)
        .with_path_text(pattern)
        .with_detail(format!("the pattern cannot be used: {why}; correct it"))
}
