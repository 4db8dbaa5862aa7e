//! Putting content in place.

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::staged::Staged;
use crate::filesystem::{Backend, Filesystem as _, PutCondition, PutOptions};
use crate::hash::ContentHash;
use crate::memory::MemoryBackend;

use PutCondition::{Absent, AbsentOrFile, Unchanged};

pub(super) fn put_makes_a_file_and_says_so(fs: &mut dyn Backend) {
    assert!(put_if(fs, "f", "hello", AbsentOrFile).unwrap().created);
    assert!(put_if(fs, "g", "hello", Absent).unwrap().created);
    assert_eq!(&bytes(fs, "f")[..], b"hello");
}

pub(super) fn put_replaces_a_file_and_says_so(fs: &mut dyn Backend) {
    make(fs, "f", "a long old content");
    assert!(!put_if(fs, "f", "new", AbsentOrFile).unwrap().created);
    assert_eq!(&bytes(fs, "f")[..], b"new");
    assert_eq!(fs.stat(&at("f")).unwrap().size_bytes, 3);
}

pub(super) fn put_under_absent_refuses_whatever_is_there(fs: &mut dyn Backend) {
    make(fs, "d/f", "old");
    make_link(fs, "l", "nowhere");
    for path in ["d/f", "d", "l", ""] {
        let kind = refused(fs, |fs| put_if(fs, path, "new", Absent));
        assert_eq!(kind, ErrorKind::AlreadyExists, "`{path}`");
    }
}

pub(super) fn put_on_a_directory_is_is_a_directory(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    for path in ["d", ""] {
        for condition in [AbsentOrFile, Unchanged(ContentHash::of(b""))] {
            let kind = refused(fs, |fs| put_if(fs, path, "new", condition));
            assert_eq!(kind, ErrorKind::IsADirectory, "`{path}` {condition:?}");
        }
    }
}

pub(super) fn put_on_a_link_is_permission_denied(fs: &mut dyn Backend) {
    make(fs, "f", "old");
    make_link(fs, "l", "f");
    make_link(fs, "dangling", "new");
    for path in ["l", "dangling"] {
        for condition in [AbsentOrFile, Unchanged(ContentHash::of(b"old"))] {
            let kind = refused(fs, |fs| put_if(fs, path, "new", condition));
            assert_eq!(kind, ErrorKind::PermissionDenied, "{path} {condition:?}");
        }
    }
}

pub(super) fn put_without_a_parent_is_not_found(fs: &mut dyn Backend) {
    for path in ["d/f", "d/e/f"] {
        for condition in [AbsentOrFile, Absent, Unchanged(ContentHash::of(b""))] {
            let kind = refused(fs, |fs| put_if(fs, path, "", condition));
            assert_eq!(kind, ErrorKind::NotFound, "{path} {condition:?}");
        }
    }
}

pub(super) fn put_through_a_file_is_not_a_directory(fs: &mut dyn Backend) {
    make(fs, "f", "old");
    for path in ["f/g", "f/g/h"] {
        for condition in [AbsentOrFile, Absent, Unchanged(ContentHash::of(b"old"))] {
            let kind = refused(fs, |fs| put_if(fs, path, "new", condition));
            assert_eq!(kind, ErrorKind::NotADirectory, "{path} {condition:?}");
        }
    }
}

pub(super) fn put_through_a_link_is_permission_denied(fs: &mut dyn Backend) {
    make(fs, "d/f", "old");
    make_link(fs, "l", "d");
    for path in ["l/f", "l/new", "l/e/new"] {
        for condition in [AbsentOrFile, Absent, Unchanged(ContentHash::of(b"old"))] {
            let kind = refused(fs, |fs| put_if(fs, path, "new", condition));
            assert_eq!(kind, ErrorKind::PermissionDenied, "{path} {condition:?}");
        }
    }
}

pub(super) fn put_replaces_a_file_that_is_unchanged(fs: &mut dyn Backend) {
    make(fs, "f", "old");
    let put = put_if(fs, "f", "new", Unchanged(ContentHash::of(b"old"))).unwrap();
    assert!(!put.created);
    assert_eq!(&bytes(fs, "f")[..], b"new");
}

pub(super) fn put_on_a_changed_file_is_a_conflict_that_carries_the_current_hash(
    fs: &mut dyn Backend,
) {
    make(fs, "f", "another writer's");
    let stale = Unchanged(ContentHash::of(b"what I read"));
    assert_eq!(refused(fs, |fs| put_if(fs, "f", "mine", stale)), ErrorKind::Conflict);
    let error = put_if(fs, "f", "mine", stale).unwrap_err();
    assert_eq!(error.current_hash(), Some(ContentHash::of(b"another writer's")));
}

pub(super) fn put_on_a_file_that_is_gone_is_a_conflict_without_a_hash(fs: &mut dyn Backend) {
    let known = Unchanged(ContentHash::of(b""));
    assert_eq!(refused(fs, |fs| put_if(fs, "f", "mine", known)), ErrorKind::Conflict);
    assert_eq!(put_if(fs, "f", "mine", known).unwrap_err().current_hash(), None);
}

pub(super) fn content_staged_elsewhere_can_be_put(fs: &mut dyn Backend) {
    let mut staging = MemoryBackend::new().stage().unwrap();
    std::io::Write::write_all(&mut staging, b"from elsewhere").unwrap();
    let mut staged = staging.finish().unwrap();
    fs.put(&at("f"), &mut staged, &PutOptions::default()).unwrap();
    assert_eq!(&bytes(fs, "f")[..], b"from elsewhere");
}

pub(super) fn what_could_not_be_put_can_be_put_again(fs: &mut dyn Backend) {
    make(fs, "f", "old");
    let mut staging = fs.stage().unwrap();
    std::io::Write::write_all(&mut staging, b"new").unwrap();
    let mut staged = staging.finish().unwrap();
    let absent = PutOptions::default().condition(Absent);
    assert_eq!(failure(fs.put(&at("f"), &mut staged, &absent)), ErrorKind::AlreadyExists);
    assert_eq!(failure(fs.put(&at("x/f"), &mut staged, &absent)), ErrorKind::NotFound);
    fs.put(&at("g"), &mut staged, &absent).unwrap();
    assert_eq!((&bytes(fs, "f")[..], &bytes(fs, "g")[..]), (&b"old"[..], &b"new"[..]));
}

pub(super) fn put_leaves_everything_else(fs: &mut dyn Backend) {
    make(fs, "d/f", "f");
    make(fs, "d/g", "g");
    put_if(fs, "d/f", "new", AbsentOrFile).unwrap();
    assert_eq!(&bytes(fs, "d/g")[..], b"g");
    assert_eq!(names(fs, "d"), [b"f", b"g"]);
    assert_eq!(names(fs, ""), [b"d"]);
}

pub(super) fn equal_content_in_two_files_stays_two_files(fs: &mut dyn Backend) {
    make(fs, "f", "same");
    make(fs, "g", "same");
    fs.put(&at("f"), &mut Staged::from_bytes("other"), &PutOptions::default()).unwrap();
    assert_eq!(&bytes(fs, "g")[..], b"same");
}
