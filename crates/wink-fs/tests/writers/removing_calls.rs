//! Calls that delete.

use crate::writers::race::race;

#[test]
fn deleting_a_file_loses_no_save() {
    race("delete", |files, turn| {
        turn.make_sure_of("d/a");
        files.delete("d/a").map(drop)
    });
}

#[test]
fn deleting_a_directory_loses_no_save() {
    race("delete all", |files, turn| {
        turn.make_sure_of("d/a");
        files.delete_all("d").map(drop)
    });
}
