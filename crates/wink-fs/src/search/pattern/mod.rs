//! Patterns for paths.

mod posix_classes;

use std::borrow::Cow;

use globset::GlobBuilder;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::grep::{Case, GrepOptions};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::limits::Limits;
use crate::path::TreePath;
use crate::tree::Tree;

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
    /// `None` if the pattern is only the path of an entry that is there.
    glob: Option<RegexMatcher>,
    /// The pattern itself: a path that reads the same matches, whatever it means as a pattern.
    path: String,
    names_only: bool,
}

impl PathPattern {
    /// Parses a pattern; an invalid, empty or too long one, and one with `..`, is InvalidPattern.
    pub fn parse(pattern: &str, limits: &Limits) -> Result<Self> {
        check_length(Operation::Glob, pattern, limits)?;
        let text = relative(pattern);
        let refused = |why: &str| invalid(Operation::Glob, pattern, why);
        if text.is_empty() {
            return Err(refused("it is empty"));
        }
        if text.split('/').any(|segment| segment == "..") {
            return Err(refused("`..` leads out of the directory that is searched"));
        }
        let glob = posix_classes::expanded(text).and_then(|text| compile(&text));
        let glob = Some(glob.map_err(|why| refused(&why))?);
        Ok(Self { glob, path: text.to_owned(), names_only: !pattern.contains('/') })
    }

    /// Parses a pattern for a search below a base: what is no pattern, but the path of an entry there, matches that.
    pub(super) fn parse_in(
        tree: &dyn Tree,
        base: &TreePath,
        pattern: &str,
        limits: &Limits,
    ) -> Result<Self> {
        let text = relative(pattern);
        let is_there = || {
            let below = if base.is_root() { text.to_owned() } else { format!("{base}/{text}") };
            !text.is_empty() && TreePath::parse(&below).is_ok_and(|path| tree.stat(&path).is_ok())
        };
        match Self::parse(pattern, limits) {
            Err(_) if !text.split('/').any(|segment| segment == "..") && is_there() => {
                Ok(Self { glob: None, path: text.to_owned(), names_only: false })
            }
            parsed => parsed,
        }
    }

    /// Returns whether one of its segments is this name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.path.split('/').any(|segment| segment == name)
    }

    /// Returns whether a path relative to the base matches.
    pub fn matches(&self, path: &TreePath) -> bool {
        self.matches_bytes(path.as_bytes())
    }

    /// Tells the same for a path's bytes.
    pub(super) fn matches_bytes(&self, path: &[u8]) -> bool {
        let part = match memchr::memrchr(b'/', path) {
            Some(at) if self.names_only => &path[at + 1..],
            _ => path,
        };
        let text = as_text(part);
        // The matcher's error type has no values.
        let matches = |glob: &RegexMatcher| glob.is_match(text.as_bytes()).unwrap_or_default();
        self.glob.as_ref().is_some_and(matches) || *text == *self.path
    }
}

/// Returns a pattern without what says that it is relative to the base.
fn relative(pattern: &str) -> &str {
    pattern.trim_start_matches("./").trim_start_matches('/')
}

/// Compiles a pattern, or returns why it cannot be compiled.
fn compile(pattern: &str) -> Result<RegexMatcher, String> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map_err(|error| error.kind().to_string())?;
    RegexMatcherBuilder::new()
        .dot_matches_new_line(true)
        .build(&by_character(glob.regex()))
        .map_err(|_| "it is too complex".to_owned())
}

/// Turns a glob's expression for bytes into one for characters, in which sets never match a `/`.
///
/// In the one for bytes, `?` and sets match a part of a character, and `[!a]` matches a `/`.
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

/// Returns the text that a pattern is matched against, as in listings.
fn as_text(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(text) if path.iter().all(|b| matches!(b, b' '..=b'[' | b']'..=b'~')) => {
            Cow::Borrowed(text)
        }
        _ => TreePath::from_disk(path).map_or(Cow::Borrowed(""), |path| path.to_string().into()),
    }
}

/// Refuses a pattern that is too long.
pub(super) fn check_length(operation: Operation, pattern: &str, limits: &Limits) -> Result<()> {
    let size = pattern.len();
    let max = limits.max_pattern_bytes;
    if size <= max {
        return Ok(());
    }
    let why =
        format!("it has {size} bytes and at most {max} are allowed (limit max_pattern_bytes)");
    Err(invalid(operation, pattern, &why))
}

/// Returns the error for an invalid pattern.
pub(super) fn invalid(operation: Operation, pattern: &str, why: &str) -> Error {
    Error::new(operation, ErrorKind::InvalidPattern)
        .with_path_text(pattern)
        .with_detail(format!("the pattern cannot be used: {why}; correct it"))
}

/// The memory of each thread for states of an expression that it works out while it searches; with less, it searches more
/// slowly.
const STATES_BYTES: usize = 10 * 1024 * 1024;

/// Builds the matcher of a search, bounded in size and linear in time.
pub(super) fn build_regex(
    pattern: &str,
    options: &GrepOptions,
    limits: &Limits,
) -> Result<RegexMatcher> {
    check_length(Operation::Grep, pattern, limits)?;
    RegexMatcherBuilder::new()
        .case_insensitive(options.case == Case::Insensitive)
        .case_smart(options.case == Case::Smart)
        .fixed_strings(options.literal)
        .word(options.word)
        .multi_line(true)
        .crlf(true)
        .size_limit(limits.max_regex_bytes)
        .dfa_size_limit(STATES_BYTES)
        .build(pattern)
        .map_err(|error| invalid(Operation::Grep, pattern, &reason(&error.to_string())))
}

/// Extracts the one relevant sentence of a long explanation.
fn reason(explanation: &str) -> String {
    let said = explanation.lines().find_map(|line| line.strip_prefix("error: "));
    let reason = said.or_else(|| explanation.lines().next()).unwrap_or_default();
    match reason {
        text if text.contains("look-around") || text.contains("backreferences") => {
            format!("{text} (searching takes linear time)")
        }
        text if text.contains("exceeds size limit") => {
            format!("{} (limit max_regex_bytes)", text.trim_end_matches('.'))
        }
        text => text.to_owned(),
    }
}
