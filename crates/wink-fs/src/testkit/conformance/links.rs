//! Symbolic links, which are data.

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::{Backend, Recursion, Replacement};
use crate::ops::{self, WriteMode, WriteOptions};
use crate::tree::Kind;

pub(super) fn a_link_keeps_its_target_byte_for_byte(fs: &mut dyn Backend) {
    let long = vec![b't'; 4095];
    let targets: [&[u8]; 7] =
        [b"f", b"./a//b/", b"../../..", b"/etc/passwd", b"caf\xe9\n", b" ", &long];
    for (n, target) in targets.into_iter().enumerate() {
        let path = at(&format!("l{n}"));
        fs.symlink(&path, target).unwrap();
        assert_eq!(fs.read_link(&path).unwrap(), target);
        assert_eq!(fs.stat(&path).unwrap().size_bytes, target.len() as u64);
    }
}

pub(super) fn a_symlink_exists_and_is_neither_file_nor_directory(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    for (link, target) in [("file", "d/f"), ("directory", "d"), ("dangling", "x"), ("self", "self")]
    {
        make_link(fs, link, target);
        assert!(ops::exists(fs, &at(link)), "{link}");
        assert!(!ops::is_file(fs, &at(link)) && !ops::is_dir(fs, &at(link)), "{link}");
    }
}

pub(super) fn a_link_refuses_whatever_is_there(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "x");
    for path in ["", "d", "d/f", "l"] {
        let kind = refused(fs, |fs| fs.symlink(&at(path), b"t"));
        assert_eq!(kind, ErrorKind::AlreadyExists, "`{path}`");
    }
}

pub(super) fn a_link_needs_its_parent(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    let mut kind = |path| refused(fs, |fs| fs.symlink(&at(path), b"t"));
    assert_eq!(kind("x/new"), ErrorKind::NotFound);
    assert_eq!(kind("d/f/new"), ErrorKind::NotADirectory);
    assert_eq!(kind("l/new"), ErrorKind::PermissionDenied);
}

pub(super) fn a_target_that_no_link_can_have_is_invalid_argument(fs: &mut dyn Backend) {
    make(fs, "f", "");
    let targets: [&[u8]; 3] = [b"", b"a\0b", &[b't'; 4096]];
    for target in targets {
        // The target is checked first, wherever the link would go.
        for path in ["l", "f", "x/l", "f/l"] {
            let kind = refused(fs, |fs| fs.symlink(&at(path), target));
            assert_eq!(kind, ErrorKind::InvalidArgument, "{path}");
        }
    }
}

pub(super) fn removing_a_link_leaves_its_target(fs: &mut dyn Backend) {
    make(fs, "d/f", "kept");
    for recursion in [Recursion::OnlyEmpty, Recursion::Recursive] {
        make_link(fs, "l", "d");
        let removed = fs.remove(&at("l"), recursion).unwrap();
        assert_eq!((removed.files, removed.directories), (1, 0));
        assert!(missing(fs, "l"));
        assert_eq!(&bytes(fs, "d/f")[..], b"kept");
    }
}

pub(super) fn renaming_a_link_moves_the_link(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    fs.rename(&at("l"), &at("d/m"), Replacement::Refuse).unwrap();
    assert_eq!(fs.read_link(&at("d/m")).unwrap(), b"d");
    assert!(missing(fs, "l"));
}

pub(super) fn a_rename_replaces_a_link_and_not_its_target(fs: &mut dyn Backend) {
    make(fs, "f", "kept");
    make(fs, "new", "new");
    make_link(fs, "l", "f");
    fs.rename(&at("new"), &at("l"), Replacement::Replace).unwrap();
    assert_eq!((kind(fs, "l"), &bytes(fs, "f")[..]), (Kind::File, &b"kept"[..]));
}

pub(super) fn nothing_is_written_through_a_link(fs: &mut dyn Backend) {
    make(fs, "d/f", "kept");
    make_link(fs, "file", "d/f");
    make_link(fs, "directory", "d");
    make_link(fs, "dangling", "new");
    for path in ["file", "directory", "dangling", "directory/f", "directory/new", "directory/e/new"]
    {
        for mode in [WriteMode::Overwrite, WriteMode::Append] {
            let options = WriteOptions::default().mode(mode);
            let kind = refused(fs, |fs| ops::write(fs, &at(path), "new", &options));
            assert_eq!(kind, ErrorKind::PermissionDenied, "{path} {mode:?}");
        }
    }
}

pub(super) fn links_in_a_circle_are_only_data(fs: &mut dyn Backend) {
    make_link(fs, "a", "b");
    make_link(fs, "b", "a");
    assert_eq!((kind(fs, "a"), kind(fs, "b")), (Kind::Symlink, Kind::Symlink));
    assert_eq!(failure(fs.open(&at("a"))), ErrorKind::PermissionDenied);
    assert_eq!(failure(fs.stat(&at("a/x"))), ErrorKind::PermissionDenied);
}
