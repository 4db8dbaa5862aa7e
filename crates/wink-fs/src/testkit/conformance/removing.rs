//! Removing entries.

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::{Backend, Recursion, Removed};

pub(super) fn removing_a_file_counts_it(fs: &mut dyn Backend) {
    for recursion in [Recursion::OnlyEmpty, Recursion::Recursive] {
        make(fs, "f", "");
        assert_eq!(fs.remove(&at("f"), recursion).unwrap(), Removed::new(1, 0));
        assert!(missing(fs, "f"));
    }
}

pub(super) fn an_empty_directory_needs_no_recursion(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    assert_eq!(fs.remove(&at("d"), Recursion::OnlyEmpty).unwrap(), Removed::new(0, 1));
    assert!(missing(fs, "d"));
}

pub(super) fn a_directory_with_entries_is_not_empty(fs: &mut dyn Backend) {
    make(fs, "file/f", "");
    make_dir(fs, "directory/d");
    make_dir(fs, "link");
    make_link(fs, "link/l", "x");
    for path in ["file", "directory", "link"] {
        let kind = refused(fs, |fs| fs.remove(&at(path), Recursion::OnlyEmpty));
        assert_eq!(kind, ErrorKind::NotEmpty, "{path}");
    }
}

pub(super) fn removing_recursively_counts_everything(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make(fs, "d/e/g", "");
    make_dir(fs, "d/e/empty");
    make_link(fs, "d/l", "e");
    assert_eq!(fs.remove(&at("d"), Recursion::Recursive).unwrap(), Removed::new(3, 3));
    assert!(names(fs, "").is_empty());
}

pub(super) fn removing_leaves_everything_else(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make(fs, "d-e/f", "kept");
    make(fs, "dd", "kept");
    fs.remove(&at("d"), Recursion::Recursive).unwrap();
    assert_eq!(names(fs, ""), [&b"d-e"[..], b"dd"]);
    assert_eq!(&bytes(fs, "d-e/f")[..], b"kept");
}

pub(super) fn removing_recursively_follows_no_link(fs: &mut dyn Backend) {
    make(fs, "kept/f", "kept");
    make_dir(fs, "d");
    make_link(fs, "d/l", "../kept");
    make_link(fs, "d/up", "..");
    assert_eq!(fs.remove(&at("d"), Recursion::Recursive).unwrap(), Removed::new(2, 1));
    assert_eq!(&bytes(fs, "kept/f")[..], b"kept");
}

pub(super) fn the_root_cannot_be_removed(fs: &mut dyn Backend) {
    for recursion in [Recursion::OnlyEmpty, Recursion::Recursive] {
        let kind = refused(fs, |fs| fs.remove(&at(""), recursion));
        assert_eq!(kind, ErrorKind::PermissionDenied);
        make(fs, "f", "");
    }
}

pub(super) fn what_is_not_there_cannot_be_removed(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    for recursion in [Recursion::OnlyEmpty, Recursion::Recursive] {
        let mut kind = |path| refused(fs, |fs| fs.remove(&at(path), recursion));
        assert_eq!(kind("x"), ErrorKind::NotFound);
        assert_eq!(kind("x/y"), ErrorKind::NotFound);
        assert_eq!(kind("d/f/x"), ErrorKind::NotFound);
        assert_eq!(kind("l/f"), ErrorKind::PermissionDenied);
    }
}

pub(super) fn a_removed_name_can_be_used_again(fs: &mut dyn Backend) {
    make(fs, "n/f", "");
    fs.remove(&at("n"), Recursion::Recursive).unwrap();
    make(fs, "n", "now a file");
    assert_eq!(&bytes(fs, "n")[..], b"now a file");
}
