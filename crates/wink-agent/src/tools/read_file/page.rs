//! A page of whole lines.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wink_fs::TreePath;
use wink_fs::ops::TextPage;

use crate::result::ToolResult;
use crate::words::counted;

/// What is said where the last line has no end.
pub(super) const NO_NEWLINE: &str = "There is no newline at the end of the file.\n";

pub(super) fn answer(page: &TextPage, limit: u64) -> ToolResult {
    ToolResult::success(message(page, limit), value(page))
}

fn message(page: &TextPage, limit: u64) -> String {
    let mut message = if page.total_lines == 0 {
        format!("{} is empty: it exists and has no lines.\n", page.path)
    } else if page.offset >= page.total_lines {
        past_the_end(&page.path, page.offset, page.total_lines)
    } else {
        shown(page)
    };
    if page.truncated {
        message.push_str(&next_call(page, limit));
    } else if !page.content.is_empty() && !page.content.ends_with('\n') {
        message.push_str(NO_NEWLINE);
    }
    message + &format!("content_hash: {}", hash(page))
}

pub(super) fn past_the_end(path: &TreePath, offset: u64, total_lines: u64) -> String {
    match total_lines.checked_sub(1) {
        None => format!("{path} is empty: it exists and has no lines.\n"),
        Some(last) => format!(
            "Nothing to show: offset {offset} is past the end of {path}, whose last line is at \
             offset {last}.\n"
        ),
    }
}

fn shown(page: &TextPage) -> String {
    let (first, last) = (page.offset + 1, end(page));
    let mut text = format!("{}: lines {first} to {last} of {}\n", page.path, page.total_lines);
    let mut returns = Vec::new();
    for (number, line) in (first..).zip(page.content.split_inclusive('\n')) {
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

/// Adds a line with its number.
pub(super) fn numbered(text: &mut String, number: u64, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{number:>6}\t{line}");
}

/// Says which lines end in a carriage return and a newline.
pub(super) fn carriage_returns(lines: &[u64]) -> String {
    let follows = |before: &u64, next: &u64| before + 1 == *next;
    let ranges = lines.chunk_by(follows).filter_map(|range| match range {
        [] => None,
        [line] => Some(line.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    let ranges: Vec<String> = ranges.collect();
    match ranges.is_empty() {
        true => String::new(),
        false => format!("These lines end in \\r\\n: {}.\n", ranges.join(", ")),
    }
}

fn next_call(page: &TextPage, limit: u64) -> String {
    let arguments = json!({"path": page.path.to_string(), "offset": end(page), "limit": limit});
    let left = counted(page.total_lines - end(page), "line");
    format!("{left} to go. Next call: read_file {arguments}\n")
}

/// Returns the offset of the first line after the page.
fn end(page: &TextPage) -> u64 {
    page.offset + page.limit
}

fn hash(page: &TextPage) -> String {
    page.content_hash.map(|hash| hash.to_string()).unwrap_or_default()
}

fn value(page: &TextPage) -> Value {
    json!({
        "path": page.path.to_string(),
        "total_lines": page.total_lines,
        "offset": page.offset,
        "limit": page.limit,
        "truncated": page.truncated,
        "content_hash": hash(page),
    })
}
