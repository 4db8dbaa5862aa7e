//! Names that are not plain text, long ones, and look-alikes.

use super::support::*;
use crate::filesystem::{Backend, Recursion, Replacement};
use crate::ops::{self, ListOptions};
use crate::path::{MAX_PATH_BYTES, RESERVED_NAME, TreePath};

/// Creates, lists, reads, renames and removes a file of this name, in a directory of this name.
#[track_caller]
fn round_trips(fs: &mut dyn Backend, name: &[u8]) {
    let directory = disk(name);
    let file = disk(&[name, b"/", name].concat());
    make_at(fs, &file, "content");
    assert_eq!(names(fs, ""), [name]);
    let listed = ops::list(fs, &directory, &ListOptions::default()).unwrap();
    assert_eq!((&listed[0].path, listed.len()), (&file, 1));
    assert_eq!(TreePath::parse(&listed[0].path.to_string()).unwrap(), file);
    assert_eq!(&fs.open(&file).unwrap().read_all().unwrap()[..], b"content");
    fs.rename(&file, &at("moved"), Replacement::Refuse).unwrap();
    fs.rename(&at("moved"), &file, Replacement::Refuse).unwrap();
    assert_eq!(fs.remove(&directory, Recursion::Recursive).unwrap().files, 1);
}

pub(super) fn a_name_that_is_not_utf8_round_trips(fs: &mut dyn Backend) {
    for name in [&b"caf\xe9"[..], b"\xff", b"\xf0\x9f", b"\x80.txt"] {
        round_trips(fs, name);
    }
}

pub(super) fn a_name_with_control_characters_round_trips(fs: &mut dyn Backend) {
    for name in [&b"line\nbreak"[..], b"\x1b[31m", b"\x7f", "a\u{202e}b".as_bytes(), b"tab\t"] {
        round_trips(fs, name);
    }
}

pub(super) fn a_name_that_looks_special_is_a_name(fs: &mut dyn Backend) {
    let names: [&[u8]; 14] = [
        b"...",
        b" ",
        b" leading",
        b"trailing ",
        b"dot.",
        b"-rf",
        b"*",
        b"~",
        b"a\\b",
        b"\\x0a",
        b"C:",
        b"NUL",
        b".git",
        b"$(x)`y`",
    ];
    for name in names {
        round_trips(fs, name);
    }
}

pub(super) fn a_name_of_255_bytes_round_trips(fs: &mut dyn Backend) {
    round_trips(fs, &[b'n'; 255]);
    round_trips(fs, "é".repeat(127).as_bytes());
    round_trips(fs, &[0xff; 255]);
}

pub(super) fn names_that_look_alike_are_different(fs: &mut dyn Backend) {
    let names = ["A", "a", "e\u{301}", "\u{e9}"];
    for name in names {
        make(fs, name, name);
    }
    for name in names {
        assert_eq!(&bytes(fs, name)[..], name.as_bytes());
    }
}

pub(super) fn a_path_of_4096_bytes_can_be_used(fs: &mut dyn Backend) {
    let names = [&[b'n'; 240][..]; 17];
    let path = disk(&names.join(&b'/'));
    assert_eq!(path.as_bytes().len(), MAX_PATH_BYTES);
    make_at(fs, &path, "deep");
    assert_eq!(&fs.open(&path).unwrap().read_all().unwrap()[..], b"deep");
    assert_eq!(fs.list(&path.parent().unwrap()).unwrap().len(), 1);
    fs.rename(&path, &at("f"), Replacement::Refuse).unwrap();
    fs.rename(&at("f"), &path, Replacement::Refuse).unwrap();
    let removed = fs.remove(&disk(names[0]), Recursion::Recursive).unwrap();
    assert_eq!((removed.files, removed.directories), (1, 16));
}

pub(super) fn the_reserved_name_is_a_name_below_the_root(fs: &mut dyn Backend) {
    let path = format!("d/{RESERVED_NAME}/f");
    make(fs, &path, "content");
    assert_eq!(names(fs, "d"), [RESERVED_NAME.as_bytes()]);
    assert_eq!(&bytes(fs, &path)[..], b"content");
}
