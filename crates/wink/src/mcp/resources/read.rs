//! The content of a resource.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, ResourceContents};
use wink_agent::{ToolContext, ToolError};
use wink_fs::{ErrorKind, Kind, StateRef, Tree, TreePath};

use super::uri::{self, Place};
use super::{about, mime, refused};

/// The type of a list of names.
pub(super) const DIRECTORY: &str = "inode/directory";

/// Bytes of a file that is given as a whole.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// How many names of a directory are given.
const MOST_NAMES: usize = 10_000;

/// Reads a resource: text if it is UTF-8, else bytes as base64.
pub(in super::super) fn read(
    context: &ToolContext,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let parsed = uri::parse(uri);
    let found = parsed.and_then(|(place, text)| found(context, &place, &text).map_err(refused));
    Ok(ReadResourceResult::new(vec![found.map_err(|error| about(error, uri))?]))
}

fn found(context: &ToolContext, place: &Place, text: &str) -> Result<ResourceContents, ToolError> {
    let none = || ToolError::new(ErrorKind::Unavailable, "There are no files here.");
    let workspace = context.workspace.as_ref().ok_or_else(none)?;
    let path = workspace.path(text)?;
    let tree = match place {
        Place::Live => context.look(StateRef::Live)?,
        Place::Snapshot(name) => context.look(&workspace.find_snapshot(name.as_str())?)?,
    };
    let uri = uri::named(place, &path);
    match tree.stat(&path)?.kind {
        Kind::Directory => Ok(names(&*tree, &path, uri)?),
        _ => content(&*tree, &path, uri),
    }
}

fn names(tree: &dyn Tree, path: &TreePath, uri: String) -> wink_fs::Result<ResourceContents> {
    let entries = tree.list(path)?;
    let line = |entry: &wink_fs::Entry| {
        let end = if entry.kind == Kind::Directory { "/\n" } else { "\n" };
        format!("{}{end}", entry.name)
    };
    let mut text: String = entries.iter().take(MOST_NAMES).map(line).collect();
    if entries.len() > MOST_NAMES {
        text += &format!("… and {} more; list them with ls.\n", entries.len() - MOST_NAMES);
    }
    Ok(ResourceContents::text(text, uri).with_mime_type(DIRECTORY))
}

fn content(tree: &dyn Tree, path: &TreePath, uri: String) -> Result<ResourceContents, ToolError> {
    let content = tree.open(path)?;
    if content.len() > MAX_BYTES {
        let message = format!(
            "{path} has {} bytes, more than the {MAX_BYTES} that are given as a whole; read it in \
             parts with read_file.",
            content.len()
        );
        return Err(ToolError::new(ErrorKind::TooLarge, message));
    }
    let bytes = content.read_all()?;
    let known = mime::by_name(path);
    Ok(match std::str::from_utf8(&bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(known.unwrap_or("text/plain")),
        Err(_) => ResourceContents::blob(STANDARD.encode(&bytes), uri)
            .with_mime_type(known.unwrap_or("application/octet-stream")),
    })
}
