//! A part of a line that is longer than a page.

use serde_json::json;
use wink_fs::ErrorKind;
use wink_fs::ops::{self, LineOptions, LinePart};

use super::page::{NO_NEWLINE, carriage_returns, numbered, past_the_end};
use super::{Answer, check_text, hash};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::util::counted;

pub(super) fn read(
    call: &ToolCall<'_>,
    path: &wink_fs::TreePath,
    options: &LineOptions,
    limit: u64,
) -> Result<ToolResult, ToolError> {
    let part = ops::read_line(&*call.tree(), path, options, call.limits()).map_err(|error| {
        let refusal = ToolError::from(error);
        match refusal.kind() {
            ErrorKind::InvalidArgument => refusal.reworded(format!(
                "`column` {} lies within a character of the line; use a column that read_file \
                 printed.",
                options.column
            )),
            _ => refusal,
        }
    })?;
    check_text(path, &part.content)?;
    if !part.content.is_empty() || part.total_lines == 0 {
        part.content_hash.into_iter().for_each(|hash| call.saw(hash));
    }
    let answer = answer(&part).with_data(call, path, || part.content.clone());
    Ok(ToolResult::success(message(call, &part, limit), answer))
}

fn message(call: &ToolCall<'_>, part: &LinePart, limit: u64) -> String {
    let LinePart { path, line, column, line_bytes, total_lines, .. } = part;
    let mut message = if line >= total_lines {
        past_the_end(path, *line, *total_lines)
    } else if column >= line_bytes && *column > 0 {
        format!(
            "Nothing to show: column {column} is past the end of line {} of {path}, which has {}.\n",
            line + 1,
            counted(*line_bytes, "byte")
        )
    } else {
        part_text(part, !call.context().wants_data)
    };
    if line < total_lines {
        message.push_str(&next(call, part, limit));
    }
    message + &format!("content_hash: {}", hash(part.content_hash))
}

fn part_text(part: &LinePart, has_lines: bool) -> String {
    let LinePart { path, content, column, line_bytes, total_lines, .. } = part;
    let number = part.line + 1;
    let shown = content.len();
    let mut text = format!(
        "{path}: line {number} of {total_lines}, {shown} of its {line_bytes} bytes from column \
         {column}\n"
    );
    if !has_lines {
        return text;
    }
    let is_end = part.has_newline && !part.truncated;
    match content.strip_suffix('\r').filter(|_| is_end) {
        Some(content) => {
            numbered(&mut text, number, content);
            text + &carriage_returns(&[number])
        }
        None => {
            numbered(&mut text, number, content);
            text
        }
    }
}

fn next(call: &ToolCall<'_>, part: &LinePart, limit: u64) -> String {
    let LinePart { path, line, column, total_lines, .. } = part;
    let path = path.to_string();
    if part.truncated {
        let column = column + part.content.len() as u64;
        let arguments = json!({"path": path, "offset": line + 1, "column": column, "limit": limit});
        let arguments = call.next(arguments);
        let left = counted(part.line_bytes - column, "byte");
        return format!("{left} of the line left. Next call: read_file {arguments}\n");
    }
    match total_lines - line - 1 {
        0 if part.has_newline => String::new(),
        0 => NO_NEWLINE.to_owned(),
        left => {
            let arguments = call.next(json!({"path": path, "offset": line + 2, "limit": limit}));
            format!("{} left. Next call: read_file {arguments}\n", counted(left, "line"))
        }
    }
}

fn answer(part: &LinePart) -> Answer {
    let is_there = part.line < part.total_lines;
    Answer {
        path: part.path.to_string(),
        total_lines: Some(part.total_lines),
        offset: part.line + 1,
        column: Some(part.column),
        line_bytes: Some(part.line_bytes),
        limit: u64::from(is_there && !part.truncated),
        truncated: is_there && (part.truncated || part.line + 1 < part.total_lines),
        content_hash: hash(part.content_hash),
        ..Answer::default()
    }
}
