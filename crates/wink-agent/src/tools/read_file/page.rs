//! A page of whole lines.

use serde_json::json;
use wink_fs::TreePath;
use wink_fs::ops::TextPage;

use super::{Answer, hash};
use crate::tool::call::ToolCall;
use crate::tool::result::ToolResult;
use crate::util::counted;

/// The note about a last line without an end.
pub(super) const NO_NEWLINE: &str = "No newline at end of file.\n";

/// How wide the column of numbers is.
const WIDTH: usize = 6;

/// About how many bytes stand around the lines.
const AROUND: usize = 200;

pub(super) fn answer(call: &ToolCall<'_>, page: &TextPage, limit: u64) -> ToolResult {
    let answer = Answer {
        path: page.path.to_string(),
        total_lines: Some(page.total_lines),
        offset: page.offset + 1,
        limit: page.limit,
        truncated: page.truncated,
        content_hash: hash(page.content_hash),
        ..Answer::default()
    };
    let answer = answer.with_data(call, &page.path, || page.content.clone());
    ToolResult::success(message(call, page, limit), answer)
}

fn message(call: &ToolCall<'_>, page: &TextPage, limit: u64) -> String {
    let mut message = if page.total_lines == 0 {
        format!("{} is empty: it exists and has no lines.\n", page.path)
    } else if page.offset >= page.total_lines {
        past_the_end(&page.path, page.offset, page.total_lines)
    } else {
        page_text(page, !call.context().wants_data)
    };
    if page.truncated {
        message.push_str(&next_call(call, page, limit));
    } else if !page.content.is_empty() && !page.content.ends_with('\n') {
        message.push_str(NO_NEWLINE);
    }
    message + &format!("content_hash: {}", hash(page.content_hash))
}

pub(super) fn past_the_end(path: &TreePath, offset: u64, total_lines: u64) -> String {
    if total_lines == 0 {
        return format!("{path} is empty: it exists and has no lines.\n");
    }
    let first = offset + 1;
    format!(
        "Nothing to show: offset {first} is past the end of {path}, whose last line is {total_lines}.\n"
    )
}

fn page_text(page: &TextPage, has_lines: bool) -> String {
    let first = page.offset + 1;
    let last = end(page);
    let mut text = format!("{}: lines {first} to {last} of {}\n", page.path, page.total_lines);
    if !has_lines {
        return text;
    }
    text.reserve(page.content.len() + page.limit as usize * (WIDTH + 2) + AROUND);
    let mut returns = Vec::new();
    for (number, line) in (first..).zip(lines(&page.content)) {
        let shown = match line.strip_suffix("\r\n") {
            Some(shown) => {
                returns.push(number);
                shown
            }
            None => line.strip_suffix('\n').unwrap_or(line),
        };
        numbered(&mut text, number, shown);
    }
    text + &carriage_returns(&returns)
}

/// Returns the lines of a text, each with its end.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    let mut start = 0;
    let line = move |end| &text[std::mem::replace(&mut start, end)..end];
    ends.chain([text.len()]).map(line).filter(|line| !line.is_empty())
}

/// Adds a line with its number.
pub(super) fn numbered(text: &mut String, number: u64, line: &str) {
    push_right(text, number);
    text.push('\t');
    text.push_str(line);
    text.push('\n');
}

/// Adds a number, at the right of its column; by hand, because pages are made of little else.
fn push_right(text: &mut String, mut number: u64) {
    let mut column = [b' '; 20];
    let mut at = column.len();
    while at == column.len() || number > 0 {
        at -= 1;
        column[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    let from = at.min(column.len() - WIDTH);
    text.extend(column[from..].iter().copied().map(char::from));
}

/// Describes which lines end in a carriage return and a newline.
pub(super) fn carriage_returns(lines: &[u64]) -> String {
    let follows = |before: &u64, next: &u64| before + 1 == *next;
    let ranges = lines.chunk_by(follows).filter_map(|range| match range {
        [] => None,
        [line] => Some(line.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    let ranges: Vec<String> = ranges.collect();
    if ranges.is_empty() {
        String::new()
    } else {
        format!("These lines end in \\r\\n: {}.\n", ranges.join(", "))
    }
}

fn next_call(call: &ToolCall<'_>, page: &TextPage, limit: u64) -> String {
    let arguments = json!({"path": page.path.to_string(), "offset": end(page) + 1, "limit": limit});
    let left = counted(page.total_lines - end(page), "line");
    format!("{left} left. Next call: read_file {}\n", call.next(arguments))
}

/// Returns the number of the last line of the page.
fn end(page: &TextPage) -> u64 {
    page.offset + page.limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_at_the_right_of_their_column() {
        for number in [0, 1, 9, 10, 99_999, 100_000, 999_999, 1_000_000, u64::MAX] {
            let mut text = String::new();
            numbered(&mut text, number, "é");
            assert_eq!(text, format!("{number:>6}\té\n"));
        }
    }

    #[test]
    fn lines_are_those_of_the_text() {
        for text in ["", "\n", "a", "a\n", "a\n\nb", "é\r\n\n", "\n\n"] {
            assert!(lines(text).eq(text.split_inclusive('\n')), "{text:?}");
        }
    }
}
