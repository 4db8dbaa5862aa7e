//! A few numbered lines, as `read_file` shows them.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;

use super::lines;
use super::splice::Edited;

/// Lines shown before and after a change.
const CONTEXT: usize = 2;

/// Lines shown of one change, those around it included.
const MOST_LINES: usize = 16;

/// Changes shown.
const MOST_CHANGES: usize = 3;

/// Room for the answer to an edit of one place.
const USUAL_BYTES: usize = 512;

/// Characters shown of a line.
const MOST_CHARACTERS: usize = 200;

/// Formats the answer to an edit: what was done, the lines around the first changes, and the new hash.
pub(crate) fn answer(done: fmt::Arguments<'_>, edited: &Edited, content_hash: &str) -> String {
    let mut text = String::with_capacity(USUAL_BYTES);
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{done}:");
    snippets(&mut text, &edited.bytes, &edited.changes);
    let _ = write!(text, "content_hash: {content_hash}");
    text
}

/// Shows the lines around the first changes; more lines between or after them are an ellipsis.
pub(super) fn snippets(text: &mut String, bytes: &[u8], changes: &[Range<usize>]) {
    let mut shown_to = 0;
    let mut shown = 0;
    for change in changes.iter() {
        if shown > 0 && change.start < shown_to {
            continue;
        }
        let around = around(bytes, change);
        if shown > 0 && around.start > shown_to || shown == MOST_CHANGES {
            text.push_str("      …\n");
        }
        if shown == MOST_CHANGES {
            break;
        }
        shown_to = numbered(text, bytes, around.start.max(shown_to)..around.end);
        shown += 1;
    }
}

/// Returns the lines around a change.
fn around(bytes: &[u8], change: &Range<usize>) -> Range<usize> {
    let mut start = lines::start(bytes, change.start);
    for _ in 0..CONTEXT {
        start = lines::start(bytes, start.saturating_sub(1));
    }
    let mut end = lines::end(bytes, last(change));
    for _ in 0..CONTEXT {
        end = lines::end(bytes, end);
    }
    start..end
}

/// Returns the last position of a change, which may be empty.
fn last(change: &Range<usize>) -> usize {
    change.end.saturating_sub(1).max(change.start)
}

/// Shows the first lines of a range that begins with one, and returns where they end.
pub(super) fn numbered(text: &mut String, bytes: &[u8], range: Range<usize>) -> usize {
    let first = lines::number(bytes, range.start);
    let mut end = range.start;
    let lines = bytes[range].split_inclusive(|byte| *byte == b'\n');
    for (number, line) in (first..).zip(lines.take(MOST_LINES)) {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{number}\t{}", shown_line(line));
        end += line.len();
    }
    end
}

/// Shows a line without its ending, truncated if it is long.
pub(super) fn shown_line(line: &[u8]) -> Cow<'_, str> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A character has at most four bytes.
    let start = &line[..line.len().min(4 * (MOST_CHARACTERS + 1))];
    let shown = String::from_utf8_lossy(start);
    match shown.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &shown[..end]).into(),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snippets(bytes: &[u8], changes: &[Range<usize>]) -> String {
        let mut text = String::new();
        super::snippets(&mut text, bytes, changes);
        text
    }

    #[test]
    fn two_lines_before_and_after_are_shown() {
        let bytes = b"1\n2\n3\r\n4\n5\n6\n7\n";
        assert_eq!(
            snippets(bytes, std::slice::from_ref(&(7..8))),
            "2\t2\n3\t3\n4\t4\n5\t5\n6\t6\n"
        );
        assert_eq!(snippets(b"1", std::slice::from_ref(&(1..1))), "1\t1\n");
    }

    #[test]
    fn many_changes_and_long_lines_are_cut() {
        let text = "x\n".repeat(100);
        let changes: Vec<_> = (0..10).map(|n| n * 20..n * 20 + 1).collect();
        assert_eq!(snippets(text.as_bytes(), &changes).matches("…\n").count(), 3);
        assert_eq!(shown_line("ä".repeat(300).as_bytes()).chars().count(), 201);
    }
}
