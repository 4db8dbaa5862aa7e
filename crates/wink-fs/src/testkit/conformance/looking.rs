//! Reading entries: [`Tree`](crate::Tree) and the questions that never fail.

use std::time::{Duration, SystemTime};

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::Backend;
use crate::hash::ContentHash;
use crate::ops;
use crate::path::TreePath;
use crate::testkit::dump;
use crate::tree::{FileMode, Kind, Tree};

pub(super) fn the_root_is_always_there_and_is_a_directory(fs: &mut dyn Backend) {
    let root = fs.stat(&TreePath::root()).unwrap();
    assert_eq!((root.kind, root.size_bytes), (Kind::Directory, 0));
    assert!(ops::exists(fs, &TreePath::root()) && ops::is_dir(fs, &TreePath::root()));
}

pub(super) fn a_fresh_backend_is_empty(fs: &mut dyn Backend) {
    assert_eq!(fs.list(&TreePath::root()).unwrap(), []);
}

pub(super) fn a_backend_says_what_it_is(fs: &mut dyn Backend) {
    let properties = fs.properties();
    assert!(!properties.backend.as_str().is_empty());
    assert!(properties.root.starts_with('/'));
    assert!(!properties.read_only);
}

/// Asserts that every read of `path` fails with `kind`.
#[track_caller]
fn looks_fail(tree: &dyn Tree, path: &str, kind: ErrorKind) {
    let path = at(path);
    assert_eq!(failure(tree.stat(&path)), kind, "stat {path}");
    assert_eq!(failure(tree.list(&path)), kind, "list {path}");
    assert_eq!(failure(tree.open(&path)), kind, "open {path}");
    assert_eq!(failure(tree.read_link(&path)), kind, "read_link {path}");
    assert_eq!(tree.known_hash(&path), None);
    assert!(!ops::exists(tree, &path) && !ops::is_file(tree, &path) && !ops::is_dir(tree, &path));
}

pub(super) fn a_path_that_is_not_there_is_not_found(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    for path in ["x", "d/x", "x/y", "d/x/y/z"] {
        looks_fail(fs, path, ErrorKind::NotFound);
    }
}

pub(super) fn a_path_through_a_file_is_not_found(fs: &mut dyn Backend) {
    make(fs, "f", "");
    for path in ["f/x", "f/x/y"] {
        looks_fail(fs, path, ErrorKind::NotFound);
    }
}

pub(super) fn a_path_through_a_link_is_permission_denied(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    for (link, target) in [("inside", "d"), ("dangling", "nowhere"), ("outside", "/"), ("up", "..")]
    {
        make_link(fs, link, target);
        looks_fail(fs, &format!("{link}/f"), ErrorKind::PermissionDenied);
        looks_fail(fs, &format!("{link}/x/y"), ErrorKind::PermissionDenied);
    }
}

pub(super) fn looking_changes_nothing(fs: &mut dyn Backend) {
    make(fs, "d/f", "content");
    make_link(fs, "l", "d");
    let before = dump(fs).unwrap();
    for path in ["", "d", "d/f", "l", "x", "l/f", "d/f/x"] {
        let path = at(path);
        let _ = (fs.stat(&path), fs.list(&path), fs.open(&path), fs.read_link(&path));
        let _ = (fs.known_hash(&path), ops::content_hash(fs, &path));
    }
    assert_eq!(dump(fs).unwrap(), before);
}

pub(super) fn stat_tells_the_size_of_a_file(fs: &mut dyn Backend) {
    make(fs, "f", "hello");
    let stat = fs.stat(&at("f")).unwrap();
    assert_eq!((stat.kind, stat.size_bytes, stat.mode), (Kind::File, 5, FileMode::default()));
}

pub(super) fn a_directory_has_no_size_and_no_mode(fs: &mut dyn Backend) {
    make(fs, "d/f", "hello");
    let stat = fs.stat(&at("d")).unwrap();
    assert_eq!((stat.kind, stat.size_bytes, stat.mode), (Kind::Directory, 0, FileMode::default()));
}

pub(super) fn stat_describes_a_link_and_not_its_target(fs: &mut dyn Backend) {
    make(fs, "f", "hello");
    make_link(fs, "l", "./f");
    let stat = fs.stat(&at("l")).unwrap();
    assert_eq!((stat.kind, stat.size_bytes, stat.mode), (Kind::Symlink, 3, FileMode::default()));
}

pub(super) fn a_new_entry_was_changed_just_now(fs: &mut dyn Backend) {
    // The clock of a disk may be this coarse.
    let grain = Duration::from_secs(2);
    let before = SystemTime::now() - grain;
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    let after = SystemTime::now() + grain;
    for path in ["d", "d/f", "l"] {
        let stat = fs.stat(&at(path)).unwrap();
        for time in [stat.created_at, stat.modified_at].into_iter().flatten() {
            assert!(before <= time && time <= after, "{path}: {time:?}");
        }
    }
}

pub(super) fn opening_a_directory_is_is_a_directory(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    assert_eq!(failure(fs.open(&at("d"))), ErrorKind::IsADirectory);
    assert_eq!(failure(fs.open(&TreePath::root())), ErrorKind::IsADirectory);
}

pub(super) fn opening_a_link_is_permission_denied(fs: &mut dyn Backend) {
    make(fs, "f", "");
    for (link, target) in [("l", "f"), ("dangling", "x"), ("outside", "/etc/passwd")] {
        make_link(fs, link, target);
        assert_eq!(failure(fs.open(&at(link))), ErrorKind::PermissionDenied, "{link}");
    }
}

pub(super) fn only_a_link_has_a_target(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    for path in ["", "d", "d/f"] {
        assert_eq!(failure(fs.read_link(&at(path))), ErrorKind::InvalidArgument, "`{path}`");
    }
}

pub(super) fn a_known_hash_is_the_true_one(fs: &mut dyn Backend) {
    for content in ["one", "another", ""] {
        make(fs, "f", content);
        let hash = ContentHash::of(content.as_bytes());
        assert!(fs.known_hash(&at("f")).is_none_or(|known| known == hash));
        assert_eq!(ops::content_hash(fs, &at("f")).unwrap(), hash);
        assert_eq!(fs.open(&at("f")).unwrap().hash().unwrap(), hash);
    }
}

pub(super) fn only_a_file_has_a_known_hash(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    make_link(fs, "l", "d");
    for path in ["", "d", "l", "x"] {
        assert_eq!(fs.known_hash(&at(path)), None, "`{path}`");
    }
}

pub(super) fn exists_is_file_and_is_dir_tell_apart(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    let answers =
        |path| [ops::exists, ops::is_file, ops::is_dir].map(|question| question(fs, &at(path)));
    assert_eq!(answers("d"), [true, false, true]);
    assert_eq!(answers("d/f"), [true, true, false]);
    assert_eq!(answers("x"), [false, false, false]);
}
