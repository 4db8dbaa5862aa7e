//! Calls that fail half way and are rolled back.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use wink_fs::{
    Error, ErrorKind, Filesystem, Operation, Recursion, Result, TreePath, WriteOptions, ops,
};

use crate::writers::mark::Mark;
use crate::writers::race::{Turn, race};
use crate::writers::scene::{Scene, read_marks};

fn put(fs: &mut dyn Filesystem, path: &str, text: &str) -> Result<()> {
    ops::write(fs, &TreePath::parse(path)?, text, &WriteOptions::default()).map(drop)
}

/// Changes several files, and fails.
fn fail_half_way(fs: &mut dyn Filesystem, turn: &Turn<'_>) -> Result<()> {
    put(fs, "d/a", &turn.text(0))?;
    put(fs, "new/a", &turn.text(1))?;
    fs.remove(&TreePath::parse("d/sub")?, Recursion::Recursive)?;
    put(fs, "top", &turn.text(2))?;
    Err(Error::new(Operation::Write, ErrorKind::TooLarge))
}

#[test]
fn rolling_back_a_call_of_several_steps_loses_no_save() {
    race("a call that fails half way", |files, turn| {
        files.as_agent("several", |fs| fail_half_way(fs, turn)).map(drop)
    });
}

#[test]
fn taking_back_a_program_that_failed_loses_no_save() {
    race("a program that fails", |files, turn| {
        // What a program itself writes over is not kept, so it writes where the saver does not.
        let run = files.as_executor("program", |place| -> Result<()> {
            put(place.files, "by-the-program/a", &turn.text(0))?;
            Err(Error::new(Operation::Write, ErrorKind::TooLarge))
        });
        run.map(drop)
    });
}

/// The only save of another process, in the middle of a call.
const SAVE: Mark = Mark::Save(1);

/// What another process does in the middle of a call, and where it can be seen.
type OutsideChange = (&'static str, fn(&Path), &'static str);

const OUTSIDE_CHANGES: [OutsideChange; 7] = [
    ("a save in place", |root| fs::write(root.join("d/a"), SAVE.line()).unwrap(), "d/a"),
    (
        "a save by rename",
        |root| {
            fs::write(root.join("d/temporary"), SAVE.line()).unwrap();
            fs::rename(root.join("d/temporary"), root.join("d/a")).unwrap();
        },
        "d/a",
    ),
    (
        "a file in a directory that the call made",
        |root| fs::write(root.join("new/other"), SAVE.line()).unwrap(),
        "new/other",
    ),
    (
        "a file where the call deleted a directory",
        |root| fs::write(root.join("d/sub"), SAVE.line()).unwrap(),
        "d/sub",
    ),
    (
        "a link in the place of a file",
        |root| {
            fs::remove_file(root.join("d/a")).unwrap();
            symlink(SAVE.text(), root.join("d/a")).unwrap();
        },
        "d/a",
    ),
    (
        "a directory in the place of a file",
        |root| {
            fs::remove_file(root.join("d/a")).unwrap();
            fs::create_dir(root.join("d/a")).unwrap();
            fs::write(root.join("d/a/inside"), SAVE.line()).unwrap();
        },
        "d/a/inside",
    ),
    (
        "a file beside one that the call wrote",
        |root| fs::write(root.join("d/beside"), SAVE.line()).unwrap(),
        "d/beside",
    ),
];

/// Changes several files, among them `d/a` and `top`, while another process makes a change; then it fails.
fn fail_after(fs: &mut dyn Filesystem, change: impl Fn()) -> Result<()> {
    put(fs, "d/a", "by the call")?;
    put(fs, "new/a", "by the call")?;
    fs.remove(&TreePath::parse("d/sub")?, Recursion::Recursive)?;
    put(fs, "top", "by the call")?;
    change();
    Err(Error::new(Operation::Write, ErrorKind::TooLarge))
}

#[test]
fn a_roll_back_leaves_what_another_process_did_meanwhile_and_puts_back_the_rest() {
    let mut wrong = Vec::new();
    for (name, change, seen_at) in OUTSIDE_CHANGES {
        let scene = Scene::new();
        let root = scene.path("root");
        let files = scene.open();
        let failed = files.as_agent("several", |fs| fail_after(fs, || change(&root)));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::TooLarge);
        drop(files);
        drop(scene.open());
        if read_marks(&root.join(seen_at)) != [SAVE] {
            wrong.push(format!("{name}: {seen_at} is not as the other process left it"));
        }
        for path in ["d/a", "top", "d/sub/c"].iter().filter(|it| !seen_at.starts_with(**it)) {
            let content = fs::read_to_string(root.join(path)).ok();
            let is_in_the_way = path.starts_with(seen_at);
            if !is_in_the_way && content.as_deref() != Some("as it began\n") {
                wrong.push(format!("{name}: {path} was not put back: {content:?}"));
            }
        }
        if fs::symlink_metadata(root.join("new/a")).is_ok() {
            wrong.push(format!("{name}: new/a stayed"));
        }
        if let Err(why) = scene.check_usable() {
            wrong.push(format!("{name}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a program did and what another process did meanwhile look the same, but neither is lost.
#[test]
fn what_another_process_saved_while_a_program_failed_can_be_found() {
    let mut wrong = Vec::new();
    for (name, change, _) in OUTSIDE_CHANGES {
        let scene = Scene::new();
        let root = scene.path("root");
        let files = scene.open();
        let failed =
            files.as_executor("program", |place| fail_after(place.files, || change(&root)));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::TooLarge);
        drop(files);
        drop(scene.open());
        let missing = scene.missing(BTreeSet::from([SAVE]));
        wrong.extend((!missing.is_empty()).then(|| format!("{name} was lost")));
        wrong.extend(scene.check_usable().err().map(|why| format!("{name}: {why}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
