//! From a tree to an archive, and the way back to a backend.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, ExportOptions};
use wink_fs::{Backend, Content, Result, Tree};

pub(crate) use crate::common::trees::*;

/// The time all archives of the tests were made.
pub(crate) fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_744_000)
}

pub(crate) fn options() -> ExportOptions {
    ExportOptions::default().created_at(noon())
}

pub(crate) fn export(tree: &dyn Tree) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive::write(tree, &mut bytes, &options()).unwrap();
    bytes
}

pub(crate) fn open(bytes: &[u8]) -> Result<ArchiveTree> {
    open_within(bytes, &ArchiveLimits::default())
}

pub(crate) fn open_within(bytes: &[u8], limits: &ArchiveLimits) -> Result<ArchiveTree> {
    let tree = open_source(bytes, limits)?;
    tree.verify()?;
    Ok(tree)
}

pub(crate) fn open_unverified(bytes: &[u8]) -> Result<ArchiveTree> {
    open_source(bytes, &ArchiveLimits::default())
}

fn open_source(bytes: &[u8], limits: &ArchiveLimits) -> Result<ArchiveTree> {
    let source = Content::from(Bytes::copy_from_slice(bytes));
    ArchiveTree::open(Arc::new(source), bytes.len() as u64, limits)
}

/// Imports an archive as it is, or refuses it before anything is touched.
pub(crate) fn import(files: &mut dyn Backend, bytes: &[u8]) -> Result<()> {
    import_within(files, bytes, &ArchiveLimits::default())
}

pub(crate) fn import_within(
    files: &mut dyn Backend,
    bytes: &[u8],
    limits: &ArchiveLimits,
) -> Result<()> {
    archive::import(files, &open_source(bytes, limits)?).map(drop)
}
