//! A range of bytes, as base64.

use serde_json::json;
use wink_fs::TreePath;
use wink_fs::ops::{self, BytePage, PageLimit, ReadOptions};

use super::{Answer, hash, magic};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::util::counted;
use crate::util::encoding::{Encoding, encoded};

pub(super) fn read(
    call: &ToolCall<'_>,
    path: &TreePath,
    offset: u64,
    limit: Option<u64>,
) -> Result<ToolResult, ToolError> {
    let limits = call.limits();
    let limit = limit.map_or(limits.max_read_bytes, |limit| limit.min(limits.max_read_bytes));
    let options = ReadOptions::default().offset(offset).limit(PageLimit::Count(limit)).hash(true);
    let page = ops::read_bytes(&*call.tree(), path, &options, limits)?;
    if !page.content.is_empty() || page.total_bytes == 0 {
        page.content_hash.into_iter().for_each(|hash| call.saw(hash));
    }
    let answer = answer(&page).with_data(call, path, || encoded(&page.content));
    Ok(ToolResult::success(message(call, &page, limit), answer))
}

fn message(call: &ToolCall<'_>, page: &BytePage, limit: u64) -> String {
    let BytePage { path, content, total_bytes, offset, .. } = page;
    let mut message = if *total_bytes == 0 {
        format!("{path} is empty: it exists and has no bytes.\n")
    } else if offset >= total_bytes {
        format!(
            "Nothing to show: offset {offset} is past the end of {path}, which has {}.\n",
            counted(*total_bytes, "byte")
        )
    } else {
        let shown = counted(content.len() as u64, "byte");
        let head = format!("{path}: {shown} from offset {offset} of {total_bytes}, as base64\n");
        if call.context().wants_data { head } else { head + &encoded(content) + "\n" }
    };
    if page.truncated {
        message.push_str(&next_call(call, page, limit));
    }
    message + &format!("content_hash: {}", hash(page.content_hash))
}

fn next_call(call: &ToolCall<'_>, page: &BytePage, limit: u64) -> String {
    let next = page.offset + page.content.len() as u64;
    let arguments = json!({
        "path": page.path.to_string(), "encoding": "base64", "offset": next, "limit": limit,
    });
    let left = counted(page.total_bytes - next, "byte");
    format!("{left} left. Next call: read_file {}\n", call.next(arguments))
}

fn answer(page: &BytePage) -> Answer {
    Answer {
        path: page.path.to_string(),
        encoding: Some(Encoding::Base64),
        total_bytes: Some(page.total_bytes),
        offset: page.offset,
        limit: page.content.len() as u64,
        truncated: page.truncated,
        content_hash: hash(page.content_hash),
        ..Answer::default()
    }
}

/// Describes a file that cannot be shown as text, and how to read it.
pub(super) fn described(call: &ToolCall<'_>, path: &TreePath) -> Result<String, ToolError> {
    let content = call.tree().open(path)?;
    let kind = magic::guessed(&content.read_range(0, magic::ENOUGH)?);
    let arguments = call.next(json!({"path": path.to_string(), "encoding": "base64"}));
    Ok(format!(
        "{path} is binary, not UTF-8 text ({kind}, {}); read its bytes with read_file {arguments}.",
        counted(content.len(), "byte")
    ))
}
