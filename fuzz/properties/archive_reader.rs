//! What holds for every archive that opens, whatever bytes it is made of.
//!
//! Shared by the fuzz target and by the test that replays its corpus.

use std::sync::Arc;

use bytes::Bytes;
use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, ExportOptions};
use wink_fs::testkit::dump;
use wink_fs::{Content, Result};

/// Panics when a property fails for an archive of these bytes.
pub(crate) fn check(data: &[u8]) {
    match open(data) {
        Ok(tree) => comes_back_from_its_own_archive(&tree),
        Err(error) => message_is_bounded_and_harmless(&error.to_string()),
    }
}

/// Opens and verifies, within limits that keep a run short.
fn open(data: &[u8]) -> Result<ArchiveTree> {
    let limits = ArchiveLimits::default()
        .max_entries(1_000)
        .max_file_bytes(16 << 20)
        .max_total_bytes(32 << 20);
    let source = Content::from(Bytes::copy_from_slice(data));
    let tree = ArchiveTree::open(Arc::new(source), data.len() as u64, &limits)?;
    tree.verify()?;
    Ok(tree)
}

fn comes_back_from_its_own_archive(tree: &ArchiveTree) {
    let mut bytes = Vec::new();
    let options = ExportOptions::default().level(1).created_at(tree.created_at());
    let exported = archive::write(tree, &mut bytes, &options).expect("it opened and verified");
    assert_eq!(exported.file_count, tree.file_count());
    assert_eq!(exported.total_bytes, tree.total_bytes());
    let again = open(&bytes).expect("it is our own archive");
    assert_eq!(dump(&again).expect("it opens"), dump(tree).expect("it verified"));
    assert_eq!(again.created_at(), tree.created_at());
}

fn message_is_bounded_and_harmless(message: &str) {
    assert!(message.len() < 2_000, "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
}
