//! Differences between two texts that look the same.

use memchr::memmem;

use super::edges::Edges;
use crate::edit::fold::Fold;
use crate::edit::line_feeds::LineFeeds;

/// How a text differs from the nearest place in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Difference {
    /// The text has the line numbers of `read_file` in it.
    LineNumbers,
    /// The text has `\r\n` where the file has `\n`.
    LineEndings,
    /// The text is there, where whole lines were looked for, as a part of longer ones.
    PartOfLines,
    /// The text ends in a newline, and the file in none.
    NewlineAtEnd,
    /// White space at the ends of lines.
    TrailingSpace,
    /// White space at the beginnings of lines, and what it is made of on both sides.
    Indentation { file: &'static str, given: &'static str },
    /// Other things that are easily overlooked.
    Overlooked(Vec<&'static str>),
    /// Words: the first lines that are not the same.
    Text { file: String, given: String },
}

impl Difference {
    /// Words it; `given` is the name of the text that is not there.
    pub(super) fn worded(&self, given: &str) -> String {
        match self {
            Self::LineNumbers => {
                format!("{given} has line numbers in it, which are not part of the file")
            }
            Self::LineEndings => {
                format!("{given} has \\r\\n where the file has \\n; write \\n, which matches both")
            }
            Self::PartOfLines => format!("{given} has only a part of the line"),
            Self::NewlineAtEnd => {
                format!("{given} ends in a newline, and the file ends without one")
            }
            Self::TrailingSpace => "white space at the end of a line differs".to_owned(),
            Self::Indentation { file, given: own } if file == own => {
                "the indentation differs".to_owned()
            }
            Self::Indentation { file, given: own } => format!(
                "the indentation differs; lines begin with {file} in the file, with {own} in {given}"
            ),
            Self::Overlooked(kinds) => format!("it differs in {}", kinds.join(" and in ")),
            Self::Text { file, given: own } => {
                format!("the file has `{file}` where {given} has `{own}`")
            }
        }
    }
}

/// Returns the difference between whole lines of a file and a text that is in them when folded.
pub(super) fn between(file: &[u8], old: &str, edges: &Edges<'_>) -> Difference {
    let given = old.as_bytes();
    let has = |file: &[u8], given: &[u8]| memmem::find(file, given).is_some();
    let file_lines = LineFeeds::of(file).text;
    let given_lines = LineFeeds::of(given).text;
    if has(&file_lines, &given_lines) {
        return if given.contains(&b'\r') {
            Difference::LineEndings
        } else {
            Difference::PartOfLines
        };
    }
    let ended = given_lines.strip_suffix(b"\n");
    // Only the last line of a file has no newline.
    if !file.ends_with(b"\n") && ended.is_some_and(|given| has(&file_lines, given)) {
        return Difference::NewlineAtEnd;
    }
    let both = |shape: fn(&[u8]) -> Vec<u8>| has(&shape(&file_lines), &shape(&given_lines));
    if edges.ends_line() && both(without_trailing_space) {
        return Difference::TrailingSpace;
    }
    if edges.begins_line() && edges.ends_line() && both(without_indentation) {
        let file = indented_by(&file_lines);
        let given = indented_by(&given_lines);
        return Difference::Indentation { file, given };
    }
    Difference::Overlooked(overlooked(file, given))
}

fn overlooked(file: &[u8], given: &[u8]) -> Vec<&'static str> {
    let all = Fold::ALL;
    let kinds = [
        (Fold { space: false, ..all }, "white space"),
        (Fold { marks: false, ..all }, "typographic quotes, dashes or spaces"),
        (Fold { case: false, ..all }, "upper and lower case"),
    ];
    let counts = |fold: Fold| memmem::find(&fold.text(file), &fold.text(given)).is_none();
    kinds.into_iter().filter(|(fold, _)| counts(*fold)).map(|(_, name)| name).collect()
}

fn without_trailing_space(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|byte| *byte == b'\n');
    lines.map(<[u8]>::trim_ascii_end).collect::<Vec<_>>().join(&b'\n')
}

fn without_indentation(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|byte| *byte == b'\n');
    lines.map(<[u8]>::trim_ascii).collect::<Vec<_>>().join(&b'\n')
}

/// Describes the indentation of a text's lines.
fn indented_by(text: &[u8]) -> &'static str {
    let begins_with = |byte| text.split(|b| *b == b'\n').any(|line| line.first() == Some(&byte));
    match (begins_with(b'\t'), begins_with(b' ')) {
        (true, true) => "tabs and spaces",
        (true, false) => "tabs",
        (false, true) => "spaces",
        (false, false) => "nothing",
    }
}
