//! File modes.

use super::support::*;
use crate::error::ErrorKind;
use crate::filesystem::{Backend, PutOptions, Replacement};
use crate::tree::FileMode;

/// Returns every mode.
fn modes() -> impl Iterator<Item = FileMode> {
    [(false, false), (true, false), (false, true), (true, true)]
        .into_iter()
        .map(|(executable, private)| FileMode::default().executable(executable).private(private))
}

pub(super) fn a_new_file_has_the_default_mode(fs: &mut dyn Backend) {
    put(fs, "f", "", PutOptions::default()).unwrap();
    assert_eq!(mode(fs, "f"), FileMode::default());
}

pub(super) fn put_sets_the_mode_it_is_given(fs: &mut dyn Backend) {
    for wanted in modes() {
        put(fs, "f", "", PutOptions::default().mode(wanted)).unwrap();
        assert_eq!(mode(fs, "f"), wanted);
    }
}

pub(super) fn an_executable_bit_is_kept_when_replacing(fs: &mut dyn Backend) {
    let wanted = FileMode::default().executable(true);
    put(fs, "f", "old", PutOptions::default().mode(wanted)).unwrap();
    put(fs, "f", "new", PutOptions::default()).unwrap();
    assert_eq!(mode(fs, "f"), wanted);
}

pub(super) fn a_private_file_stays_private_when_replacing(fs: &mut dyn Backend) {
    let wanted = FileMode::default().private(true);
    put(fs, "f", "old", PutOptions::default().mode(wanted)).unwrap();
    put(fs, "f", "new", PutOptions::default()).unwrap();
    assert_eq!(mode(fs, "f"), wanted);
}

pub(super) fn set_mode_changes_the_mode_and_nothing_else(fs: &mut dyn Backend) {
    make(fs, "f", "content");
    for wanted in modes() {
        fs.set_mode(&at("f"), wanted).unwrap();
        assert_eq!(mode(fs, "f"), wanted);
        assert_eq!(&bytes(fs, "f")[..], b"content");
    }
}

pub(super) fn only_a_file_has_a_mode_to_set(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d/f");
    let mut kind = |path| refused(fs, |fs| fs.set_mode(&at(path), FileMode::default()));
    assert_eq!(kind("d"), ErrorKind::IsADirectory);
    assert_eq!(kind(""), ErrorKind::IsADirectory);
    assert_eq!(kind("l"), ErrorKind::PermissionDenied);
    assert_eq!(kind("x"), ErrorKind::NotFound);
}

pub(super) fn set_mode_goes_through_no_file_and_no_link(fs: &mut dyn Backend) {
    make(fs, "d/f", "");
    make_link(fs, "l", "d");
    let mut kind = |path| refused(fs, |fs| fs.set_mode(&at(path), FileMode::default()));
    assert_eq!(kind("d/f/x"), ErrorKind::NotFound);
    assert_eq!(kind("l/f"), ErrorKind::PermissionDenied);
}

pub(super) fn a_mode_moves_with_its_file(fs: &mut dyn Backend) {
    for wanted in modes() {
        put(fs, "f", "", PutOptions::default().mode(wanted)).unwrap();
        fs.rename(&at("f"), &at("g"), Replacement::Replace).unwrap();
        assert_eq!(mode(fs, "g"), wanted);
    }
}
