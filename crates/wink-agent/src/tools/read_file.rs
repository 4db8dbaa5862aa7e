//! `read_file`: numbered lines of a text file, a page at a time.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wink_fs::ops::{self, PageLimit, ReadOptions, TextPage};
use wink_fs::{ContentHash, Workspace};

use crate::refusal::Refusal;
use crate::result::ToolResult;
use crate::tool::{Effect, Tool};
use crate::{arguments, schema};

pub(crate) const TOOL: Tool = Tool {
    name: "read_file",
    title: "Read file",
    description: "Reads a text file and shows its lines with their numbers, which start at 1. \
                  `offset` counts lines from 0, so offset 0 starts at line number 1. Shows at \
                  most 2000 lines at once and, when lines remain, the call that shows the next \
                  ones. Also gives the content_hash that write_file wants before it overwrites.",
    effect: Effect::Reads,
    schema: schema::of::<Params>,
    run: |workspace, arguments| run(workspace, &arguments::parse(arguments)?),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// File to read, relative to the workspace root.
    path: String,
    /// How many lines to skip: 0 (the default) starts at the first line.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
    /// How many lines to show at most.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 2000))]
    limit: u64,
}

fn page() -> u64 {
    2000
}

fn run(workspace: &Workspace, params: &Params) -> Result<ToolResult, Refusal> {
    let path = workspace.path(&params.path)?;
    // One tree for both, so that the hash is the hash of what is shown.
    let tree = workspace.tree();
    let options = ReadOptions::default()
        .offset(params.offset)
        .limit(PageLimit::Count(params.limit));
    let page = ops::read(&*tree, &path, &options)?;
    let hash = ops::content_hash(&*tree, &path)?;
    Ok(ToolResult::success(
        message(&page, hash, params.limit),
        value(&page, hash),
    ))
}

fn message(page: &TextPage, hash: ContentHash, limit: u64) -> String {
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
    message + &format!("content_hash: {hash}")
}

fn past_the_end(page: &TextPage) -> String {
    let TextPage {
        path,
        offset,
        total_lines,
        ..
    } = page;
    let last = total_lines - 1;
    format!(
        "Nothing to show: offset {offset} is past the end of {path}, whose last line is at offset {last}.\n"
    )
}

fn shown(page: &TextPage) -> String {
    let (first, last) = (page.offset + 1, end(page));
    let mut text = format!(
        "{}: lines {first} to {last} of {}\n",
        page.path, page.total_lines
    );
    for (number, line) in (first..).zip(page.content.lines()) {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{number:>6}\t{line}");
    }
    text
}

fn next_call(page: &TextPage, limit: u64) -> String {
    let arguments = json!({"path": page.path.to_string(), "offset": end(page), "limit": limit});
    format!(
        "{} lines remain. Next call: read_file {arguments}\n",
        page.total_lines - end(page)
    )
}

/// Returns the offset of the first line after the page.
fn end(page: &TextPage) -> u64 {
    page.offset + page.limit
}

fn value(page: &TextPage, hash: ContentHash) -> Value {
    json!({
        "path": page.path.to_string(),
        "total_lines": page.total_lines,
        "offset": page.offset,
        "limit": page.limit,
        "truncated": page.truncated,
        "content_hash": hash.to_string(),
    })
}
