//! A person works in the directory while a call is under way: the call stops after each of its system calls
//! that change files, the person makes a change, and the call goes on.
//!
//! Whatever the call answers, what the person made is in its place, or kept where it can be found; and what the
//! call had nothing to do with is as the person left it.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustix::process::{Pid, Signal, kill_process};
use wink_fs::{Kind, SnapshotStore as _, Store, Tree, TreePath};

use crate::crash::person::{
    BY_THE_PERSON, CALLS, Change, Deed, DisturbedCall, Found, RESTORE_OF_ONE, check_verified,
    disturb, find_call,
};
use crate::crash::scene::{CHILD, Call, copy, kill_at, open};

/// The calls that make the file that they are about.
const MAKING: [&str; 4] = ["symlink", "write-new", "copy", "mkdir"];

/// How long a call takes at most to come to a stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A child that stopped after one of its system calls.
struct Stopped {
    strace: Child,
    child: Pid,
}

impl Stopped {
    /// Runs a child until it stops; none where it ended before.
    fn run(what: &str, place: &Path, (name, count): &Call) -> Option<Self> {
        let log = place.join("log");
        let mut strace = Command::new("strace");
        strace.arg("-f").arg("-o").arg(&log);
        strace.args(["-e", &format!("trace={name}")]);
        strace.args(["-e", &format!("inject={name}:signal=STOP:when={count}")]);
        strace.arg(CHILD).arg(what).arg(place).stderr(Stdio::null());
        let mut strace = strace.spawn().expect("strace is needed");
        let started = Instant::now();
        loop {
            let text = fs::read_to_string(&log).unwrap_or_default();
            if let Some(line) = text.lines().find(|line| line.contains("stopped by SIGSTOP")) {
                let child = line.split(' ').next().and_then(|pid| pid.parse().ok());
                let child = child.and_then(Pid::from_raw).unwrap();
                return Some(Self { strace, child });
            }
            if strace.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(started.elapsed() < PATIENCE, "{what} does not stop: {text}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets it go on to its end; returns whether the call was done.
    fn finish(mut self) -> bool {
        kill_process(self.child, Signal::CONT).unwrap();
        self.strace.wait().unwrap().success()
    }
}

/// Returns whether a text is in a file or link below the root, kept for an operation, or in a snapshot.
fn is_kept(place: &Path, text: &str) -> bool {
    let directories = [place.join("root"), place.join("store/operations")];
    if directories.iter().any(|it| is_below(it, text)) {
        return true;
    }
    let store = Store::open_ambient(place.join("store")).unwrap();
    let snapshots = store.list().unwrap();
    snapshots.iter().any(|it| is_in(&*store.load(&it.id).unwrap(), &TreePath::root(), text))
}

fn is_below(directory: &Path, text: &str) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    let mut entries = entries.flatten().filter(|it| it.file_name() != ".wink-staging");
    entries.any(|entry| match Found::at(&entry.path()) {
        Found::File(content) => content.contains(text),
        Found::Link(target) => target == Path::new(text),
        Found::Directory(_) => is_below(&entry.path(), text),
        Found::Fifo | Found::Nothing => false,
    })
}

fn is_in(tree: &dyn Tree, directory: &TreePath, text: &str) -> bool {
    tree.list(directory).unwrap().iter().any(|entry| {
        let path = directory.join(&entry.name).unwrap();
        let content = match entry.kind {
            Kind::Directory => return is_in(tree, &path, text),
            Kind::Symlink => tree.read_link(&path).unwrap(),
            _ => tree.open(&path).unwrap().read_all().unwrap().to_vec(),
        };
        String::from_utf8_lossy(&content).contains(text)
    })
}

/// Checks what is left when the call has ended and the workspace was opened again.
fn check_left(
    place: &Path,
    call: &DisturbedCall,
    change: Change,
    deed: &Deed,
) -> Result<(), String> {
    let files = open(place);
    files.write("unrelated", "after").map_err(|error| format!("the next write: {error}"))?;
    let (path, left) = &deed.left[0];
    let found = Found::at(path);
    let is_kept = match (change, left) {
        // The call has nothing to do with these, unless it is about everything.
        (Change::DeleteSibling | Change::CreateSibling, _) if !call.is_whole => false,
        // What the call replaces or removes is kept as what was there before it.
        (_, Found::File(_)) => is_kept(place, BY_THE_PERSON),
        (_, Found::Link(target)) => is_kept(place, target.to_str().unwrap()),
        (_, Found::Fifo) => has_fifo(&place.join("root")) || has_fifo(&place.join("store")),
        (_, Found::Nothing | Found::Directory(_)) => true,
    };
    if found != *left && !is_kept {
        return Err(format!("lost: {left:?} became {found:?}, and is kept nowhere"));
    }
    files.snapshot("after").map_err(|error| format!("a snapshot: {error}"))?;
    files.restore("after").map_err(|error| format!("a restore: {error}"))?;
    check_verified(place, "the call")
}

fn has_fifo(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().any(|entry| match Found::at(&entry.path()) {
        Found::Fifo => true,
        Found::Directory(_) => has_fifo(&entry.path()),
        _ => false,
    })
}

fn run(
    call: &DisturbedCall,
    before: &Path,
    point: &Call,
    change: Change,
) -> Option<Result<(), String>> {
    let place = copy(before);
    let stopped = Stopped::run(call.what, place.path(), point)?;
    let deed = Deed::make(place.path(), call, change);
    let is_done = stopped.finish();
    let checked = check_left(place.path(), call, change, &deed?);
    let answer = if is_done { "was done" } else { "failed" };
    Some(checked.map_err(|why| format!("{why} (the call {answer})")))
}

/// A program opened a file before the call, and writes into it when the call has stopped.
///
/// Returns whether that is in its place, or kept; none where the call ended before.
fn keeps_open_file(call: &DisturbedCall, before: &Path, point: &Call) -> Option<bool> {
    let place = copy(before);
    let file = fs::File::options().write(true).open(call.touched_at_first(place.path())).ok()?;
    let stopped = Stopped::run(call.what, place.path(), point)?;
    file.set_len(0).unwrap();
    file.write_all_at(BY_THE_PERSON.as_bytes(), 0).unwrap();
    drop(file);
    stopped.finish();
    drop(open(place.path()));
    Some(is_kept(place.path(), BY_THE_PERSON))
}

/// The same where the call is killed there, and a person writes into what is in view before the program writes.
fn keeps_open_file_of_killed(call: &DisturbedCall, before: &Path, point: &Call) -> Option<bool> {
    let place = copy(before);
    let touched = call.touched_at_first(place.path());
    let file = fs::File::options().write(true).open(&touched).ok()?;
    if !kill_at(call.what, place.path(), point) {
        return None;
    }
    let _ = fs::write(&touched, "something else");
    file.set_len(0).unwrap();
    file.write_all_at(BY_THE_PERSON.as_bytes(), 0).unwrap();
    drop(file);
    open(place.path()).write("unrelated", "after").unwrap();
    let waits = is_below(&place.path().join(".wink-staging"), BY_THE_PERSON);
    Some(waits || is_kept(place.path(), BY_THE_PERSON))
}

/// Checks the calls that find the file they are about.
#[track_caller]
fn check_open_file() {
    let mut wrong = String::new();
    let finds_the_file = |it: &&DisturbedCall| !MAKING.contains(&it.what);
    for call in CALLS.iter().filter(finds_the_file) {
        let before = call.template();
        let points = call.points(before.path());
        let runs: Vec<(&Call, bool)> = points
            .par_iter()
            .filter_map(|point| Some((point, keeps_open_file(call, before.path(), point)?)))
            .collect();
        assert!(runs.len() * 2 > points.len(), "{}: {} of {points:?}", call.what, runs.len());
        let lost: Vec<_> = runs.iter().filter(|(_, is_kept)| !is_kept).map(|run| run.0).collect();
        if !lost.is_empty() {
            wrong +=
                &format!("{}: lost at {} of {}: {lost:?}\n", call.what, lost.len(), runs.len());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
#[ignore = "needs strace"]
fn what_a_program_writes_into_a_file_that_it_had_open_during_a_call_is_not_lost() {
    check_open_file();
}

/// Once, the next command forgot the restore, with what the program wrote into the file that it had displaced.
#[test]
#[ignore = "needs strace"]
fn what_a_program_writes_into_a_file_that_a_killed_restore_displaced_is_not_lost() {
    let before = RESTORE_OF_ONE.bare_template();
    let points = RESTORE_OF_ONE.all_points(before.path());
    let is_lost = |point: &&Call| {
        keeps_open_file_of_killed(&RESTORE_OF_ONE, before.path(), point) == Some(false)
    };
    let lost: Vec<_> = points.par_iter().filter(is_lost).collect();
    assert!(lost.is_empty(), "lost at {lost:?} of {points:?}");
}

/// Stops a call at system calls, lets the person make changes, and looks at what is left of them.
#[track_caller]
fn check(what: &str) {
    let call = find_call(what);
    let before = call.template();
    disturb(call, before.path(), |point, change| run(call, before.path(), point, change));
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_write_is_not_lost() {
    check("write");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_write_with_new_parents_is_not_lost() {
    check("write-new");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_an_append_is_not_lost() {
    check("append");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_symlink_is_not_lost() {
    check("symlink");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_call_of_several_steps_is_not_lost() {
    check("several");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_delete_is_not_lost() {
    check("delete");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_rename_is_not_lost() {
    check("rename");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_copy_is_not_lost() {
    check("copy");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_mkdir_is_not_lost() {
    check("mkdir");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_an_undo_is_not_lost() {
    check("undo");
}

#[test]
#[ignore = "needs strace"]
fn what_a_person_does_during_a_restore_is_not_lost() {
    check("restore");
}
