//! Copying entries.

use super::support::*;
use crate::error::{ErrorKind, Result};
use crate::filesystem::Backend;
use crate::ops::{self, Copied, MoveOptions};
use crate::tree::FileMode;

fn copy(fs: &mut dyn Backend, from: &str, to: &str) -> Result<Copied> {
    ops::copy(fs, &at(from), &at(to), &MoveOptions::default())
}

fn replace(fs: &mut dyn Backend, from: &str, to: &str) -> Result<Copied> {
    ops::copy(fs, &at(from), &at(to), &MoveOptions::default().replace(true))
}

pub(super) fn a_copy_of_a_file_is_a_file_of_its_own(fs: &mut dyn Backend) {
    make(fs, "f", "content");
    let copied = copy(fs, "f", "g").unwrap();
    assert_eq!((copied.files, copied.directories, copied.bytes), (1, 0, 7));
    make(fs, "g", "changed");
    assert_eq!(&bytes(fs, "f")[..], b"content");
}

pub(super) fn a_copy_keeps_the_mode(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make(fs, "old", "");
    let wanted = FileMode::default().executable(true).private(true);
    fs.set_mode(&at("d/f"), wanted).unwrap();
    copy(fs, "d", "e").unwrap();
    replace(fs, "d/f", "old").unwrap();
    assert_eq!((mode(fs, "e/f"), mode(fs, "old")), (wanted, wanted));
}

pub(super) fn a_copy_of_a_link_is_a_link(fs: &mut dyn Backend) {
    make_link(fs, "l", "../nowhere");
    let copied = copy(fs, "l", "m").unwrap();
    assert_eq!((copied.files, copied.bytes), (1, 0));
    assert_eq!(fs.read_link(&at("m")).unwrap(), b"../nowhere");
}

pub(super) fn a_copy_of_a_directory_has_all_that_is_below_it(fs: &mut dyn Backend) {
    make(fs, "d/e/f", "content");
    make_dir(fs, "d/empty");
    make_link(fs, "d/l", "e");
    let copied = copy(fs, "d", "c").unwrap();
    assert_eq!((copied.files, copied.directories, copied.bytes), (2, 3, 7));
    assert_eq!(names(fs, "c"), [&b"e"[..], b"empty", b"l"]);
    assert_eq!(&bytes(fs, "c/e/f")[..], b"content");
    assert_eq!(&bytes(fs, "d/e/f")[..], b"content");
}

pub(super) fn copy_refuses_what_exists(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make(fs, "f", "");
    make_link(fs, "l", "x");
    for from in ["d", "f", "l"] {
        for to in ["d", "f", "l"] {
            let kind = refused(fs, |fs| copy(fs, from, to));
            assert_eq!(kind, ErrorKind::AlreadyExists, "{from} to {to}");
        }
    }
}

pub(super) fn a_copy_replaces_a_file_by_a_file(fs: &mut dyn Backend) {
    make(fs, "f", "new");
    make(fs, "g", "old");
    replace(fs, "f", "g").unwrap();
    replace(fs, "f", "f").unwrap();
    assert_eq!((&bytes(fs, "f")[..], &bytes(fs, "g")[..]), (&b"new"[..], &b"new"[..]));
}

pub(super) fn a_copy_replaces_nothing_but_files_by_files(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    make_dir(fs, "e");
    make(fs, "f", "");
    make_link(fs, "l", "x");
    for (from, to) in [("d", "e"), ("d", "d"), ("d", "f"), ("d", "l"), ("l", "f"), ("l", "l")] {
        let kind = refused(fs, |fs| replace(fs, from, to));
        assert_eq!(kind, ErrorKind::AlreadyExists, "{from} to {to}");
    }
    assert_eq!(refused(fs, |fs| replace(fs, "f", "d")), ErrorKind::IsADirectory);
    assert_eq!(refused(fs, |fs| replace(fs, "f", "l")), ErrorKind::PermissionDenied);
}

pub(super) fn a_directory_cannot_be_copied_into_itself(fs: &mut dyn Backend) {
    make_dir(fs, "d/e");
    for (from, to) in [("d", "d/x"), ("d", "d/e/x"), ("d", "d/x/y"), ("", "x"), ("", "d")] {
        let kind = refused(fs, |fs| copy(fs, from, to));
        assert_eq!(kind, ErrorKind::InvalidArgument, "`{from}` to {to}");
    }
}

pub(super) fn nothing_is_copied_to_the_root(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    for from in ["d", "x", ""] {
        let kind = refused(fs, |fs| copy(fs, from, ""));
        assert_eq!(kind, ErrorKind::PermissionDenied, "`{from}`");
    }
}

pub(super) fn a_copy_of_what_is_not_there_is_not_found(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    assert_eq!(refused(fs, |fs| copy(fs, "x", "a/b")), ErrorKind::NotFound);
    assert_eq!(refused(fs, |fs| copy(fs, "d/f/x", "a/b")), ErrorKind::NotFound);
    assert_eq!(refused(fs, |fs| copy(fs, "l/f", "a/b")), ErrorKind::PermissionDenied);
}

pub(super) fn a_copy_makes_missing_parents(fs: &mut dyn Backend) {
    make(fs, "d/f", "content");
    copy(fs, "d", "a/b/c").unwrap();
    assert_eq!(&bytes(fs, "a/b/c/f")[..], b"content");
}

pub(super) fn a_copy_without_parents_is_not_found(fs: &mut dyn Backend) {
    make(fs, "f", "");
    let options = MoveOptions::default().create_parents(false);
    let kind = refused(fs, |fs| ops::copy(fs, &at("f"), &at("a/b"), &options));
    assert_eq!(kind, ErrorKind::NotFound);
}

pub(super) fn a_copy_goes_through_no_file_and_no_link(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    for from in ["d", "d/f", "l"] {
        let mut kind = |to| refused(fs, |fs| copy(fs, from, to));
        if from != "d" {
            assert_eq!(kind("d/f/x"), ErrorKind::NotADirectory, "{from}");
        }
        assert_eq!(kind("l/x"), ErrorKind::PermissionDenied, "{from}");
    }
}
