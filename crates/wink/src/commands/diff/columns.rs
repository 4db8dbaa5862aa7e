//! Two columns of text, each wrapped at its width.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::ui::style;

/// Columns of a tab.
const TAB: usize = 4;

/// The narrowest column in which anything can be read.
const NARROWEST: usize = 8;

/// What stands between the two columns: a sign with blanks around it.
const BETWEEN: usize = 3;

/// One line of one side.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// `None` where it is no line of the file.
    pub(super) number: Option<usize>,
    pub(super) text: String,
    /// The parts that the other side does not have.
    pub(super) parts: Vec<Range<usize>>,
}

/// A line of each side, or of one of them.
#[derive(Debug)]
pub(super) enum Row {
    Same(Cell, Cell),
    Changed(Cell, Cell),
    Removed(Cell),
    Added(Cell),
}

/// Says how wide both columns are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    number: usize,
    text: usize,
}

/// Adds a colour to a text, some parts of which are marked.
type Painter = fn(&str, &[Range<usize>]) -> String;

impl Columns {
    /// Divides a width, of which line numbers up to the last one take their part.
    pub(super) fn new(width: usize, last: usize) -> Self {
        let number = last.to_string().len();
        let text = width.saturating_sub(BETWEEN + 2 * (number + 1)) / 2;
        Self { number, text: text.max(NARROWEST) }
    }

    /// Writes a row, in colours or without.
    pub(super) fn row(self, row: &Row, in_colours: bool) -> String {
        let nothing = Cell::default();
        let (sign, old, new) = match row {
            Row::Same(old, new) => (' ', old, new),
            Row::Changed(old, new) => ('|', old, new),
            Row::Removed(old) => ('<', old, &nothing),
            Row::Added(new) => ('>', &nothing, new),
        };
        let painter = |painter: Painter| (in_colours && sign != ' ').then_some(painter);
        let (red, green) = (painter(style::removed), painter(style::added));
        let (left, right) = (wrapped(&old.text, self.text), wrapped(&new.text, self.text));
        let line = |at: usize| {
            let old = self.half(old, at, left.get(at), red);
            let new = self.half(new, at, right.get(at), green);
            let line = format!("{old} {} {new}", if at == 0 { sign } else { ' ' });
            line.trim_end().to_owned() + "\n"
        };
        (0..left.len().max(right.len())).map(line).collect()
    }

    /// Writes one piece of a cell, with the number of its line before the first.
    fn half(
        self,
        cell: &Cell,
        at: usize,
        piece: Option<&Range<usize>>,
        painter: Option<Painter>,
    ) -> String {
        let piece = piece.cloned().unwrap_or_default();
        let number = cell.number.filter(|_| at == 0).map_or(String::new(), |it| it.to_string());
        let text = &cell.text[piece.clone()];
        let blanks = " ".repeat(self.text.saturating_sub(text.width()));
        let text = painter.map_or(text.to_owned(), |it| it(text, &within(&cell.parts, &piece)));
        format!("{number:>width$} {text}{blanks}", width = self.number)
    }
}

/// Returns what of some parts is in a piece, counted from where that begins.
fn within(parts: &[Range<usize>], piece: &Range<usize>) -> Vec<Range<usize>> {
    let cut = |part: &Range<usize>| {
        let (start, end) = (part.start.max(piece.start), part.end.min(piece.end));
        (start < end).then(|| start - piece.start..end - piece.start)
    };
    parts.iter().filter_map(cut).collect()
}

/// Cuts a text into pieces that are not wider than that; a text without characters is one.
fn wrapped(text: &str, width: usize) -> Vec<Range<usize>> {
    let (mut pieces, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width && at > start {
            pieces.push(start..at);
            (start, used) = (at, 0);
        }
        used += wide;
    }
    pieces.push(start..text.len());
    pieces
}

/// Makes a line of a file one that takes as many columns as it has characters to see.
pub(super) fn visible(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let mut text = String::with_capacity(line.len());
    let mut used = 0;
    for c in style::harmless(line).chars() {
        let wide = if c == '\t' { TAB - used % TAB } else { c.width().unwrap_or(0) };
        match c {
            '\t' => text.extend(std::iter::repeat_n(' ', wide)),
            c => text.push(c),
        }
        used += wide;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, width: usize) -> Vec<&str> {
        wrapped(text, width).into_iter().map(|piece| &text[piece]).collect()
    }

    #[test]
    fn text_is_wrapped_where_it_is_too_wide_and_nothing_is_lost() {
        assert_eq!(pieces("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(pieces("", 4), [""]);
        assert_eq!(pieces("日本語", 4), ["日本", "語"], "two columns each");
        assert_eq!(pieces("日本", 1), ["日", "本"], "what fits nowhere has a line of its own");
        assert_eq!(pieces("e\u{301}e\u{301}", 1), ["e\u{301}", "e\u{301}"], "marks stay");
    }

    #[test]
    fn what_cannot_be_seen_is_made_visible() {
        assert_eq!(visible("\ta\tb\r\n"), "    a   b␍");
        assert_eq!(visible("\u{1b}[31m"), "␛[31m");
    }

    #[test]
    fn a_row_is_two_columns_with_a_sign_between() {
        let cell = |number: usize, text: &str| Cell {
            number: Some(number),
            text: text.to_owned(),
            parts: Vec::new(),
        };
        let columns = Columns::new(31, 10);
        let row = |row| columns.row(&row, false);
        assert_eq!(row(Row::Same(cell(9, "same"), cell(10, "same"))), " 9 same          10 same\n");
        assert_eq!(row(Row::Removed(cell(9, "gone"))), " 9 gone        <\n");
        assert_eq!(row(Row::Added(cell(10, "new"))), "               > 10 new\n");
        assert_eq!(
            row(Row::Changed(cell(9, "a line too long"), cell(10, "short"))),
            " 9 a line too  | 10 short\n   long\n"
        );
    }

    #[test]
    fn marks_go_on_where_a_line_is_wrapped() {
        assert_eq!(within(&[2..6, 7..10], &(4..8)), [0..2, 3..4]);
    }
}
