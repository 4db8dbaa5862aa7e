//! Calls that go back and on in the history.

use wink_fs::{MoveOptions, RestoreOptions, SnapshotOptions, StateRef};

use crate::writers::race::race;

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

#[test]
fn restoring_everything_loses_no_save() {
    race("restore", |files, _| files.restore("base").map(drop));
}

#[test]
fn restoring_some_paths_loses_no_save() {
    race("restore of some paths", |files, _| {
        let options = RestoreOptions::default().path(files.path("d/a")?).path(files.path("d/sub")?);
        files.restore_with("base", &options).map(drop)
    });
}

#[test]
fn undoing_a_restore_loses_no_save() {
    race("undo of a restore", |files, _| {
        files.restore("base")?;
        files.undo().map(drop)
    });
}

#[test]
fn importing_an_archive_loses_no_save() {
    race("import", |files, turn| files.import_archive(turn.path("archive.fs.zip")).map(drop));
}

#[test]
fn reverting_loses_no_save() {
    race("revert", |files, turn| {
        files.write("d/a", &turn.text(0))?;
        turn.is_written(0);
        let taken = files.snapshot_with(&SnapshotOptions::default())?;
        files.revert("base", &taken).map(drop)
    });
}

#[test]
fn merging_a_fork_loses_no_save() {
    race("merge", |files, turn| {
        let fork = files.fork(StateRef::from("base"))?;
        fork.write("d/a", &turn.text(0))?;
        let merged = files.merge(&fork)?;
        if merged.applied {
            turn.is_written(0);
        }
        Ok(())
    });
}

#[test]
fn undoing_a_move_loses_no_save() {
    race("undo of a move", |files, turn| {
        turn.make_sure_of("d/a");
        match turn.number() % 2 {
            0 => files.rename("d", &format!("moved-{}", turn.number()))?,
            _ => files.rename_with("d/a", "d/b", &MoveOptions::default().replace(true))?,
        };
        files.undo().map(drop)
    });
}
