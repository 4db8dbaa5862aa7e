//! Listing directories.

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::Backend;
use crate::ops::{self, ListOptions};
use crate::path::TreePath;
use crate::tree::Kind;

pub(super) fn children_come_sorted_by_name(fs: &mut dyn Backend) {
    let sorted: [&[u8]; 9] =
        [b"B", b"a", b"a b", b"a-b", b"a.b", b"a0", b"ab", "é".as_bytes(), b"\xff"];
    for name in [4, 8, 0, 2, 7, 1, 6, 3, 5] {
        make_at(fs, &disk(sorted[name]), "");
    }
    assert_eq!(names(fs, ""), sorted);
}

pub(super) fn a_listing_shows_direct_children_only(fs: &mut dyn Backend) {
    make(fs, "d/e/f", "");
    make(fs, "d/g", "");
    assert_eq!(names(fs, "d"), [b"e", b"g"]);
    assert_eq!(names(fs, ""), [b"d"]);
}

pub(super) fn a_listing_tells_each_kind(fs: &mut dyn Backend) {
    make_dir(fs, "directory");
    make(fs, "file", "");
    make_link(fs, "link", "directory");
    let kinds: Vec<_> = fs.list(&TreePath::root()).unwrap().iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [Kind::Directory, Kind::File, Kind::Symlink]);
}

pub(super) fn an_empty_directory_lists_nothing(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    assert!(names(fs, "d").is_empty());
}

pub(super) fn listing_a_file_is_not_a_directory(fs: &mut dyn Backend) {
    make(fs, "f", "");
    assert_eq!(failure(fs.list(&at("f"))), ErrorKind::NotADirectory);
}

pub(super) fn listing_a_link_is_permission_denied(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    for (link, target) in [("inside", "d"), ("dangling", "x"), ("outside", "/")] {
        make_link(fs, link, target);
        assert_eq!(failure(fs.list(&at(link))), ErrorKind::PermissionDenied, "{link}");
    }
}

pub(super) fn a_wide_directory_lists_every_entry(fs: &mut dyn Backend) {
    let expected: Vec<_> = (0..1500).map(|n| format!("{n:04}").into_bytes()).collect();
    fs.create_dir(&at("d")).unwrap();
    for name in expected.iter().rev() {
        fs.create_dir(&disk(&[b"d/", &name[..]].concat())).unwrap();
    }
    assert_eq!(names(fs, "d"), expected);
}

pub(super) fn a_listing_gives_paths_and_targets(fs: &mut dyn Backend) {
    make(fs, "d/f", "hello");
    make_link(fs, "d/l", "f");
    let listed = ops::list(fs, &at("d"), &ListOptions::default()).unwrap();
    let file = &listed[0];
    let link = &listed[1];
    assert_eq!((file.name.as_str(), &file.path, file.kind), ("f", &at("d/f"), Kind::File));
    assert_eq!((&link.path, link.target.as_deref()), (&at("d/l"), Some(&b"f"[..])));
    assert_eq!(file.target, None);
}

pub(super) fn a_listing_gives_sizes_on_request(fs: &mut dyn Backend) {
    make(fs, "d/f", "hello");
    let sizes = |sizes, path| {
        let listed = ops::list(fs, &at(path), &ListOptions::default().sizes(sizes)).unwrap();
        listed[0].size_bytes
    };
    assert_eq!(sizes(false, "d"), None);
    assert_eq!(sizes(true, "d"), Some(5));
    assert_eq!(sizes(true, ""), None, "a directory has none");
}
