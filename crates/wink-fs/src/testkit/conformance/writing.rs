//! Writing whole files.

use super::support::*;
use crate::error::{ErrorKind, Result};
use crate::filesystem::Backend;
use crate::hash::ContentHash;
use crate::ops::{self, WriteMode, WriteOptions, Written};
use crate::tree::FileMode;

fn write(fs: &mut dyn Backend, path: &str, text: &str, options: WriteOptions) -> Result<Written> {
    ops::write(fs, &at(path), text, &options)
}

fn create() -> WriteOptions {
    WriteOptions::default().mode(WriteMode::Create)
}

fn expecting(content: &str) -> WriteOptions {
    WriteOptions::default().expected(ContentHash::of(content.as_bytes()))
}

pub(super) fn a_write_says_what_it_did(fs: &mut dyn Backend) {
    let written = write(fs, "d/f", "größe", WriteOptions::default()).unwrap();
    assert_eq!((written.path, written.bytes_written), (at("d/f"), 7));
    assert_eq!((written.mode, written.created), (WriteMode::Overwrite, true));
    assert_eq!(written.content_hash, ContentHash::of("größe".as_bytes()));
    let again = write(fs, "d/f", "", WriteOptions::default()).unwrap();
    assert_eq!((again.bytes_written, again.created), (0, false));
}

pub(super) fn overwriting_replaces_the_whole_content(fs: &mut dyn Backend) {
    make(fs, "f", "a long old content");
    write(fs, "f", "new", WriteOptions::default()).unwrap();
    assert_eq!(&bytes(fs, "f")[..], b"new");
}

pub(super) fn creating_refuses_what_exists(fs: &mut dyn Backend) {
    make(fs, "d/f", "old");
    make_link(fs, "l", "x");
    for path in ["d/f", "d", "l", ""] {
        let kind = refused(fs, |fs| write(fs, path, "new", create()));
        assert_eq!(kind, ErrorKind::AlreadyExists, "`{path}`");
    }
    assert!(write(fs, "new", "new", create()).unwrap().created);
}

pub(super) fn what_is_created_has_no_expected_hash(fs: &mut dyn Backend) {
    let options = create().expected(ContentHash::of(b""));
    assert_eq!(refused(fs, |fs| write(fs, "f", "", options)), ErrorKind::InvalidArgument);
}

pub(super) fn a_write_makes_missing_parents(fs: &mut dyn Backend) {
    make_dir(fs, "a");
    write(fs, "a/b/c/f", "text", WriteOptions::default()).unwrap();
    write(fs, "d/e/f", "text", create()).unwrap();
    assert_eq!(&bytes(fs, "a/b/c/f")[..], b"text");
}

pub(super) fn a_write_without_parents_is_not_found(fs: &mut dyn Backend) {
    for mode in [WriteMode::Create, WriteMode::Overwrite, WriteMode::Append] {
        let options = WriteOptions::default().mode(mode).create_parents(false);
        let kind = refused(fs, |fs| write(fs, "d/f", "", options));
        assert_eq!(kind, ErrorKind::NotFound, "{mode:?}");
    }
}

pub(super) fn a_write_to_a_directory_is_is_a_directory(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    for path in ["d", ""] {
        for mode in [WriteMode::Overwrite, WriteMode::Append] {
            for options in [WriteOptions::default(), expecting("")] {
                let kind = refused(fs, |fs| write(fs, path, "new", options.mode(mode)));
                assert_eq!(kind, ErrorKind::IsADirectory, "`{path}` {options:?}");
            }
        }
    }
}

pub(super) fn a_write_through_a_file_is_not_a_directory(fs: &mut dyn Backend) {
    make(fs, "f", "old");
    for path in ["f/g", "f/g/h"] {
        for mode in [WriteMode::Create, WriteMode::Overwrite, WriteMode::Append] {
            let options = WriteOptions::default().mode(mode);
            let kind = refused(fs, |fs| write(fs, path, "new", options));
            assert_eq!(kind, ErrorKind::NotADirectory, "{path} {mode:?}");
        }
    }
}

pub(super) fn a_write_with_the_right_hash_replaces(fs: &mut dyn Backend) {
    make(fs, "f", "old");
    let written = write(fs, "f", "new", expecting("old")).unwrap();
    assert!(!written.created);
    assert_eq!(&bytes(fs, "f")[..], b"new");
}

pub(super) fn a_write_with_a_stale_hash_is_a_conflict_that_carries_the_current_hash(
    fs: &mut dyn Backend,
) {
    make(fs, "f", "another writer's");
    let stale = expecting("what I read");
    assert_eq!(refused(fs, |fs| write(fs, "f", "mine", stale)), ErrorKind::Conflict);
    let error = write(fs, "f", "mine", stale).unwrap_err();
    assert_eq!(error.current_hash(), Some(ContentHash::of(b"another writer's")));
}

pub(super) fn a_write_to_a_file_that_is_gone_is_a_conflict(fs: &mut dyn Backend) {
    make(fs, "now-a-file", "");
    for path in ["f", "d/e/f", "now-a-file/f"] {
        let kind = refused(fs, |fs| write(fs, path, "mine", expecting("")));
        assert_eq!(kind, ErrorKind::Conflict, "{path}");
        let error = write(fs, path, "mine", expecting("")).unwrap_err();
        assert_eq!(error.current_hash(), None, "{path}");
    }
}

pub(super) fn a_failed_write_leaves_the_old_content(fs: &mut dyn Backend) {
    make(fs, "f", "old");
    refused(fs, |fs| write(fs, "f", "new", create()));
    refused(fs, |fs| write(fs, "f", "new", expecting("other")));
    refused(fs, |fs| write(fs, "f", "new", expecting("other").mode(WriteMode::Append)));
    assert_eq!(&bytes(fs, "f")[..], b"old");
}

pub(super) fn a_write_keeps_the_mode_or_sets_it(fs: &mut dyn Backend) {
    let script = FileMode::default().executable(true);
    write(fs, "f", "1", WriteOptions::default().file_mode(script)).unwrap();
    write(fs, "f", "2", WriteOptions::default()).unwrap();
    assert_eq!(mode(fs, "f"), script);
    write(fs, "f", "3", WriteOptions::default().file_mode(FileMode::default())).unwrap();
    assert_eq!(mode(fs, "f"), FileMode::default());
}
