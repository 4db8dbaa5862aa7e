//! The live view, which can be used while another thread writes.

use std::sync::atomic::{AtomicBool, Ordering};

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::{Backend, PutCondition, Recursion, Replacement};
use crate::testkit::dump;
use crate::tree::{Kind, Tree};

pub(super) fn the_live_view_shows_every_change(fs: &mut dyn Backend) {
    let live = fs.live();
    make(fs, "d/f", "one");
    assert_eq!(&bytes(&*live, "d/f")[..], b"one");
    make(fs, "d/f", "two");
    fs.rename(&at("d/f"), &at("g"), Replacement::Refuse).unwrap();
    assert_eq!((&bytes(&*live, "g")[..], missing(&*live, "d/f")), (&b"two"[..], true));
    fs.remove(&at("g"), Recursion::OnlyEmpty).unwrap();
    make_link(fs, "l", "d");
    assert_eq!(kind(&*live, "l"), Kind::Symlink);
    assert_eq!(dump(&*live).unwrap(), dump(fs).unwrap());
}

pub(super) fn the_live_view_refuses_as_the_backend_does(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    let live = fs.live();
    assert_eq!(failure(live.stat(&at("x"))), ErrorKind::NotFound);
    assert_eq!(failure(live.list(&at("d/f"))), ErrorKind::NotADirectory);
    assert_eq!(failure(live.open(&at("d"))), ErrorKind::IsADirectory);
    assert_eq!(failure(live.open(&at("l/f"))), ErrorKind::PermissionDenied);
    assert_eq!(failure(live.read_link(&at("d"))), ErrorKind::InvalidArgument);
}

/// Reads a file until it is stopped; each time the content must be whole.
fn read_whole(tree: &dyn Tree, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let read = bytes(tree, "f");
        let whole = [&*"a".repeat(70_000), &*"b".repeat(300)];
        assert!(whole.iter().any(|whole| read == whole.as_bytes()), "{} bytes", read.len());
    }
}

pub(super) fn a_reader_sees_the_old_or_the_new_content(fs: &mut dyn Backend) {
    let (long, short): (&str, &str) = ("a".repeat(70_000).leak(), "b".repeat(300).leak());
    make(fs, "f", long);
    let live = fs.live();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_whole(&*live, &stop));
        for content in [short, long].into_iter().cycle().take(100) {
            put_if(fs, "f", content, PutCondition::AbsentOrFile).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
}
