//! Calls that write one entry.

use wink_fs::{ContentHash, FileMode, Result, Workspace, WriteMode, WriteOptions};

use crate::writers::race::{Turn, race};

#[test]
fn an_overwrite_loses_no_save() {
    race("overwrite", overwrite);
}

pub(crate) fn overwrite(files: &Workspace, turn: &Turn<'_>) -> Result<()> {
    files.write("d/a", &turn.text(0))?;
    turn.is_written(0);
    Ok(())
}

#[test]
fn a_write_with_new_parents_loses_no_save() {
    race("write with new parents", |files, turn| {
        files.write(&format!("d/sub/new-{}/a", turn.number() % 4), &turn.text(0))?;
        turn.is_written(0);
        Ok(())
    });
}

#[test]
fn creating_a_file_loses_no_save() {
    race("create", |files, turn| {
        let create = WriteOptions::default().mode(WriteMode::Create);
        files.write_with("d/a", &turn.text(0), &create)?;
        turn.is_written(0);
        Ok(())
    });
}

#[test]
fn an_append_loses_no_save() {
    race("append", |files, turn| {
        let append = WriteOptions::default().mode(WriteMode::Append);
        files.write_with("d/a", &turn.text(0), &append)?;
        turn.is_written(0);
        Ok(())
    });
}

#[test]
fn an_edit_loses_no_save() {
    race("edit", |files, turn| {
        let old = files.read("d/a")?.content;
        let options = WriteOptions::default().expected(ContentHash::of(old.as_bytes()));
        files.write_with("d/a", &(old + &turn.text(0)), &options)?;
        turn.is_written(0);
        Ok(())
    });
}

#[test]
fn a_write_that_expects_what_is_there_loses_no_save() {
    race("conditional write", |files, turn| {
        let options = WriteOptions::default().expected(files.content_hash("d/a")?);
        files.write_with("d/a", &turn.text(0), &options)?;
        turn.is_written(0);
        Ok(())
    });
}

#[test]
fn a_write_that_expects_something_else_changes_nothing() {
    race("stale conditional write", |files, turn| {
        let options = WriteOptions::default().expected(ContentHash::of(b"never there"));
        let refused = files.write_with("d/a", &turn.text(0), &options);
        assert!(refused.is_err(), "{refused:?}");
        refused.map(drop)
    });
}

#[test]
fn making_a_directory_loses_no_save() {
    race("mkdir", |files, turn| {
        files.mkdir(&format!("d/sub/new-{}", turn.number() % 4))?;
        files.mkdir("d/a").map(drop)
    });
}

#[test]
fn making_a_link_loses_no_save() {
    race("symlink", |files, turn| {
        files.symlink("d/a", turn.mark(0).text().as_bytes())?;
        turn.is_written(0);
        Ok(())
    });
}

#[test]
fn setting_a_mode_loses_no_save() {
    race("set mode", |files, turn| {
        let mode = FileMode::default().executable(turn.number() % 2 == 0);
        files.set_mode("d/a", mode).map(drop)
    });
}
