//! `read_file`: numbered lines of a text file, or bytes as base64, a page at a time.

mod bytes;
mod magic;
mod page;
mod part;

use schemars::JsonSchema;
use serde::Deserialize;
use wink_fs::ops::{self, LineOptions, PageLimit, ReadOptions};
use wink_fs::{ContentHash, ErrorKind, TreePath};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::encoding::Encoding;

pub(crate) const TOOL: Tool = Tool {
    name: "read_file",
    title: "Read file",
    description: "Reads a text file and shows its lines with their numbers, which start at 1. \
                  `offset` counts lines from 0, so offset 0 starts at line number 1. Shows a \
                  page at a time and, when something remains, the call that shows the next part. A \
                  line too long for a page comes in parts, by `column`. Line ends are not shown; the \
                  answer names the lines that end in \\r\\n. With encoding base64 it \
                  gives the bytes of any file, and `offset` and `limit` count bytes. Also gives \
                  the content_hash that write_file wants before it overwrites.",
    effect: Effect::Reads,
    family: Family::Files,
    schema: schema::of::<Params>,
    run: Run::Ours(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// File to read, relative to the workspace root.
    path: String,
    /// How many lines (bytes with base64) to skip: 0 (the default) starts at the first one.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
    /// How many lines (bytes with base64) to show at most; a page has its own limit too.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    limit: Option<u64>,
    /// How many bytes of the line at `offset` to skip; shows only the rest of that line.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    column: Option<u64>,
    /// How to show the content.
    #[serde(default)]
    encoding: Encoding,
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    if params.encoding == Encoding::Base64 {
        refuse_column(params)?;
        return bytes::read(call, &path, params.offset, params.limit);
    }
    let read = text(call, &path, params);
    read.map_err(|refusal| match refusal.kind() {
        ErrorKind::NotText => match bytes::described(call, &path) {
            Ok(described) => refusal.reworded(described),
            Err(gone) => gone,
        },
        _ => refusal,
    })
}

/// Shows the hash of a file that was read to its end or not.
fn hash(hash: Option<ContentHash>) -> String {
    hash.map(|hash| hash.to_string()).unwrap_or_default()
}

fn refuse_column(params: &Params) -> Result<(), ToolError> {
    match params.column {
        None | Some(0) => Ok(()),
        Some(_) => Err(ToolError::invalid_argument(
            "`column` is for text; with encoding base64 give the byte as `offset`.",
        )),
    }
}

fn text(call: &ToolCall<'_>, path: &TreePath, params: &Params) -> Result<ToolResult, ToolError> {
    let (limits, offset) = (call.limits(), params.offset);
    let limit = params.limit.map_or(limits.page_lines, |limit| limit.min(limits.page_lines));
    let part = LineOptions::default().line(offset).hash(true);
    if let Some(column) = params.column.filter(|column| *column > 0) {
        return part::read(call, path, &part.column(column), limit);
    }
    let options = ReadOptions::default().offset(offset).limit(PageLimit::Count(limit)).hash(true);
    match ops::read(&*call.tree(), path, &options, limits) {
        // The first line alone is longer than a page.
        Err(error) if error.kind() == ErrorKind::TooLarge => part::read(call, path, &part, limit),
        page => {
            let page = page?;
            if !page.content.is_empty() || page.total_lines == 0 {
                page.content_hash.into_iter().for_each(|hash| call.saw(hash));
            }
            Ok(page::answer(call, &page, limit))
        }
    }
}
