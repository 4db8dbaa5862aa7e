//! A person works in the directory after a call died there, and before the workspace is opened again.
//!
//! What the person did stays exactly as the person left it, and the workspace goes on.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustix::fs::{CWD, Mode};
use wink_fs::{ErrorKind, OperationChange, SnapshotStore as _, Store, VerifyOptions, Workspace};

use crate::crash::scene::{Call, Place, copy, killed_at, list_calls, template, template_elsewhere};

/// How many system calls of each call are tried by default, and how many changes at each of them.
const POINTS: usize = 12;
const CHANGES_AT_A_POINT: usize = 5;

fn are_all_tried() -> bool {
    std::env::var_os("WINK_CRASH_ALL").is_some()
}

// --- the calls -----------------------------------------------------------------------------------

/// A call of the workspace that is disturbed, and the paths that the person works at.
pub(crate) struct DisturbedCall {
    /// Its name in the child.
    pub(crate) what: &'static str,
    /// What is done before it.
    prepare: fn(&Workspace),
    /// A file that it writes, moves or removes: the first of these that is there, or the last.
    touched: &'static [&'static str],
    /// A directory that it makes or moves, or works in: the first of these that is there, or the last.
    directory: &'static [&'static str],
    /// A file that it never touches, beside what it does.
    sibling: &'static str,
    /// Whether it removes what it touches, so that a person who deletes that does the same.
    is_removing: bool,
    /// Whether it is about everything, also the sibling.
    pub(crate) is_whole: bool,
}

const PLAIN: DisturbedCall = DisturbedCall {
    what: "write",
    prepare: |_| (),
    touched: &["d/file"],
    directory: &["d"],
    sibling: "d/sibling",
    is_removing: false,
    is_whole: false,
};

pub(crate) const CALLS: [DisturbedCall; 11] = [
    PLAIN,
    DisturbedCall { what: "append", ..PLAIN },
    DisturbedCall { what: "symlink", touched: &["d/pointer"], ..PLAIN },
    DisturbedCall {
        what: "write-new",
        touched: &["new/deep/file"],
        directory: &["new/deep"],
        sibling: "sibling",
        ..PLAIN
    },
    DisturbedCall { what: "several", directory: &["moved", "new/deep"], ..PLAIN },
    DisturbedCall {
        what: "delete",
        touched: &["d/e/deep"],
        directory: &["d/e"],
        sibling: "sibling",
        is_removing: true,
        ..PLAIN
    },
    DisturbedCall {
        what: "rename",
        touched: &["moved/d/file", "d/file"],
        directory: &["moved/d", "moved"],
        sibling: "sibling",
        is_removing: true,
        ..PLAIN
    },
    DisturbedCall {
        what: "copy",
        touched: &["copied/file"],
        directory: &["copied"],
        sibling: "sibling",
        ..PLAIN
    },
    DisturbedCall {
        what: "mkdir",
        touched: &["made/deep/file"],
        directory: &["made/deep"],
        sibling: "sibling",
        ..PLAIN
    },
    DisturbedCall {
        what: "undo",
        prepare: |files| drop(files.write("d/file", "undone soon").unwrap()),
        ..PLAIN
    },
    DisturbedCall {
        what: "restore",
        prepare: |files| drop(files.write("d/file", "replaced soon").unwrap()),
        is_whole: true,
        ..PLAIN
    },
];

/// A restore of which one file is all that is different.
pub(crate) const RESTORE_OF_ONE: DisturbedCall = DisturbedCall {
    what: "restore",
    prepare: |files| {
        files.restore("base").unwrap();
        files.write("d/file", "replaced soon").unwrap();
    },
    is_whole: true,
    ..PLAIN
};

/// The system calls that change files; others are soon followed by one of these.
const CHANGING: [&str; 8] =
    ["renameat2", "renameat", "rename", "linkat", "symlinkat", "mkdirat", "unlinkat", "write"];

impl DisturbedCall {
    /// Makes what the call starts from, with a file beside it that no operation knows.
    pub(crate) fn template(&self) -> Place {
        self.with_sibling(template(&self.prepare))
    }

    /// Makes the same without that file.
    pub(crate) fn bare_template(&self) -> Place {
        template(&self.prepare)
    }

    /// Makes the same with the store on another file system.
    fn template_elsewhere(&self) -> Place {
        self.with_sibling(template_elsewhere(&self.prepare))
    }

    fn with_sibling(&self, place: Place) -> Place {
        fs::write(place.path().join("root").join(self.sibling), "sibling").unwrap();
        place
    }

    /// Returns where the file that it is about is before it.
    pub(crate) fn touched_at_first(&self, place: &Path) -> PathBuf {
        first_there(&place.join("root"), self.touched)
    }

    /// Returns the system calls by which it changes files, without those that only open the workspace.
    pub(crate) fn points(&self, before: &Path) -> Vec<Call> {
        let own = self.all_points(before);
        if are_all_tried() {
            return own;
        }
        let step = own.len().div_ceil(POINTS).max(1);
        own.into_iter().step_by(step).collect()
    }

    /// Returns all of them, also in the ordinary run.
    pub(crate) fn all_points(&self, before: &Path) -> Vec<Call> {
        let opening = list_calls("open", copy(before).path());
        let all = list_calls(self.what, copy(before).path());
        let is_own = |call: &Call| CHANGING.contains(&&*call.0) && !opening.contains(call);
        all.into_iter().filter(is_own).collect()
    }
}

/// Returns the changes that are made at the nth point: all, or some, so that each gets its turn.
fn changes_at(nth: usize) -> Vec<Change> {
    if are_all_tried() {
        return Change::ALL.to_vec();
    }
    let turn = |it: usize| Change::ALL[(nth * CHANGES_AT_A_POINT + it) % Change::ALL.len()];
    (0..CHANGES_AT_A_POINT).map(turn).collect()
}

// --- the person ----------------------------------------------------------------------------------

/// What the person does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Change {
    SaveInPlace,
    SaveByRename,
    Delete,
    DeleteSibling,
    CreateSibling,
    CreateInDirectory,
    ReplaceByLink,
    ReplaceByFifo,
    ReplaceParentByLink,
    ReplaceParentByFile,
}

impl Change {
    const ALL: [Self; 10] = [
        Self::SaveInPlace,
        Self::ReplaceParentByLink,
        Self::DeleteSibling,
        Self::SaveByRename,
        Self::ReplaceByLink,
        Self::Delete,
        Self::CreateInDirectory,
        Self::ReplaceParentByFile,
        Self::CreateSibling,
        Self::ReplaceByFifo,
    ];
}

/// What the person writes.
pub(crate) const BY_THE_PERSON: &str = "by the person, of which there is no other";

/// What is at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Nothing,
    File(String),
    Link(PathBuf),
    Fifo,
    Directory(Vec<(String, Found)>),
}

impl Found {
    pub(crate) fn at(path: &Path) -> Self {
        let Ok(metadata) = fs::symlink_metadata(path) else { return Self::Nothing };
        let kind = metadata.file_type();
        if kind.is_symlink() {
            Self::Link(fs::read_link(path).unwrap())
        } else if kind.is_fifo() {
            Self::Fifo
        } else if kind.is_dir() {
            let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
            let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
            let mut found: Vec<_> =
                entries.map(|entry| (name(&entry), Self::at(&entry.path()))).collect();
            found.sort_by(|one, other| one.0.cmp(&other.0));
            Self::Directory(found)
        } else {
            Self::File(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned())
        }
    }
}

/// What the person left at some paths.
pub(crate) struct Deed {
    pub(crate) left: Vec<(PathBuf, Found)>,
}

impl Deed {
    /// Makes a change; none where there is nothing to change in this way.
    pub(crate) fn make(place: &Path, call: &DisturbedCall, change: Change) -> Option<Self> {
        let root = place.join("root");
        let touched = first_there(&root, call.touched);
        let parent = touched.parent().unwrap().to_owned();
        let sibling = root.join(call.sibling);
        let changed = match change {
            Change::SaveInPlace => {
                make_parent(&touched);
                // Through a link the person would write something else.
                let is_link = matches!(Found::at(&touched), Found::Link(_));
                (!is_link).then(|| fs::write(&touched, BY_THE_PERSON).unwrap())?;
                touched
            }
            Change::SaveByRename => {
                make_parent(&touched);
                let temporary = parent.join("temporary");
                fs::write(&temporary, BY_THE_PERSON).unwrap();
                fs::rename(temporary, &touched).unwrap();
                touched
            }
            // To delete what the call removes is to do the same.
            Change::Delete if call.is_removing => return None,
            Change::Delete => {
                fs::remove_file(&touched).ok()?;
                touched
            }
            Change::DeleteSibling if call.is_whole => return None,
            Change::DeleteSibling => {
                fs::remove_file(&sibling).ok()?;
                sibling
            }
            Change::CreateSibling => write_new(&sibling.with_file_name("created")),
            Change::CreateInDirectory => {
                write_new(&first_there(&root, call.directory).join("created"))
            }
            Change::ReplaceByLink => {
                make_parent(&touched);
                let _ = fs::remove_file(&touched);
                symlink(BY_THE_PERSON, &touched).unwrap();
                touched
            }
            Change::ReplaceByFifo => {
                make_parent(&touched);
                let _ = fs::remove_file(&touched);
                rustix::fs::mkfifoat(CWD, &touched, Mode::RUSR | Mode::WUSR).unwrap();
                touched
            }
            Change::ReplaceParentByLink => {
                let elsewhere = place.join("elsewhere");
                fs::rename(&parent, &elsewhere).ok()?;
                symlink(&elsewhere, &parent).unwrap();
                return Some(Self::looked_at([parent, elsewhere]));
            }
            Change::ReplaceParentByFile => {
                let _ = fs::remove_dir_all(&parent);
                write_new(&parent)
            }
        };
        Some(Self::looked_at([changed]))
    }

    fn looked_at(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let left = paths.into_iter().map(|path| {
            let found = Found::at(&path);
            (path, found)
        });
        Self { left: left.collect() }
    }

    /// Checks that everything is as the person left it.
    fn check(&self, after: &str) -> Result<(), String> {
        self.check_some(after, |_| true)
    }

    /// Checks that all that the person made is as the person left it.
    fn check_made(&self, after: &str) -> Result<(), String> {
        self.check_some(after, |left| *left != Found::Nothing)
    }

    fn check_some(&self, after: &str, is_checked: fn(&Found) -> bool) -> Result<(), String> {
        for (path, left) in self.left.iter().filter(|(_, left)| is_checked(left)) {
            let found = Found::at(path);
            if found != *left {
                let name = path.file_name().unwrap().display();
                return Err(format!("{after}: `{name}` was {left:?} and is {found:?}"));
            }
        }
        Ok(())
    }
}

fn first_there(root: &Path, candidates: &[&str]) -> PathBuf {
    let is_there = |path: &&&str| fs::symlink_metadata(root.join(path)).is_ok();
    root.join(candidates.iter().find(is_there).unwrap_or_else(|| candidates.last().unwrap()))
}

fn make_parent(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
}

fn write_new(path: &Path) -> PathBuf {
    make_parent(path);
    fs::write(path, BY_THE_PERSON).unwrap();
    path.to_owned()
}

// --- the check -----------------------------------------------------------------------------------

/// Works on in the workspace: a write, a snapshot, two undos and two restores.
fn go_on(place: &Path, call: &DisturbedCall, deed: &Deed) -> Result<(), String> {
    let failed = |what: &'static str| move |error| format!("{what}: {error}");
    let store = Store::open_ambient(place.join("store")).map_err(failed("open the store"))?;
    let files = Workspace::host_with_store(place.join("root"), store).map_err(failed("open"))?;
    files.write("unrelated", "after").map_err(failed("the next write"))?;
    deed.check("the next write")?;
    if !call.is_whole {
        check_nothing_names(&files, call.sibling)?;
    }
    let taken = files.snapshot("after").map_err(failed("a snapshot"))?;
    check_verified(place, "a snapshot")?;
    files.undo().map_err(failed("the undo of the next write"))?;
    if files.exists("unrelated") {
        return Err("the undo of the next write left it".to_owned());
    }
    deed.check("the undo of the next write")?;
    match files.undo() {
        Err(error) if !matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound) => {
            return Err(format!("a second undo: {error}"));
        }
        _ => deed.check_made("a second undo")?,
    }
    files.write("again", "after").map_err(failed("a write after the undos"))?;
    files.restore(&taken).map_err(failed("a restore of what there was"))?;
    deed.check_made("a restore of what there was")?;
    match files.restore("base") {
        // What no snapshot holds, such as a FIFO, is not replaced.
        Err(error) if !matches!(error.kind(), ErrorKind::Conflict | ErrorKind::SpecialFile) => {
            return Err(format!("a whole restore: {error}"));
        }
        _ => files.write("again", "after").map_err(failed("a write after the restore"))?,
    };
    check_verified(place, "a whole restore")
}

/// The call never touched it, and neither does what takes the call back.
fn check_nothing_names(files: &Workspace, sibling: &str) -> Result<(), String> {
    let created = Path::new(sibling).with_file_name("created");
    let siblings = [sibling, created.to_str().unwrap()];
    let is_named = |change: &OperationChange| {
        let mut named = change.inside.iter().chain([&change.path]);
        named.any(|path| siblings.contains(&&*path.to_string()))
    };
    let operations = files.operations().map_err(|error| format!("operations: {error}"))?;
    match operations.iter().find(|it| it.changes.iter().any(is_named)) {
        Some(it) => Err(format!("operation {} ({}) names the sibling", it.sequence, it.name)),
        None => Ok(()),
    }
}

pub(crate) fn check_verified(place: &Path, after: &str) -> Result<(), String> {
    let store = Store::open_ambient(place.join("store")).unwrap();
    match store.verify(&VerifyOptions::default().data(true)) {
        Ok(found) if found.problems.is_empty() => Ok(()),
        found => Err(format!("verify after {after}: {found:?}")),
    }
}

/// What went wrong, by change and by the first words that say so.
#[derive(Default)]
struct Wrong(BTreeMap<(Change, String), (usize, String)>);

impl Wrong {
    fn of(runs: Vec<(Call, Change, Result<(), String>)>) -> Self {
        let mut wrong = Self::default();
        for (call, change, done) in runs {
            if let Err(why) = done {
                let words = why.split(':').next().unwrap().to_owned();
                let first = || (0, format!("{} {}: {why}", call.0, call.1));
                wrong.0.entry((change, words)).or_insert_with(first).0 += 1;
            }
        }
        wrong
    }

    #[track_caller]
    fn check(&self, what: &str, tried: usize) {
        println!("{what}: {tried} disturbed");
        let line = |((change, _), (count, first)): (&(Change, String), &(usize, String))| {
            format!("{change:?}: {count} times, first at {first}\n")
        };
        let lines: String = self.0.iter().map(line).collect();
        assert!(lines.is_empty(), "{what} of {tried}:\n{lines}");
    }
}

/// Returns the points at which a call is disturbed, each with the changes that are made there.
fn pairs(call: &DisturbedCall, before: &Path) -> Vec<(Call, Change)> {
    let points = call.points(before);
    assert!(points.len() > 3, "{}: only {points:?} change files", call.what);
    let changes = |(nth, point): (usize, Call)| {
        changes_at(nth).into_iter().map(move |change| (point.clone(), change))
    };
    points.into_iter().enumerate().flat_map(changes).collect()
}

/// Disturbs a call at system calls by each of some changes; what is wrong then is said by `run`, or nothing where it
/// cannot be tried.
#[track_caller]
pub(crate) fn disturb(
    call: &DisturbedCall,
    before: &Path,
    run: impl Fn(&Call, Change) -> Option<Result<(), String>> + Sync,
) {
    let pairs = pairs(call, before);
    let runs = pairs
        .par_iter()
        .filter_map(|(point, change)| Some((point.clone(), *change, run(point, *change)?)));
    let runs: Vec<_> = runs.collect();
    let (what, tried) = (call.what, runs.len());
    assert!(tried * 2 > pairs.len(), "{what}: only {tried} of {} tried", pairs.len());
    Wrong::of(runs).check(what, tried);
}

pub(crate) fn find_call(what: &str) -> &'static DisturbedCall {
    CALLS.iter().find(|it| it.what == what).unwrap()
}

/// Kills a call at system calls, lets the person make changes, and goes on.
#[track_caller]
fn check(what: &str) {
    let call = find_call(what);
    check_in(call, &call.template());
}

#[track_caller]
fn check_elsewhere(what: &str) {
    let call = find_call(what);
    check_in(call, &call.template_elsewhere());
}

#[track_caller]
fn check_in(call: &DisturbedCall, before: &Place) {
    disturb(call, before.path(), |point, change| {
        let place = killed_at(call.what, before.path(), point)?;
        let deed = Deed::make(place.path(), call, change)?;
        Some(go_on(place.path(), call, &deed))
    });
}

/// Kills a call at system calls, and goes on in another way at each.
#[track_caller]
pub(crate) fn kill_at_points(what: &str, go_on: impl Fn(&Path) -> Result<(), String>) {
    let call = find_call(what);
    let before = call.bare_template();
    for point in call.points(before.path()) {
        if let Some(place) = killed_at(what, before.path(), &point) {
            let done = go_on(place.path());
            assert_eq!(done, Ok(()), "{what} killed at {} {}", point.0, point.1);
        }
    }
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_write_died_stays() {
    check("write");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_write_with_new_parents_died_stays() {
    check("write-new");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_an_append_died_stays() {
    check("append");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_symlink_died_stays() {
    check("symlink");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_call_of_several_steps_died_stays() {
    check("several");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_delete_died_stays() {
    check("delete");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_rename_died_stays() {
    check("rename");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_copy_died_stays() {
    check("copy");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_mkdir_died_stays() {
    check("mkdir");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_an_undo_died_stays() {
    check("undo");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_restore_died_stays() {
    check("restore");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_write_with_its_history_elsewhere_died_stays() {
    check_elsewhere("write");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_rename_with_its_history_elsewhere_died_stays() {
    check_elsewhere("rename");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_call_of_several_steps_with_its_history_elsewhere_died_stays() {
    check_elsewhere("several");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_delete_with_its_history_elsewhere_died_stays() {
    check_elsewhere("delete");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_did_after_a_restore_with_its_history_elsewhere_died_stays() {
    check_elsewhere("restore");
}
