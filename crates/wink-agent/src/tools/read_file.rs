//! `read_file`: numbered lines of a text file, a page at a time.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wink_fs::ops::{self, PageLimit, ReadOptions, TextPage};
use wink_fs::{Error, ErrorKind, TreePath};

use crate::refusal::Refusal;
use crate::result::ToolResult;
use crate::tool::{Effect, Run, Tool};
use crate::tool_call::ToolCall;
use crate::{arguments, schema};

pub(crate) const TOOL: Tool = Tool {
    name: "read_file",
    title: "Read file",
    description: "Reads a text file and shows its lines with their numbers, which start at 1. \
                  `offset` counts lines from 0, so offset 0 starts at line number 1. Shows a \
                  page at a time and, when lines remain, the call that shows the next ones. Also gives the content_hash that write_file wants before it overwrites.",
    effect: Effect::Reads,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// File to read, relative to the workspace root.
    path: String,
    /// How many lines to skip: 0 (the default) starts at the first line.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
    /// How many lines to show at most; a page has its own limit too.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    limit: Option<u64>,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, Refusal> {
    let path = call.path(&params.path)?;
    let limits = call.limits();
    let limit = params.limit.map_or(limits.page_lines, |limit| limit.min(limits.page_lines));
    let options =
        ReadOptions::default().offset(params.offset).limit(PageLimit::Count(limit)).hash(true);
    let page =
        ops::read(&*call.tree(), &path, &options, limits).map_err(|error| refusal(error, &path))?;
    page.content_hash.into_iter().for_each(|hash| call.saw(hash));
    Ok(ToolResult::success(message(&page, limit), value(&page)))
}

/// Words the refusals whose next step in the library is no tool.
fn refusal(error: Error, path: &TreePath) -> Refusal {
    let refusal = Refusal::from(error);
    match refusal.kind() {
        ErrorKind::NotText => refusal.reworded(format!(
            "{path} is binary, not UTF-8 text, and cannot be shown; use ls for its size."
        )),
        ErrorKind::TooLarge => refusal.reworded(format!(
            "A line of {path} at this offset is too long to be shown; find parts of it with grep, \
             or go on with a higher offset."
        )),
        _ => refusal,
    }
}

fn message(page: &TextPage, limit: u64) -> String {
    let mut message = if page.total_lines == 0 {
        format!("{} is empty: it exists and has no lines.\n", page.path)
    } else if page.offset >= page.total_lines {
        past_the_end(page)
    } else {
        shown(page)
    };
    if page.truncated {
        message.push_str(&next_call(page, limit));
    }
    message + &format!("content_hash: {}", hash(page))
}

fn hash(page: &TextPage) -> String {
    page.content_hash.map(|hash| hash.to_string()).unwrap_or_default()
}

fn past_the_end(page: &TextPage) -> String {
    let TextPage { path, offset, total_lines, .. } = page;
    let last = total_lines - 1;
    format!(
        "Nothing to show: offset {offset} is past the end of {path}, whose last line is at offset {last}.\n"
    )
}

fn shown(page: &TextPage) -> String {
    let (first, last) = (page.offset + 1, end(page));
    let mut text = format!("{}: lines {first} to {last} of {}\n", page.path, page.total_lines);
    for (number, line) in (first..).zip(page.content.lines()) {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{number:>6}\t{line}");
    }
    text
}

fn next_call(page: &TextPage, limit: u64) -> String {
    let arguments = json!({"path": page.path.to_string(), "offset": end(page), "limit": limit});
    format!("{} lines remain. Next call: read_file {arguments}\n", page.total_lines - end(page))
}

/// Returns the offset of the first line after the page.
fn end(page: &TextPage) -> u64 {
    page.offset + page.limit
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
