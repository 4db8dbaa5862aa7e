//! The files of one moment, and restoring them.

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::capture::Capture;
use crate::filesystem::{Backend, Recursion};
use crate::testkit::dump;
use crate::tree::FileMode;
use crate::tree::hash::tree_hash;
use crate::tree::scope::{Exclusions, Scope};

fn captured(fs: &dyn Backend) -> Capture {
    fs.capture(&Exclusions::default()).unwrap()
}

fn varied(fs: &mut dyn Backend) {
    make(fs, "file", "old");
    make(fs, "d/e/deep", "x".repeat(70_000));
    make(fs, "run", "#!/bin/sh\r\n");
    make_dir(fs, "empty/empty");
    make_link(fs, "link", "anywhere");
    make_at(fs, &disk(b"caf\xe9\n"), "odd");
    fs.set_mode(&at("run"), FileMode::default().executable(true).private(true)).unwrap();
}

pub(super) fn a_capture_is_the_same_tree(fs: &mut dyn Backend) {
    varied(fs);
    let capture = captured(fs);
    assert_eq!(dump(&*capture.tree).unwrap(), dump(fs).unwrap());
    assert_eq!(tree_hash(&*capture.tree).unwrap(), tree_hash(fs).unwrap());
    assert!(capture.point_in_time && capture.not_captured.is_empty());
}

pub(super) fn a_capture_counts_what_is_in_it(fs: &mut dyn Backend) {
    varied(fs);
    make(fs, "d/gone", "gone");
    fs.remove(&at("d/gone"), Recursion::OnlyEmpty).unwrap();
    let totals = captured(fs).totals;
    let bytes = 3 + 70_000 + 11 + 3;
    assert_eq!((totals.files, totals.directories, totals.bytes), (5, 4, bytes));
}

pub(super) fn later_changes_do_not_show_in_a_capture(fs: &mut dyn Backend) {
    varied(fs);
    let capture = captured(fs);
    let root = names(&*capture.tree, "");
    make(fs, "later", "");
    fs.remove(&at("d"), Recursion::Recursive).unwrap();
    fs.set_mode(&at("file"), FileMode::default().executable(true)).unwrap();
    assert_eq!(names(&*capture.tree, ""), root);
    assert_eq!(names(&*capture.tree, "d/e"), [b"deep"]);
    assert!(!mode(&*capture.tree, "file").executable);
}

/// Content that is not kept must not be replaced by other content either.
pub(super) fn content_of_a_capture_is_of_its_moment_or_a_conflict(fs: &mut dyn Backend) {
    make(fs, "file", "old");
    let capture = captured(fs);
    make(fs, "file", "new");
    match capture.tree.open(&at("file")).map(|content| content.read_all().unwrap()) {
        Ok(content) => assert_eq!(&content[..], b"old"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
    }
}

pub(super) fn what_is_excluded_is_not_captured(fs: &mut dyn Backend) {
    varied(fs);
    let capture = fs.capture(&Exclusions::parse(["e", "/run"]).unwrap()).unwrap();
    assert!(missing(&*capture.tree, "d/e") && missing(&*capture.tree, "run"));
    assert_eq!(bytes(&*capture.tree, "file"), "old");
    assert_eq!(capture.totals.files, 3);
}

pub(super) fn what_is_excluded_is_not_touched(fs: &mut dyn Backend) {
    make(fs, "kept/by/setting", "mine");
    make(fs, "kept/gone", "");
    make(fs, "gone", "");
    let excluded = Exclusions::parse(["setting"]).unwrap();
    fs.replace(&crate::MemoryBackend::new(), &Scope::everything().excluding(excluded)).unwrap();
    assert_eq!(dump(fs).unwrap(), ["kept/", "kept/by/", r#"kept/by/setting "mine""#]);
}

pub(super) fn only_the_paths_in_scope_are_replaced(fs: &mut dyn Backend) {
    let mut target = crate::MemoryBackend::new();
    for (path, content) in [("a/in", "new"), ("a/out", "new"), ("b", "new"), ("c/d/e", "new")] {
        make(&mut target, path, content);
        make(fs, path, "old");
    }
    make(fs, "a/in-too/gone", "");
    fs.remove(&at("c"), Recursion::Recursive).unwrap();
    let scope = Scope::paths(["a/in", "a/in-too", "c/d/e"].map(at));
    let replaced = fs.replace(&target, &scope).unwrap();
    assert_eq!((replaced.written, replaced.removed, replaced.unchanged), (2, 1, 0));
    for (path, content) in [("a/in", "new"), ("a/out", "old"), ("b", "old"), ("c/d/e", "new")] {
        assert_eq!(bytes(fs, path), content, "{path}");
    }
    assert!(missing(fs, "a/in-too"));
}

pub(super) fn a_path_in_scope_goes_through_no_file_and_no_link(fs: &mut dyn Backend) {
    let mut target = crate::MemoryBackend::new();
    make(&mut target, "a/b", "");
    let scope = Scope::paths([at("a/b")]);
    make(fs, "a", "");
    assert_eq!(refused(fs, |fs| fs.replace(&target, &scope)), ErrorKind::NotADirectory);
    fs.remove(&at("a"), Recursion::OnlyEmpty).unwrap();
    make_link(fs, "a", "elsewhere");
    assert_eq!(refused(fs, |fs| fs.replace(&target, &scope)), ErrorKind::PermissionDenied);
}

pub(super) fn a_capture_that_was_learnt_from_is_still_the_truth(fs: &mut dyn Backend) {
    varied(fs);
    let capture = captured(fs);
    let mut same = crate::MemoryBackend::new();
    same.replace(&*capture.tree, &Scope::everything()).unwrap();
    fs.learn(&*capture.tree, &same);
    make(fs, "file", "new");
    make(fs, "d/new", "");
    fs.set_mode(&at("run"), FileMode::default()).unwrap();
    fs.remove(&at("link"), Recursion::OnlyEmpty).unwrap();
    make_link(fs, "link", "somewhere");
    let again = captured(fs);
    assert_eq!(dump(&*again.tree).unwrap(), dump(fs).unwrap());
    assert_eq!(tree_hash(&*again.tree).unwrap(), tree_hash(fs).unwrap());
    fs.replace(&same, &Scope::everything()).unwrap();
    assert_eq!(dump(fs).unwrap(), dump(&same).unwrap());
}
