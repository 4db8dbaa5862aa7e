//! Calls that move and copy.

use wink_fs::{ErrorKind, MoveOptions};

use crate::writers::race::race;

#[test]
fn moving_a_file_to_a_free_place_loses_no_save() {
    race("rename of a file", |files, turn| {
        turn.make_sure_of("d/a");
        files.rename("d/a", &format!("d/sub/moved-{}", turn.number())).map(drop)
    });
}

#[test]
fn moving_a_file_over_another_loses_no_save() {
    race("rename over a file", |files, turn| {
        let (from, to) = if turn.number() % 2 == 0 { ("d/a", "d/b") } else { ("d/b", "d/a") };
        turn.make_sure_of(from);
        files.rename_with(from, to, &MoveOptions::default().replace(true)).map(drop)
    });
}

#[test]
fn moving_a_directory_loses_no_save() {
    race("rename of a directory", |files, turn| {
        turn.make_sure_of("d/a");
        files.rename("d", &format!("moved-{}", turn.number())).map(drop)
    });
}

#[test]
fn a_move_that_is_refused_loses_no_save() {
    race("rename of a directory onto a file", |files, _| {
        let replace = MoveOptions::default().replace(true);
        match files.rename_with("d", "top", &replace) {
            // Where the saver put an empty directory there, it is none.
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(()),
            Err(error) => Err(error),
        }
    });
}

#[test]
fn copying_a_file_over_another_loses_no_save() {
    race("copy over a file", |files, _| {
        files.copy_with("e/a", "d/a", &MoveOptions::default().replace(true)).map(drop)
    });
}

#[test]
fn copying_a_directory_loses_no_save() {
    race("copy of a directory", |files, turn| {
        files.copy("d", &format!("e/copy-{}", turn.number() % 4)).map(drop)
    });
}
