//! Compares two files line by line, for a page that shows the hunks as they are.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use serde::Serialize;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use crate::ui::word_diff::{Marked, Pair, Pairing};

/// How many unchanged lines are shown around changed ones.
pub(crate) const CONTEXT: usize = 3;

/// How long to look for the smallest difference; then a larger one is accepted.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many rows of a difference are sent at most.
pub(crate) const MOST_ROWS: usize = 60_000;

/// Larger files are not compared by lines.
pub(crate) const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes of a line that are sent; the rest of it can be seen in the file.
const MOST_LINE: usize = 10_000;

/// The changed lines of a file.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LineDiff {
    pub(crate) added: u64,
    pub(crate) removed: u64,
    /// How many lines each side has.
    pub(crate) old_lines: u64,
    pub(crate) new_lines: u64,
    pub(crate) hunks: Vec<HunkRows>,
    /// Whether more hunks follow that were not sent.
    pub(crate) truncated: bool,
}

/// Lines that changed together, with unchanged ones around them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HunkRows {
    /// The number of its first line on each side, from 1; of the next line, if it has none.
    pub(crate) old_start: u64,
    pub(crate) new_start: u64,
    pub(crate) rows: Vec<LineRow>,
}

/// One line of a hunk.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LineRow {
    /// ` `, `+` or `-`.
    pub(crate) sign: char,
    /// The line without its ending.
    pub(crate) text: String,
    /// The parts of the line that differ from its counterpart, in UTF-16 units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) marks: Vec<[u32; 2]>,
    /// `cr` if it ends with a carriage return, `eof` if it has no newline, `cut` if more of it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<&'static str>,
}

/// Splits a text into lines, each with its ending.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Gives equal lines equal numbers: comparing numbers is faster than comparing text over and over.
fn numbered<'t>(
    lines: &[&'t str],
    known: &mut HashMap<&'t str, u32>,
    ignores_blanks: bool,
) -> Vec<u32> {
    let number = |line: &&'t str| {
        // Only the blanks at both ends: without those inside, other words may come out.
        let line = if ignores_blanks { line.trim() } else { line };
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(line).or_insert(next)
    };
    lines.iter().map(number).collect()
}

struct Compared<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
    ops: Vec<DiffOp>,
}

fn compared<'t>(
    old: &'t str,
    new: &'t str,
    ignores_blanks: bool,
    deadline: impl FnOnce() -> Instant,
) -> Compared<'t> {
    let (old, new) = (split(old), split(new));
    let mut known = HashMap::new();
    let a = numbered(&old, &mut known, ignores_blanks);
    let b = numbered(&new, &mut known, ignores_blanks);
    // From here on: reading large files takes its time on a busy machine, and what is left must not depend on it.
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &a, &b, Some(deadline()));
    Compared { old, new, ops }
}

impl Compared<'_> {
    /// Counts the lines that were added and removed.
    fn counts(&self) -> (u64, u64) {
        let changed = || self.ops.iter().filter(|op| op.tag() != DiffTag::Equal);
        let added: usize = changed().map(|op| op.new_range().len()).sum();
        let removed: usize = changed().map(|op| op.old_range().len()).sum();
        (added as u64, removed as u64)
    }
}

/// Counts the lines that were added and removed.
pub(crate) fn counts(old: &str, new: &str, deadline: Instant) -> (u64, u64) {
    compared(old, new, false, || deadline).counts()
}

/// Compares two texts.
pub(crate) fn compare(old: &str, new: &str, ignores_blanks: bool) -> LineDiff {
    let compared = compared(old, new, ignores_blanks, || Instant::now() + PATIENCE);
    let (added, removed) = compared.counts();
    let pairing = Pairing::new();
    let mut diff = LineDiff {
        added,
        removed,
        old_lines: compared.old.len() as u64,
        new_lines: compared.new.len() as u64,
        ..LineDiff::default()
    };
    let mut left = MOST_ROWS;
    for group in group_diff_ops(compared.ops.clone(), CONTEXT) {
        if left == 0 {
            diff.truncated = true;
            break;
        }
        let Some(first) = group.first() else { continue };
        let mut rows = Vec::new();
        for op in &group {
            add_rows(&mut rows, op, &compared, &pairing, left);
        }
        diff.truncated |= rows.len() > left;
        rows.truncate(left);
        left -= rows.len();
        diff.hunks.push(HunkRows {
            old_start: first.old_range().start as u64 + 1,
            new_start: first.new_range().start as u64 + 1,
            rows,
        });
    }
    diff
}

fn add_rows(
    rows: &mut Vec<LineRow>,
    op: &DiffOp,
    compared: &Compared<'_>,
    pairing: &Pairing,
    most: usize,
) {
    let old = &compared.old[op.old_range()];
    let new = &compared.new[op.new_range()];
    if op.tag() == DiffTag::Equal {
        rows.extend(new.iter().map(|line| row(' ', line, &[])));
        return;
    }
    let pairs = pairing.pairs(&old[..old.len().min(most)], &new[..new.len().min(most)]);
    // By their places: a block of a whole file has many pairs.
    let marks = |side: fn(&Pair) -> &Marked| -> HashMap<usize, &[Range<usize>]> {
        let marked = pairs.iter().map(side);
        marked.map(|it| (it.at, &*it.parts)).collect()
    };
    let (old_marks, new_marks) = (marks(|pair| &pair.old), marks(|pair| &pair.new));
    for (at, line) in old.iter().take(most + 1).enumerate() {
        rows.push(row('-', line, old_marks.get(&at).copied().unwrap_or_default()));
    }
    for (at, line) in new.iter().take(most + 1).enumerate() {
        rows.push(row('+', line, new_marks.get(&at).copied().unwrap_or_default()));
    }
}

fn row(sign: char, line: &str, marks: &[Range<usize>]) -> LineRow {
    let (text, mut end) = ended(line);
    let cut = text.floor_char_boundary(MOST_LINE);
    if cut < text.len() {
        end = Some("cut");
    }
    let text = &text[..cut];
    let units = |at: usize| {
        let until = &text[..text.floor_char_boundary(at)];
        u32::try_from(until.encode_utf16().count()).unwrap_or(u32::MAX)
    };
    let marks = marks.iter().map(|part| [units(part.start), units(part.end)]);
    let marks = marks.filter(|[start, end]| start < end).collect();
    LineRow { sign, text: text.to_owned(), marks, end }
}

/// Returns a line without its ending, and what is special about that.
fn ended(line: &str) -> (&str, Option<&'static str>) {
    match line.strip_suffix('\n') {
        None => (line, Some("eof")),
        Some(text) => match text.strip_suffix('\r') {
            None => (text, None),
            Some(text) => (text, Some("cr")),
        },
    }
}

/// Returns some lines of a text, from 0, as unchanged rows.
pub(crate) fn lines(text: &str, from: usize, count: usize) -> Vec<LineRow> {
    text.split_inclusive('\n').skip(from).take(count).map(|line| row(' ', line, &[])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> Vec<String> {
        let diff = compare(old, new, false);
        let rows = diff.hunks.iter().flat_map(|hunk| &hunk.rows);
        rows.map(|row| format!("{}{}", row.sign, row.text)).collect()
    }

    #[test]
    fn changed_lines_come_with_their_neighbours_and_marks() {
        let old = "a\nb\nc\nd\nlet größe = 1;\nf\n";
        let new = "a\nb\nc\nd\nlet größe = 2;\nf\n";
        let diff = compare(old, new, false);
        assert_eq!((diff.added, diff.removed, diff.old_lines), (1, 1, 6));
        assert_eq!((diff.hunks[0].old_start, diff.hunks[0].new_start), (2, 2));
        assert_eq!(shown(old, new), [" b", " c", " d", "-let größe = 1;", "+let größe = 2;", " f"]);
        assert_eq!(diff.hunks[0].rows[3].marks, [[12, 13]]);
    }

    #[test]
    fn the_ends_of_lines_are_named() {
        let diff = compare("a\r\nb", "a\nb\n", false);
        let ends: Vec<_> = diff.hunks[0].rows.iter().map(|row| (row.sign, row.end)).collect();
        assert_eq!(ends, [('-', Some("cr")), ('-', Some("eof")), ('+', None), ('+', None)]);
        assert!(compare("a  \n", "  a\n", true).hunks.is_empty());
    }

    #[test]
    fn a_new_file_is_added_whole_and_a_very_long_one_is_cut() {
        assert_eq!(shown("", "a\nb\n"), ["+a", "+b"]);
        let long = "x\n".repeat(MOST_ROWS + 5);
        let diff = compare("", &long, false);
        let rows: usize = diff.hunks.iter().map(|hunk| hunk.rows.len()).sum();
        assert_eq!((rows, diff.truncated, diff.added), (MOST_ROWS, true, MOST_ROWS as u64 + 5));
        let line = format!("{}é", "x".repeat(MOST_LINE - 1));
        let cut = &compare("", &line, false).hunks[0].rows[0];
        assert_eq!((cut.text.len(), cut.end), (MOST_LINE - 1, Some("cut")));
    }
}
