//! The check itself: a writer that keeps what it displaces passes, and one that does not is found out.

use std::fs;
use std::time::Duration;

use crate::writers::race::{Turn, race};
use crate::writers::saver::spin;
use rustix::fs::{CWD, RenameFlags, renameat_with};

#[test]
fn reading_loses_no_save() {
    race("read", |files, _| {
        spin(Duration::from_micros(300));
        files.read("d/a").map(drop)
    });
}

/// Replaces a file as a call should: what it displaces is kept, in the same step.
fn replace_carefully(turn: &Turn<'_>) {
    let kept = turn.path("store/operations").join(format!("careful-{}", turn.number()));
    fs::write(&kept, turn.text(0)).unwrap();
    // As long as a call of the workspace takes.
    spin(Duration::from_micros(300));
    let place = turn.path("root/d/a");
    let rename = |flags| renameat_with(CWD, &kept, CWD, &place, flags);
    let done = rename(RenameFlags::EXCHANGE).or_else(|_| rename(RenameFlags::NOREPLACE));
    // The saver may be in the way.
    if done.is_ok() {
        turn.is_written(0);
    }
}

#[test]
fn a_writer_that_keeps_what_it_displaces_loses_no_save() {
    race("careful replacement", |_, turn| {
        replace_carefully(turn);
        Ok(())
    });
}

#[test]
#[should_panic(expected = "lost")]
fn a_writer_that_keeps_nothing_is_found_out() {
    race("careless replacement", |_, turn| {
        let made = turn.path("made");
        fs::write(&made, turn.text(0)).unwrap();
        spin(Duration::from_micros(300));
        let _ = fs::rename(&made, turn.path("root/d/a"));
        Ok(())
    });
}
