//! Reads, edits and replaces a file, atomically against other writers.

use bytes::Bytes;
use wink_fs::{
    ContentHash, Error, ErrorKind, Filesystem, Limits, Operation, PutCondition, PutOptions, Staged,
    Tree, TreePath,
};

use crate::edit::Edited;
use crate::policy::expected_hash;
use crate::tool::call::ToolCall;
use crate::tool::error::ToolError;

/// The content of a file when it was read.
pub(crate) struct Known {
    pub(crate) bytes: Bytes,
    pub(crate) hash: ContentHash,
}

/// What a rewrite did.
pub(crate) struct Rewritten {
    pub(crate) edited: Edited,
    pub(crate) content_hash: ContentHash,
}

/// Edits a file for a tool; the file is replaced only if it has not changed since it was read.
///
/// Without an expected hash a concurrent change makes it start again, a few times, before it is a
/// Conflict.
pub(crate) fn rewrite(
    call: &ToolCall<'_>,
    path: &TreePath,
    expected: Option<ContentHash>,
    edit: impl Fn(Bytes) -> Result<Edited, ToolError>,
) -> Result<Rewritten, ToolError> {
    call.change(|fs| match expected {
        Some(_) => once(fs, path, expected, &edit),
        None => retried(|| once(fs, path, None, &edit)),
    })
}

fn once(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    expected: Option<ContentHash>,
    edit: &impl Fn(Bytes) -> Result<Edited, ToolError>,
) -> Result<Rewritten, ToolError> {
    let known = read(fs, path, &fs.properties().limits)?;
    if expected.is_some_and(|expected| expected != known.hash) {
        let conflict = Error::new(Operation::Write, ErrorKind::Conflict);
        let conflict = conflict.with_path(path).with_current_hash(known.hash);
        return Err(expected_hash::stale(conflict.into(), path));
    }
    let edited = edit(known.bytes)?;
    let mut staged = Staged::from_bytes(edited.bytes.clone());
    let options = PutOptions::default().condition(PutCondition::Unchanged(known.hash));
    fs.put(path, &mut staged, &options)?;
    Ok(Rewritten { edited, content_hash: staged.hash() })
}

/// Reads a whole file that is to be edited.
pub(crate) fn read(tree: &dyn Tree, path: &TreePath, limits: &Limits) -> wink_fs::Result<Known> {
    let content = tree.open(path)?;
    let size = content.len();
    let most = limits.max_edit_bytes;
    if size > most {
        return Err(Error::new(Operation::Write, ErrorKind::TooLarge).with_path(path).with_detail(
            format!(
                "the file has {size} bytes and one call edits at most {most} (limit \
                 max_edit_bytes); write what is new to another file"
            ),
        ));
    }
    let bytes = content
        .read_all()
        .map_err(|error| Error::system(Operation::Read, error).with_path(path))?;
    let hash = content.known_hash().unwrap_or_else(|| ContentHash::of(&bytes));
    Ok(Known { bytes, hash })
}

/// Fails if a call supplies more text than the limits allow.
pub(crate) fn check_supplied<'a>(
    limits: &Limits,
    what: &str,
    texts: impl Iterator<Item = &'a str>,
) -> Result<(), ToolError> {
    let size = texts.map(|text| text.chars().count() as u64).sum::<u64>();
    match limits.max_content {
        Some(most) if size > most => Err(Error::new(Operation::Write, ErrorKind::TooLarge)
            .with_detail(format!(
                "{what} has {size} characters and one call takes at most {most} (limit \
                 max_content); make the change in several calls"
            ))
            .into()),
        _ => Ok(()),
    }
}

/// How often a change starts again because another process changed the file meanwhile.
const TRIES: usize = 8;

/// Repeats an attempt while it fails with a Conflict, because another process changed the file.
///
/// The attempt must read again, and be correct for whatever it finds, as an edit is whose text must match once.
pub(crate) fn retried<T>(
    mut attempt: impl FnMut() -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    for _ in 1..TRIES {
        match attempt() {
            Err(refusal) if refusal.kind() == ErrorKind::Conflict => {}
            result => return result,
        }
    }
    attempt()
}
