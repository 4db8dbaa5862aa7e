//! A picture, shown as one.

use wink_fs::TreePath;
use wink_fs::ops::{self, PageLimit, ReadOptions};

use super::{Answer, hash, magic};
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;
use crate::tool::result::{Image, ToolResult};
use crate::util::counted;
use crate::util::encoding::encoded;

/// The largest picture that is shown: model providers refuse those of 5 MB, and base64 is longer by a third.
const MOST_BYTES: u64 = 3 * 1024 * 1024;

/// Shows a file if it is a picture of a type that models read, and not too large.
pub(super) fn shown(call: &ToolCall<'_>, path: &TreePath) -> Result<Option<ToolResult>, ToolError> {
    let tree = call.tree();
    let content = tree.open(path)?;
    let start = content.read_range(0, magic::ENOUGH)?;
    let Some(mime_type) = magic::image_type(&start).filter(|_| content.len() <= MOST_BYTES) else {
        return Ok(None);
    };
    // The limit of a page is for text, of which a model reads every byte.
    let mut limits = call.limits().clone();
    limits.max_read_bytes = limits.max_read_bytes.max(MOST_BYTES);
    let options = ReadOptions::default().limit(PageLimit::Count(MOST_BYTES)).hash(true);
    let page = ops::read_bytes(&*tree, path, &options, &limits)?;
    if page.truncated {
        return Ok(None);
    }
    page.content_hash.into_iter().for_each(|hash| call.saw(hash));
    let answer = Answer {
        path: path.to_string(),
        total_bytes: Some(page.total_bytes),
        limit: page.content.len() as u64,
        content_hash: hash(page.content_hash),
        mime_type: Some(mime_type),
        ..Answer::default()
    };
    let message = format!(
        "{path}: {}, {}\ncontent_hash: {}",
        magic::guessed(&start),
        counted(page.total_bytes, "byte"),
        hash(page.content_hash)
    );
    let image = Image { mime_type, base64: encoded(&page.content) };
    Ok(Some(ToolResult { image: Some(image), ..ToolResult::success(message, answer) }))
}
