//! The one dialect of patterns for paths.

use std::borrow::Cow;

use globset::GlobBuilder;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

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
    glob: RegexMatcher,
    names_only: bool,
}

impl PathPattern {
    /// Parses a pattern; one that does not parse, or is too long, is InvalidPattern.
    pub fn parse(pattern: &str, limits: &Limits) -> Result<Self> {
        check_length(Operation::Glob, pattern, limits)?;
        let text = pattern.trim_start_matches("./").trim_start_matches('/');
        let glob = compile(text).map_err(|why| invalid(Operation::Glob, pattern, &why))?;
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
        // The matcher's error type has no values.
        self.glob.is_match(as_text(part).as_bytes()).unwrap_or_default()
    }
}

/// Compiles a pattern, or says why it cannot be; one that is nested too deeply cannot.
fn compile(pattern: &str) -> Result<RegexMatcher, String> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(false)
        .empty_alternates(true)
        .build()
        .map_err(|error| error.kind().to_string())?;
    RegexMatcherBuilder::new()
        .dot_matches_new_line(true)
        .build(&by_character(glob.regex()))
        .map_err(|_| "it is too complex".to_owned())
}

/// Turns a glob's expression for bytes into one for characters, whose sets never hold a `/`.
///
/// In the one for bytes `?` and a set match a part of a character, and `[!a]` matches a `/`.
fn by_character(regex: &str) -> String {
    let mut text = Vec::with_capacity(2 * regex.len());
    let mut rest = regex.strip_prefix("(?-u)").unwrap_or(regex).as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                text.push(from_hex(*high) << 4 | from_hex(*low));
                rest = after;
            }
            (b'\\', [escaped, after @ ..]) => {
                text.extend([b'\\', *escaped]);
                rest = after;
            }
            (b'[', _) => text.extend(b"[["),
            (b']', _) => text.extend(b"]&&[^/]]"),
            _ => text.push(*first),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn from_hex(digit: u8) -> u8 {
    char::from(digit).to_digit(16).unwrap_or_default() as u8
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
