//! Errors of edits.

use std::fmt;

use wink_fs::ErrorKind;

use super::lines::listed;
use super::nearest::Nearest;

/// Why an edit was not made; the message tells a model what to do instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum EditError {
    /// There is no text to look for.
    EmptyOld,
    /// Nothing would change.
    Same,
    /// The result would be larger than is allowed.
    TooLarge { size: u64, most: u64 },
    /// The text matches more than once.
    Ambiguous {
        count: usize,
        /// How many lines have it.
        line_count: usize,
        /// The first of those lines.
        lines: Vec<usize>,
    },
    /// The text does not match.
    Missing {
        nearest: Option<Nearest>,
        /// The line that already has the new text.
        new_is_at: Option<usize>,
    },
}

/// Which of several edits failed.
#[derive(Debug)]
pub(crate) struct NumberedError {
    /// The edit, counted from 1.
    pub(crate) number: usize,
    /// How many edits there are.
    pub(crate) of: usize,
    pub(crate) refusal: EditError,
}

impl EditError {
    /// Returns what kind of failure it is.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            _ => ErrorKind::InvalidArgument,
        }
    }

    /// Returns the lines it is about, counted from 1.
    pub(crate) fn lines(&self) -> Vec<usize> {
        match self {
            Self::EmptyOld | Self::Same | Self::TooLarge { .. } => Vec::new(),
            Self::Ambiguous { lines, .. } => lines.clone(),
            Self::Missing { nearest, .. } => nearest.iter().map(|near| near.line).collect(),
        }
    }
}

impl fmt::Display for NumberedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, of, refusal } = self;
        write!(f, "edit {number} of {of} cannot be made, and so none was: {refusal}")
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyOld => f.write_str(
                "old_string is empty; give the text to replace, or make a file with write_file.",
            ),
            Self::Same => f.write_str(
                "old_string and new_string are the same; give a new_string that differs.",
            ),
            Self::TooLarge { size, most } => write!(
                f,
                "the file would have {size} bytes, and an edit makes at most {most} (limit \
                 max_edit_bytes); replace less."
            ),
            Self::Ambiguous { count, line_count, lines } => write!(
                f,
                "old_string is there {count} times ({}); add lines around it until it is there \
                 once, or set replace_all to true.",
                listed(lines, *line_count)
            ),
            Self::Missing { nearest, new_is_at } => {
                missing(f, nearest.as_ref())?;
                match new_is_at {
                    Some(line) => write!(
                        f,
                        "\nnew_string is there already, at line {line}: perhaps the edit was made \
                         before."
                    ),
                    None => Ok(()),
                }
            }
        }
    }
}

fn missing(f: &mut fmt::Formatter<'_>, nearest: Option<&Nearest>) -> fmt::Result {
    match nearest {
        None => f.write_str(
            "old_string is not there, and nothing like it; look at the file again with read_file.",
        ),
        Some(near) => write!(
            f,
            "old_string is not there. {}Give old_string exactly as the file has it, without the \
             line numbers.",
            near.worded("old_string")
        ),
    }
}
