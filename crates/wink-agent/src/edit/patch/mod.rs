//! Patches: what a text asks for, and what it makes of a file's bytes.
//!
//! Two formats are read: the unified diff, with or without git's headers, and the one between
//! `*** Begin Patch` and `*** End Patch` that coding agents send. Both give the same [`FilePatch`].
//!
//! - A hunk changes the lines it was made for and no others: its context and its removed lines must be
//!   in the file exactly. Line endings are as for an edit: they are not compared and stay what they
//!   are, unless a line of the patch ends in a carriage return itself.
//! - It applies at the line it names. Where its lines are not there, they may be in exactly one other
//!   place after the hunk before it. The counts of a hunk's header are not needed; its lines are.
//! - In the second format a hunk names no line. It may name a line above it (`@@ fn main() {`), which
//!   must be there once; then the first place below it is meant.
//! - A hunk that only adds lines adds them after the line that it names, or else at the end of the file.
//! - What models put around a patch is taken off: a code fence, a heredoc, indentation of the markers.
//! - `\ No newline at end of file` is honoured. Where a patch has none of it, the end of the file stays
//!   as it is.

mod apply;
mod body;
mod envelope;
mod error;
mod header;
mod place;
#[cfg(test)]
mod properties;
mod unified;
mod wrapping;

pub(crate) use apply::apply;
pub(crate) use error::{HunkError, PatchError};

/// One file's part of a patch, with paths that are not validated yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FilePatch {
    pub(crate) action: Action,
    pub(crate) hunks: Vec<Hunk>,
    /// Whether the file becomes executable, if the patch says so.
    pub(crate) executable: Option<bool>,
}

/// What happens to a file as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Create { path: String },
    Delete { path: String },
    Update { path: String },
    Move { from: String, to: String },
}

/// A hunk: kept, removed and added lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hunk {
    /// The line of the patch that it begins at, counted from 1.
    pub(crate) patch_line: usize,
    pub(crate) target: Target,
    pub(crate) lines: Vec<Line>,
}

/// The position of a hunk.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Target {
    /// The first line, counted from 1.
    line: Option<usize>,
    /// Lines above it, the outermost first.
    anchors: Vec<String>,
    /// Whether its last line is the last of the file.
    at_end: bool,
}

/// A line of a hunk, without its ending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub(crate) sign: Sign,
    pub(crate) text: String,
    /// Whether it ends in a newline.
    has_newline: bool,
}

/// What happens to a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    Kept,
    Added,
    Removed,
}

impl Hunk {
    fn old_lines(&self) -> impl DoubleEndedIterator<Item = &Line> {
        self.lines.iter().filter(|line| line.sign != Sign::Added)
    }
}

impl FilePatch {
    /// Counts the lines that come and those that go.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let lines = || self.hunks.iter().flat_map(|hunk| &hunk.lines);
        let count = |sign| lines().filter(|line| line.sign == sign).count();
        (count(Sign::Added), count(Sign::Removed))
    }

    /// Returns the content of a file that the patch makes.
    pub(crate) fn new_content(&self) -> String {
        let mut content = String::new();
        for line in self.hunks.iter().flat_map(|hunk| &hunk.lines) {
            content.push_str(&line.text);
            if line.has_newline {
                content.push('\n');
            }
        }
        content
    }
}

/// Returns the path of the only file that a patch changes; of a file that is moved, the old path.
pub(crate) fn only_path(text: &str) -> Option<String> {
    let files: [FilePatch; 1] = parse(text).ok()?.try_into().ok()?;
    files.into_iter().next().map(|file| match file.action {
        Action::Create { path } | Action::Delete { path } | Action::Update { path } => path,
        Action::Move { from, .. } => from,
    })
}

/// Reads a patch in either format.
pub(crate) fn parse(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let sent = lines(text);
    let lines = wrapping::unwrapped(&sent);
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    let files = match lines.iter().position(|line| !line.trim().is_empty()) {
        Some(at) if lines[at].trim_end() == envelope::BEGIN => envelope::parse(&lines, at + 1)?,
        _ => unified::parse(&lines)?,
    };
    if files.is_empty() {
        return Err(PatchError::at(
            1,
            "it names no file; begin with `--- a/path` and `+++ b/path`, or with `*** Begin Patch`",
        ));
    }
    Ok(files)
}

/// Splits a patch into lines; if its first line ends in `\r\n`, so do all that were sent.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    match text.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => {
            lines.map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
        }
        _ => lines.collect(),
    }
}
