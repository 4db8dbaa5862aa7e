//! Why a patch was not applied.

use std::fmt;

use crate::edit::lines::listed;
use crate::edit::nearest::Nearest;

/// A patch that cannot be parsed: the line, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PatchError {
    /// The line of the patch, counted from 1.
    pub(crate) line: usize,
    why: String,
}

impl PatchError {
    pub(super) fn at(line: usize, why: impl Into<String>) -> Self {
        Self { line, why: why.into() }
    }
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the patch: {}.", self.line, self.why)
    }
}

/// A hunk that does not apply: its number, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HunkError {
    /// The hunk, counted from 1 in its file.
    pub(crate) hunk: usize,
    /// The line of the patch that it begins at, counted from 1.
    pub(crate) patch_line: usize,
    pub(crate) problem: Problem,
}

/// Why a hunk does not apply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// It only adds lines, and the file has no line where it adds them.
    NoSuchLine { line: usize },
    /// Its lines are not there.
    Missing(Option<Nearest>),
    /// Its lines are there more than once, and none of them at the line it names.
    Ambiguous { count: usize, lines: Vec<usize> },
    /// Its lines are there only where it cannot be.
    Elsewhere { line: usize },
    /// The line above it is not there, or not once.
    Anchor { anchor: String, count: usize },
    /// It says something of the newline at the end of the file that does not hold.
    NewlineAtEnd,
}

impl HunkError {
    /// Returns the lines of the file it is about, counted from 1.
    pub(crate) fn lines(&self) -> Vec<usize> {
        match &self.problem {
            Problem::Missing(nearest) => nearest.iter().map(|near| near.line).collect(),
            Problem::Ambiguous { lines, .. } => lines.clone(),
            Problem::Elsewhere { line } => vec![*line],
            Problem::NoSuchLine { .. } | Problem::Anchor { .. } | Problem::NewlineAtEnd => {
                Vec::new()
            }
        }
    }
}

impl fmt::Display for HunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hunk, patch_line, problem } = self;
        write!(f, "hunk {hunk} (line {patch_line} of the patch) does not fit: {problem}")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchLine { line } => write!(
                f,
                "it adds lines at line {line}, and the file is shorter; give a line that is in the file \
                 before or after what is to be added."
            ),
            Self::Missing(None) => f.write_str(
                "its lines are not there, and nothing like them; look at the file again with \
                 read_file.",
            ),
            Self::Missing(Some(near)) => write!(
                f,
                "its lines are not there. {}Make the hunk anew from what the file has.",
                near.worded("the hunk")
            ),
            Self::Ambiguous { count, lines } => write!(
                f,
                "its lines are there {count} times ({}); add lines of context until they are \
                 there once, or name the right line after @@.",
                listed(lines, *count)
            ),
            Self::Elsewhere { line } => write!(
                f,
                "its lines are only at line {line}; hunks must be in the order of the file and \
                 cannot overlap, and one before `*** End of File` must be its last lines."
            ),
            Self::Anchor { anchor, count } => write!(
                f,
                "the line `{anchor}` after its @@ is there {count} times; name one that is there \
                 once, or give more context."
            ),
            Self::NewlineAtEnd => f.write_str(
                "`\\ No newline at end of file` does not hold there; look at the end of the file \
                 again.",
            ),
        }
    }
}
