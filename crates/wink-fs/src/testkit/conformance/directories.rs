//! Making directories.

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::Backend;
use crate::ops::{self, MkdirOptions};
use crate::tree::Kind;

pub(super) fn create_dir_makes_an_empty_directory(fs: &mut dyn Backend) {
    fs.create_dir(&at("d")).unwrap();
    fs.create_dir(&at("d/e")).unwrap();
    assert_eq!(kind(fs, "d/e"), Kind::Directory);
    assert!(names(fs, "d/e").is_empty());
}

pub(super) fn create_dir_refuses_whatever_is_there(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    make_link(fs, "dangling", "x");
    for path in ["", "d", "d/f", "l", "dangling"] {
        let kind = refused(fs, |fs| fs.create_dir(&at(path)));
        assert_eq!(kind, ErrorKind::AlreadyExists, "`{path}`");
    }
}

pub(super) fn create_dir_needs_its_parent(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    let mut kind = |path| refused(fs, |fs| fs.create_dir(&at(path)));
    assert_eq!(kind("x/new"), ErrorKind::NotFound);
    assert_eq!(kind("d/x/new"), ErrorKind::NotFound);
    assert_eq!(kind("d/f/new"), ErrorKind::NotADirectory);
    assert_eq!(kind("d/f/x/new"), ErrorKind::NotADirectory);
    assert_eq!(kind("l/new"), ErrorKind::PermissionDenied);
    assert_eq!(kind("l/x/new"), ErrorKind::PermissionDenied);
}

pub(super) fn mkdir_makes_missing_parents(fs: &mut dyn Backend) {
    make_dir(fs, "a");
    assert!(ops::mkdir(fs, &at("a/b/c/d"), &MkdirOptions::default()).unwrap());
    assert_eq!(kind(fs, "a/b/c/d"), Kind::Directory);
}

pub(super) fn mkdir_without_parents_is_not_found(fs: &mut dyn Backend) {
    let options = MkdirOptions::default().parents(false);
    assert_eq!(refused(fs, |fs| ops::mkdir(fs, &at("a/b"), &options)), ErrorKind::NotFound);
    assert!(ops::mkdir(fs, &at("a"), &options).unwrap());
}

pub(super) fn mkdir_accepts_a_directory_that_is_there(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    for path in ["d", ""] {
        assert!(!ops::mkdir(fs, &at(path), &MkdirOptions::default()).unwrap());
    }
    assert_eq!(names(fs, "d"), [b"f"]);
}

pub(super) fn mkdir_without_exist_ok_refuses_a_directory(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    let options = MkdirOptions::default().exist_ok(false);
    for path in ["d", ""] {
        let kind = refused(fs, |fs| ops::mkdir(fs, &at(path), &options));
        assert_eq!(kind, ErrorKind::AlreadyExists);
    }
}

pub(super) fn mkdir_refuses_a_file_and_a_link(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    for path in ["d/f", "l"] {
        let kind = refused(fs, |fs| ops::mkdir(fs, &at(path), &MkdirOptions::default()));
        assert_eq!(kind, ErrorKind::AlreadyExists, "{path}");
    }
}

pub(super) fn mkdir_goes_through_no_file_and_no_link(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    let mut kind = |path| refused(fs, |fs| ops::mkdir(fs, &at(path), &MkdirOptions::default()));
    assert_eq!(kind("d/f/a/b"), ErrorKind::NotADirectory);
    assert_eq!(kind("l/a/b"), ErrorKind::PermissionDenied);
}
