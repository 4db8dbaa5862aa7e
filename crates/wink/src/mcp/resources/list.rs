//! Resources in order, a page at a time.

use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, Resource};
use wink_agent::ToolContext;
use wink_fs::{ErrorKind, Kind, Result, Snapshot, StateRef, Tree, TreePath};

use super::uri::{self, Place};
use super::{failed, mime, refused};

/// How many resources a page lists.
const PAGE: usize = 100;

/// Lists the files in the order of their paths, then the snapshots, oldest first.
///
/// The cursor is the name of the last resource of the page before, so the server keeps no state between pages,
/// and files that come and go meanwhile move no other ones.
pub(in super::super) fn list(
    context: &ToolContext,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let mut page = Vec::new();
    let after = cursor.map(uri::parse).transpose()?;
    let snapshot = match &after {
        Some((Place::Snapshot(id), _)) => Some(id.as_str()),
        after => {
            let tree = context.look(StateRef::Live).map_err(refused)?;
            let after = after.as_ref().map(|(_, text)| TreePath::parse(text));
            let after = after.transpose().map_err(failed)?;
            let first = after.as_ref().map_or(&[][..], |path| path.as_bytes());
            let after: Vec<&[u8]> = first.split(|b| *b == b'/').filter(|s| !s.is_empty()).collect();
            files(&*tree, &TreePath::root(), &after, &mut page).map_err(failed)?;
            None
        }
    };
    if page.len() <= PAGE {
        page.extend(kept(context, snapshot)?.take(PAGE + 1 - page.len()));
    }
    Ok(paged(page))
}

/// Returns a page, and where the next one begins.
fn paged(mut page: Vec<Resource>) -> ListResourcesResult {
    let is_more = page.len() > PAGE;
    page.truncate(PAGE);
    let next = page.last().filter(|_| is_more).map(|last| last.uri.clone());
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = next;
    result
}

/// Adds the files below a directory that come after a path, until there are enough.
fn files(
    tree: &dyn Tree,
    directory: &TreePath,
    after: &[&[u8]],
    page: &mut Vec<Resource>,
) -> Result<()> {
    let first = after.first().copied();
    for entry in tree.list(directory)? {
        let name = entry.name.as_bytes();
        if page.len() > PAGE || first.is_some_and(|first| name < first) {
            continue;
        }
        let path = directory.join(&entry.name)?;
        let begins = first == Some(name);
        let below = if begins { &after[1..] } else { &[] };
        match entry.kind {
            Kind::Directory => within(files(tree, &path, below, page))?,
            Kind::File if !begins => {
                let size = tree.stat(&path).ok().map(|stat| stat.size_bytes);
                page.push(file(&Place::Live, &path, size));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Passes over a directory that is gone by now, or may not be looked at.
fn within(looked: Result<()>) -> Result<()> {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    match looked {
        Err(error) if matches!(error.kind(), NotADirectory | NotFound | PermissionDenied) => Ok(()),
        looked => looked,
    }
}

/// Names a file as a resource.
pub(super) fn file(place: &Place, path: &TreePath, size: Option<u64>) -> Resource {
    let mut resource = Resource::new(uri::named(place, path), path.to_string());
    resource.mime_type = mime::by_name(path).map(str::to_owned);
    resource.size = size;
    resource
}

/// Returns the snapshots that come after one.
fn kept(
    context: &ToolContext,
    after: Option<&str>,
) -> Result<impl Iterator<Item = Resource>, ErrorData> {
    let all = context.workspace.as_ref().map(|files| files.snapshots());
    let all = match all {
        // Without a history there are none.
        Some(Err(error)) if error.kind() == ErrorKind::Unsupported => Vec::new(),
        all => all.transpose().map_err(failed)?.unwrap_or_default(),
    };
    let after = after.map(|after| all.iter().position(|it| it.id.to_string() == after));
    let skipped = match after {
        None => 0,
        Some(Some(last)) => last + 1,
        Some(None) => return Err(ErrorData::invalid_params("The cursor is not known.", None)),
    };
    Ok(all.into_iter().skip(skipped).map(|it| snapshot(&it)))
}

fn snapshot(snapshot: &Snapshot) -> Resource {
    let place = Place::Snapshot(snapshot.id.to_string());
    let name = snapshot.tag.clone().unwrap_or_else(|| snapshot.id.short());
    let uri = uri::named(&place, &TreePath::root());
    Resource::new(uri, name)
        .with_title(format!("Snapshot {}", snapshot.id.short()))
        .with_mime_type(super::read::DIRECTORY)
}
