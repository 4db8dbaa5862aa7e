//! Calls whose store is on another file system than the files.

use wink_fs::MoveOptions;

use crate::writers::race::{Call, race_in};
use crate::writers::scene::Scene;
use crate::writers::writing_calls::overwrite;

#[track_caller]
fn race(name: &str, call: Call) {
    race_in(Scene::with_store_elsewhere, name, call);
}

#[test]
fn an_overwrite_loses_no_save() {
    race("overwrite", overwrite);
}

#[test]
fn deleting_loses_no_save() {
    race("delete", |files, turn| {
        turn.make_sure_of("d/a");
        if turn.number() % 2 == 0 {
            files.delete("d/a")?;
        }
        files.delete_all("d").map(drop)
    });
}

#[test]
fn moving_a_file_over_another_loses_no_save() {
    race("rename over a file", |files, turn| {
        turn.make_sure_of("d/a");
        files.rename_with("d/a", "d/b", &MoveOptions::default().replace(true)).map(drop)
    });
}

#[test]
fn undoing_loses_no_save() {
    race("undo", |files, turn| {
        files.write("d/a", &turn.text(0))?;
        turn.is_written(0);
        files.undo().map(drop)
    });
}

#[test]
fn restoring_everything_loses_no_save() {
    race("restore", |files, _| files.restore("base").map(drop));
}
