//! The width of the terminal, and text wrapped to it.

use std::env;
use std::io::{self, IsTerminal as _};

use unicode_width::UnicodeWidthStr as _;

/// The width without a terminal.
const USUAL: usize = 80;

/// A larger width is a mistake in `COLUMNS`.
const MOST: usize = 1000;

/// Returns whether stdout is a terminal.
pub(crate) fn is_there() -> bool {
    io::stdout().is_terminal()
}

/// Returns the width.
pub(crate) fn width() -> usize {
    let said = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || rustix::termios::tcgetwinsize(io::stdout()).ok().map(|it| it.ws_col.into());
    said.or_else(seen).filter(|width| *width > 0).unwrap_or(USUAL).min(MOST)
}

/// Indents a text.
pub(crate) fn indented(text: &str, blanks: usize) -> String {
    let blanks = " ".repeat(blanks);
    let line = |line: &str| format!("{blanks}{line}").trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Indents a text, and breaks lines between words where a terminal is too narrow for them.
pub(crate) fn fitted(text: &str, blanks: usize) -> String {
    if !is_there() {
        return indented(text, blanks);
    }
    let width = width().saturating_sub(blanks);
    let lines: Vec<_> = text.lines().flat_map(|line| broken(line, width)).collect();
    indented(&lines.join("\n"), blanks)
}

/// Breaks a line between words, each part as far in as the first; a word stays whole.
fn broken(line: &str, width: usize) -> Vec<String> {
    let words = line.trim_start_matches(' ');
    let start = &line[..line.len() - words.len()];
    let (mut lines, mut last) = (Vec::new(), start.to_owned());
    for word in words.split(' ') {
        let is_first = last.len() == start.len();
        if !is_first && last.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut last, start.to_owned()));
        } else if !is_first {
            last.push(' ');
        }
        last += word;
    }
    lines.push(last);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(broken("one two three", 8), ["one two", "three"]);
        assert_eq!(broken("  one  two three", 8), ["  one ", "  two", "  three"]);
        assert_eq!(broken("one-very-long-word x", 4), ["one-very-long-word", "x"]);
        assert_eq!(broken("", 4), [""]);
    }

    #[test]
    fn blanks_go_before_every_line_that_has_something() {
        assert_eq!(indented("one\n\ntwo ", 2), "  one\n\n  two");
    }
}
