//! Moving entries.

use super::support::*;
use crate::error::{ErrorKind, Result};
use crate::filesystem::{Backend, Replacement};
use crate::ops::{self, MoveOptions};
use crate::testkit::dump;
use crate::tree::Kind;

use Replacement::{Refuse, Replace};

fn rename(fs: &mut dyn Backend, from: &str, to: &str, replacement: Replacement) -> Result<()> {
    fs.rename(&at(from), &at(to), replacement)
}

/// Returns why a rename is refused.
#[track_caller]
fn why(fs: &mut dyn Backend, from: &str, to: &str, replacement: Replacement) -> ErrorKind {
    refused(fs, |fs| rename(fs, from, to, replacement))
}

pub(super) fn rename_moves_a_file(fs: &mut dyn Backend) {
    make(fs, "a/f", "content");
    make_dir(fs, "b");
    rename(fs, "a/f", "b/g", Refuse).unwrap();
    assert!(missing(fs, "a/f"));
    assert_eq!(&bytes(fs, "b/g")[..], b"content");
}

pub(super) fn rename_moves_a_directory_with_all_that_is_below_it(fs: &mut dyn Backend) {
    make(fs, "a/d/e/f", "content");
    make_link(fs, "a/d/l", "e");
    rename(fs, "a/d", "moved", Refuse).unwrap();
    assert!(names(fs, "a").is_empty());
    assert_eq!(&bytes(fs, "moved/e/f")[..], b"content");
    assert_eq!(fs.read_link(&at("moved/l")).unwrap(), b"e");
}

pub(super) fn rename_refuses_what_exists(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_dir(fs, "e");
    make(fs, "f", "");
    make_link(fs, "l", "x");
    for from in ["d", "f", "l"] {
        for to in ["d/f", "e", "f", "l"].into_iter().filter(|to| *to != "d/f" || from != "d") {
            assert_eq!(why(fs, from, to, Refuse), ErrorKind::AlreadyExists, "{from} to {to}");
        }
    }
}

pub(super) fn renaming_an_entry_to_itself_is_already_exists(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    for path in ["d", "d/f"] {
        assert_eq!(why(fs, path, path, Refuse), ErrorKind::AlreadyExists, "{path}");
    }
}

pub(super) fn replacing_an_entry_by_itself_changes_nothing(fs: &mut dyn Backend) {
    make(fs, "d/f", "content");
    make_link(fs, "l", "d");
    let before = dump(fs).unwrap();
    for path in ["d", "d/f", "l"] {
        rename(fs, path, path, Replace).unwrap();
        assert_eq!(dump(fs).unwrap(), before, "{path}");
    }
}

pub(super) fn rename_of_what_is_not_there_is_not_found(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    for replacement in [Refuse, Replace] {
        for (from, to) in [("x", "y"), ("x", "d"), ("d/f/x", "y"), ("x/y", "x/z"), ("x", "x/y")] {
            assert_eq!(why(fs, from, to, replacement), ErrorKind::NotFound, "{from} to {to}");
        }
    }
}

pub(super) fn rename_needs_the_new_parent(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    make(fs, "g", "");
    for replacement in [Refuse, Replace] {
        assert_eq!(why(fs, "g", "x/g", replacement), ErrorKind::NotFound);
        assert_eq!(why(fs, "g", "d/f/g", replacement), ErrorKind::NotADirectory);
        assert_eq!(why(fs, "g", "g/g", replacement), ErrorKind::NotADirectory);
        assert_eq!(why(fs, "g", "l/g", replacement), ErrorKind::PermissionDenied);
        assert_eq!(why(fs, "l", "l/g", replacement), ErrorKind::PermissionDenied);
    }
}

pub(super) fn rename_from_behind_a_link_is_permission_denied(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    assert_eq!(why(fs, "l/f", "g", Refuse), ErrorKind::PermissionDenied);
}

pub(super) fn a_directory_cannot_go_into_itself(fs: &mut dyn Backend) {
    make_dir(fs, "d/e");
    for replacement in [Refuse, Replace] {
        for to in ["d/x", "d/e", "d/e/x", "d/no/such/parent"] {
            assert_eq!(why(fs, "d", to, replacement), ErrorKind::InvalidArgument, "{to}");
        }
    }
}

pub(super) fn a_longer_name_is_not_inside(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    rename(fs, "d", "d-e", Refuse).unwrap();
    rename(fs, "d-e", "d", Refuse).unwrap();
    assert_eq!(kind(fs, "d/f"), Kind::File);
}

pub(super) fn the_root_cannot_be_renamed_or_replaced(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    for replacement in [Refuse, Replace] {
        for (from, to) in [("", "x"), ("", "d"), ("d", ""), ("x", ""), ("", "")] {
            let kind = why(fs, from, to, replacement);
            assert_eq!(kind, ErrorKind::PermissionDenied, "`{from}` to `{to}`");
        }
    }
}

pub(super) fn a_file_or_link_replaces_a_file_or_link(fs: &mut dyn Backend) {
    for from in ["file", "link"] {
        for to in ["to-file", "to-link"] {
            make(fs, "file", "new");
            make(fs, "to-file", "old");
            let _ = (fs.symlink(&at("link"), b"new"), fs.symlink(&at("to-link"), b"old"));
            let moved = kind(fs, from);
            rename(fs, from, to, Replace).unwrap();
            assert_eq!(kind(fs, to), moved, "{from} to {to}");
            assert!(missing(fs, from));
            fs.remove(&at(to), crate::Recursion::OnlyEmpty).unwrap();
        }
    }
}

pub(super) fn a_directory_replaces_an_empty_directory(fs: &mut dyn Backend) {
    make(fs, "d/f", "content");
    make_dir(fs, "e");
    rename(fs, "d", "e", Replace).unwrap();
    assert!(missing(fs, "d"));
    assert_eq!(&bytes(fs, "e/f")[..], b"content");
}

pub(super) fn a_directory_with_entries_is_not_replaced(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    make(fs, "e/f", "");
    assert_eq!(why(fs, "d", "e", Replace), ErrorKind::NotEmpty);
}

pub(super) fn a_directory_and_something_else_do_not_replace_each_other(fs: &mut dyn Backend) {
    make_dir(fs, "d");
    make(fs, "full/f", "");
    make(fs, "f", "");
    make_link(fs, "l", "d");
    for other in ["f", "l"] {
        assert_eq!(why(fs, "d", other, Replace), ErrorKind::NotADirectory, "{other}");
        assert_eq!(why(fs, other, "d", Replace), ErrorKind::IsADirectory, "{other}");
        assert_eq!(why(fs, other, "full", Replace), ErrorKind::IsADirectory, "{other}");
    }
}

pub(super) fn an_entry_cannot_replace_the_directory_it_is_in(fs: &mut dyn Backend) {
    make(fs, "d/e/f", "");
    make(fs, "d/g", "");
    assert_eq!(why(fs, "d/e", "d", Replace), ErrorKind::NotEmpty);
    assert_eq!(why(fs, "d/e/f", "d", Replace), ErrorKind::IsADirectory);
    assert_eq!(why(fs, "d/g", "d", Replace), ErrorKind::IsADirectory);
}

pub(super) fn a_move_makes_missing_parents(fs: &mut dyn Backend) {
    make(fs, "f", "content");
    ops::rename(fs, &at("f"), &at("a/b/c"), &MoveOptions::default()).unwrap();
    assert_eq!(&bytes(fs, "a/b/c")[..], b"content");
    assert!(missing(fs, "f"));
}

pub(super) fn a_move_without_parents_is_not_found(fs: &mut dyn Backend) {
    make(fs, "f", "");
    let options = MoveOptions::default().create_parents(false);
    let kind = refused(fs, |fs| ops::rename(fs, &at("f"), &at("a/b"), &options));
    assert_eq!(kind, ErrorKind::NotFound);
}

pub(super) fn a_move_of_nothing_makes_no_parents(fs: &mut dyn Backend) {
    let options = MoveOptions::default();
    let kind = refused(fs, |fs| ops::rename(fs, &at("x"), &at("a/b"), &options));
    assert_eq!(kind, ErrorKind::NotFound);
}
