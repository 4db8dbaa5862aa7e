//! Staged content.

use std::io::Write as _;

use super::support::*;
use crate::filesystem::{Backend, PutOptions};
use crate::hash::ContentHash;
use crate::path::TreePath;

pub(super) fn a_staged_writer_that_is_dropped_changes_nothing(fs: &mut dyn Backend) {
    let mut staging = fs.stage().unwrap();
    staging.write_all(b"half a ").unwrap();
    drop(staging);
    assert_eq!(fs.list(&TreePath::root()).unwrap(), []);
}

pub(super) fn staged_content_that_is_never_put_changes_nothing(fs: &mut dyn Backend) {
    let mut staging = fs.stage().unwrap();
    staging.write_all(b"whole").unwrap();
    drop(staging.finish().unwrap());
    assert_eq!(fs.list(&TreePath::root()).unwrap(), []);
}

pub(super) fn staged_content_is_seen_only_once_it_is_put(fs: &mut dyn Backend) {
    let mut staging = fs.stage().unwrap();
    staging.write_all(b"new").unwrap();
    assert_eq!(fs.list(&TreePath::root()).unwrap(), []);
    let mut staged = staging.finish().unwrap();
    assert_eq!(fs.list(&TreePath::root()).unwrap(), []);
    fs.put(&at("f"), &mut staged, &PutOptions::default()).unwrap();
    assert_eq!(names(fs, ""), [b"f"]);
}

pub(super) fn staged_content_knows_its_hash_and_size(fs: &mut dyn Backend) {
    let mut staging = fs.stage().unwrap();
    staging.write_all(b"one ").unwrap();
    assert_eq!(staging.hash_so_far(), ContentHash::of(b"one "));
    staging.write_all(b"two").unwrap();
    let staged = staging.finish().unwrap();
    assert_eq!((staged.hash(), staged.len()), (ContentHash::of(b"one two"), 7));
    assert_eq!(&staged.content().read_all().unwrap()[..], b"one two");
}

pub(super) fn several_writers_can_stage_at_once(fs: &mut dyn Backend) {
    let mut writers: Vec<_> = (0..5).map(|_| fs.stage().unwrap()).collect();
    for round in 0..3 {
        for (n, writer) in writers.iter_mut().enumerate() {
            write!(writer, "{n}{round} ").unwrap();
        }
    }
    for (n, writer) in writers.into_iter().enumerate() {
        let mut staged = writer.finish().unwrap();
        fs.put(&at(&format!("f{n}")), &mut staged, &PutOptions::default()).unwrap();
    }
    assert_eq!(&bytes(fs, "f3")[..], b"30 31 32 ");
}

pub(super) fn content_carried_over_does_not_count_as_supplied(fs: &mut dyn Backend) {
    make(fs, "f", "before");
    let mut staging = fs.stage().unwrap();
    let old = fs.open(&at("f")).unwrap();
    staging.write_all(b"new, ").unwrap();
    staging.carry_over(&old).unwrap();
    staging.write_all(b" and ").unwrap();
    staging.carry_over(&old).unwrap();
    let mut staged = staging.finish().unwrap();
    assert_eq!((staged.len(), staged.bytes_supplied()), (22, 10));
    fs.put(&at("f"), &mut staged, &PutOptions::default()).unwrap();
    assert_eq!(&bytes(fs, "f")[..], b"new, before and before");
}

pub(super) fn a_writer_that_wrote_nothing_makes_an_empty_file(fs: &mut dyn Backend) {
    let mut staged = fs.stage().unwrap().finish().unwrap();
    assert!(staged.is_empty());
    fs.put(&at("f"), &mut staged, &PutOptions::default()).unwrap();
    assert!(bytes(fs, "f").is_empty());
}
