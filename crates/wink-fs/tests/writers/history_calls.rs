//! Calls of the history.

use crate::race::race;

#[test]
fn undoing_a_write_loses_no_save() {
    race("undo of a write", |files, turn| {
        files.write("d/a", &turn.text(0))?;
        turn.is_written(0);
        files.undo().map(drop)
    });
}

#[test]
fn redoing_a_write_loses_no_save() {
    race("redo of a write", |files, turn| {
        files.write("d/a", &turn.text(0))?;
        turn.is_written(0);
        files.undo()?;
        files.redo().map(drop)
    });
}

#[test]
fn undoing_a_delete_loses_no_save() {
    race("undo of a delete", |files, turn| {
        turn.make_sure_of("d/a");
        files.delete_all("d")?;
        files.undo().map(drop)
    });
}
