//! Adding to the end of files.

use super::support::*;
use crate::error::{ErrorKind, Result};
use crate::filesystem::Backend;
use crate::hash::ContentHash;
use crate::ops::{self, WriteMode, WriteOptions, Written};
use crate::tree::FileMode;

fn options() -> WriteOptions {
    WriteOptions::default().mode(WriteMode::Append)
}

fn expecting(content: &str) -> WriteOptions {
    options().expected(ContentHash::of(content.as_bytes()))
}

fn append(fs: &mut dyn Backend, path: &str, text: &str, options: WriteOptions) -> Result<Written> {
    ops::write(fs, &at(path), text, &options)
}

pub(super) fn append_adds_at_the_end(fs: &mut dyn Backend) {
    make(fs, "f", "no newline");
    append(fs, "f", "; more\r\n", options()).unwrap();
    append(fs, "f", "", options()).unwrap();
    ops::write_bytes(fs, &at("f"), &b"\xff"[..], &options()).unwrap();
    assert_eq!(&bytes(fs, "f")[..], b"no newline; more\r\n\xff");
}

pub(super) fn append_to_a_missing_file_creates_it(fs: &mut dyn Backend) {
    let written = append(fs, "d/e/f", "first", options()).unwrap();
    assert!(written.created);
    assert_eq!(&bytes(fs, "d/e/f")[..], b"first");
}

pub(super) fn append_counts_only_what_it_adds(fs: &mut dyn Backend) {
    make(fs, "f", "before");
    let written = append(fs, "f", " after", options()).unwrap();
    assert_eq!((written.bytes_written, written.mode), (6, WriteMode::Append));
    assert!(!written.created);
    assert_eq!(written.content_hash, ContentHash::of(b"before after"));
}

pub(super) fn append_keeps_the_mode(fs: &mut dyn Backend) {
    make(fs, "f", "");
    let wanted = FileMode::default().executable(true).private(true);
    fs.set_mode(&at("f"), wanted).unwrap();
    append(fs, "f", "more", options()).unwrap();
    assert_eq!(mode(fs, "f"), wanted);
}

pub(super) fn append_to_the_expected_content_adds(fs: &mut dyn Backend) {
    make(fs, "f", "old");
    append(fs, "f", " new", expecting("old")).unwrap();
    assert_eq!(&bytes(fs, "f")[..], b"old new");
}

pub(super) fn append_to_other_content_is_a_conflict_that_carries_the_current_hash(
    fs: &mut dyn Backend,
) {
    make(fs, "f", "another writer's");
    assert_eq!(refused(fs, |fs| append(fs, "f", "x", expecting("old"))), ErrorKind::Conflict);
    let error = append(fs, "f", "x", expecting("old")).unwrap_err();
    assert_eq!(error.current_hash(), Some(ContentHash::of(b"another writer's")));
}

pub(super) fn append_to_a_file_that_is_gone_is_a_conflict(fs: &mut dyn Backend) {
    make(fs, "now-a-file", "");
    for path in ["f", "d/e/f", "now-a-file/f"] {
        let kind = refused(fs, |fs| append(fs, path, "x", expecting("")));
        assert_eq!(kind, ErrorKind::Conflict, "{path}");
    }
}
