//! `read_file`: numbered lines of a text file, or bytes as base64, a page at a time.

mod bytes;
mod image;
mod magic;
mod page;
mod part;

use std::time::SystemTime;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wink_fs::ops::{self, LineOptions, PageLimit, ReadOptions};
use wink_fs::{ContentHash, Error, ErrorKind, Operation, TreePath};

use crate::schema::{self, arguments};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::{Effect, Family, Run, Tool};
use crate::util::encoding::Encoding;

pub(crate) const TOOL: Tool = Tool {
    name: "read_file",
    title: "Read file",
    description: "Read a text file with line numbers (starting at 1), one page at a time; the \
                  answer gives the next call. `offset` is the number of the first line. A \
                  line longer than a page is read in parts by `column`. Lines that end in \
                  \\r\\n are named. Shows images. With encoding base64, read the bytes of any file; `offset` \
                  and `limit` then count bytes. Also gives the content_hash that write_file \
                  needs to overwrite.",
    effect: Effect::Reads,
    family: Family::Files,
    destructive: false,
    idempotent: true,
    works_in_forks: true,
    parameters: schema::of::<Params>,
    answer: Some(schema::answer::<Answer>),
    run: Run::BuiltIn(|call, arguments| run(call, &arguments::parse(arguments)?)),
};

#[derive(Deserialize, JsonSchema)]
struct Params {
    /// File to read.
    path: String,
    /// First line, by its number (with base64: bytes to skip).
    #[serde(default)]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    offset: u64,
    /// Most lines (with base64: bytes) to show; a page has its own limit too.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    limit: Option<u64>,
    /// Bytes of the line at `offset` to skip; shows only the rest of that line.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    column: Option<u64>,
    /// How to show the content.
    #[serde(default)]
    encoding: Encoding,
}

/// A page of lines has no column, and bytes have no lines.
#[derive(Default, Serialize, JsonSchema)]
struct Answer {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<Encoding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_bytes: Option<u64>,
    /// The number of the first line, or of the first byte, counted from 0.
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_bytes: Option<u64>,
    limit: u64,
    truncated: bool,
    content_hash: String,
    /// The text without line numbers, or the bytes as base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_at: Option<String>,
}

impl Answer {
    /// Adds the content and the times of the file, if the caller shows the data and not the text.
    fn with_data(
        mut self,
        call: &ToolCall<'_>,
        path: &TreePath,
        content: impl FnOnce() -> String,
    ) -> Self {
        if call.context().wants_data {
            let stat = call.tree().stat(path).ok();
            let time = |at: Option<SystemTime>| Some(Timestamp::try_from(at?).ok()?.to_string());
            self.content = Some(content());
            self.created_at = time(stat.as_ref().and_then(|stat| stat.created_at));
            self.modified_at = time(stat.as_ref().and_then(|stat| stat.modified_at));
        }
        self
    }
}

fn run(call: &ToolCall<'_>, params: &Params) -> Result<ToolResult, ToolError> {
    let path = call.path(&params.path)?;
    if params.encoding == Encoding::Base64 {
        refuse_column(params)?;
        return bytes::read(call, &path, params.offset, params.limit);
    }
    let read = text(call, &path, params);
    if read.as_ref().is_err_and(|refusal| refusal.kind() == ErrorKind::NotText)
        && let Some(shown) = image::shown(call, &path)?
    {
        return Ok(shown);
    }
    read.map_err(|refusal| match refusal.kind() {
        ErrorKind::NotText => match bytes::described(call, &path) {
            Ok(described) => refusal.reworded(described),
            Err(gone) => gone,
        },
        _ => refusal,
    })
}

/// Refuses a page with a NUL byte, which no text has.
fn check_text(path: &TreePath, content: &str) -> Result<(), ToolError> {
    match memchr::memchr(0, content.as_bytes()) {
        None => Ok(()),
        Some(_) => Err(Error::new(Operation::Read, ErrorKind::NotText).with_path(path).into()),
    }
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
    let limits = call.limits();
    // Lines are numbered from 1, as they are shown; 0 means the start too.
    let offset = params.offset.saturating_sub(1);
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
            check_text(path, &page.content)?;
            if !page.content.is_empty() || page.total_lines == 0 {
                page.content_hash.into_iter().for_each(|hash| call.saw(hash));
            }
            Ok(page::answer(call, &page, limit))
        }
    }
}
