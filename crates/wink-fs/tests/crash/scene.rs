//! A workspace in which a process does one thing, and dies or fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use wink_fs::testkit::dump;
use wink_fs::{
    Exclusions, OperationRecord, Snapshot, SnapshotStore, StateRef, Store, VerifyOptions, Workspace,
};

pub(crate) const CHILD: &str = env!("CARGO_BIN_EXE_crash_child");

/// How many calls of each kind of work are tried by default.
const TRIED: usize = 24;

/// How often a run is repeated that ended before the call it was to die at.
const ATTEMPTS: usize = 8;

/// Kept in memory: it is processes that die here, not the machine.
pub(crate) fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").expect("/dev/shm is needed")
}

/// The files of a scene and its store, which may be a link to one on another file system.
pub(crate) struct Place {
    files: TempDir,
    _elsewhere: Option<TempDir>,
}

impl Place {
    fn new() -> Self {
        Self { files: directory(), _elsewhere: None }
    }

    fn with_store_elsewhere() -> Self {
        let (files, elsewhere) = (directory(), tempfile::tempdir().unwrap());
        symlink(elsewhere.path(), files.path().join("store")).unwrap();
        Self { files, _elsewhere: Some(elsewhere) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.files.path()
    }
}

pub(crate) fn open(place: &Path) -> Workspace {
    let store = Store::open_ambient(place.join("store")).unwrap();
    Workspace::host_with_store(place.join("root"), store).unwrap()
}

/// Makes what all scenes start from: some files, a snapshot, and changes since.
pub(crate) fn template(last: &dyn Fn(&Workspace)) -> Place {
    prepared(Place::new(), last)
}

/// Makes the same with the store on another file system.
pub(crate) fn template_elsewhere(last: &dyn Fn(&Workspace)) -> Place {
    prepared(Place::with_store_elsewhere(), last)
}

fn prepared(place: Place, last: &dyn Fn(&Workspace)) -> Place {
    fs::create_dir(place.path().join("root")).unwrap();
    drop(Store::create_ambient(place.path().join("store")).unwrap());
    let files = open(place.path());
    for (path, content) in
        [("d/file", "old"), ("d/e/deep", "deep"), ("changed", "1"), ("gone", "1")]
    {
        files.write(path, content).unwrap();
    }
    files.mkdir("empty").unwrap();
    files.symlink("link", b"somewhere").unwrap();
    files.export_archive(place.path().join("archive.fs.zip")).unwrap();
    files.snapshot("base").unwrap();
    files.write("changed", "2").unwrap();
    files.write("added/file", "2").unwrap();
    files.delete("gone").unwrap();
    files.delete_all("empty").unwrap();
    files.write("empty", "a file now").unwrap();
    last(&files);
    place
}

pub(crate) fn copy(of: &Path) -> Place {
    let is_elsewhere = of.join("store").is_symlink();
    let place = if is_elsewhere { Place::with_store_elsewhere() } else { Place::new() };
    for entry in fs::read_dir(of).unwrap().map(|entry| entry.unwrap()) {
        let mut cp = Command::new("cp");
        cp.arg("-a");
        if entry.file_type().unwrap().is_symlink() {
            cp.arg(entry.path().join(".")).arg(place.path().join(entry.file_name()))
        } else {
            cp.arg(entry.path()).arg(place.path())
        };
        assert!(cp.status().unwrap().success());
    }
    // Past the tick of the clock that the copies are stamped with.
    std::thread::sleep(std::time::Duration::from_millis(12));
    place
}

pub(crate) fn lines(place: &Path) -> Vec<String> {
    dump(&*open(place).tree()).unwrap()
}

/// Runs the child under strace, and something happens to it at a call.
pub(crate) fn trace(what: &str, place: &Path, call: &Call, happens: &str) -> Option<i32> {
    traced(what, place, call, happens).output().expect("strace is needed").status.code()
}

/// Returns the command that runs the child under strace, and lets something happen to it at a call.
///
/// Not with `--seccomp-bpf`, by which signals are not delivered.
pub(crate) fn traced(what: &str, place: &Path, (name, count): &Call, happens: &str) -> Command {
    let (trace, inject) =
        (format!("trace={name}"), format!("inject={name}:{happens}:when={count}"));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "-e", &trace, "-e", &inject]);
    strace.arg(CHILD).arg(what).arg(place);
    strace
}

/// One system call of a run: its name, and how many of that name came up to it.
pub(crate) type Call = (String, usize);

pub(crate) fn list_calls(what: &str, place: &Path) -> Vec<Call> {
    let log = place.join("log");
    let mut strace = Command::new("strace");
    strace.arg("-f").arg("-o").arg(&log).arg(CHILD).arg(what).arg(place);
    let done = strace.output().expect("strace is needed");
    assert!(done.status.success(), "{what} works when it is not killed");
    let text = fs::read_to_string(&log).unwrap();
    let threads: BTreeSet<_> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(threads.len(), 1, "one thread makes all calls, so each has one number");
    let mut counts = BTreeMap::new();
    let names = text.lines().filter_map(|line| line.split(' ').find(|word| word.contains('(')));
    let name = |call: &str| call.split('(').next().unwrap_or_default().to_owned();
    let number = |name: String| {
        let count = counts.entry(name.clone()).or_insert(0);
        *count += 1;
        (name, *count)
    };
    // The first call makes the process what it is, and comes before anybody can look.
    names.map(name).filter(|name| name != "execve").map(number).collect()
}

/// Runs the child and kills it when it enters a call; returns whether it came to that.
pub(crate) fn kill_at(what: &str, place: &Path, call: &Call) -> bool {
    trace(what, place, call, "signal=KILL").is_none()
}

/// Makes a scene in which the child died at a call.
///
/// Waiting for the clock takes more or fewer calls each time, so the last ones are not always made.
pub(crate) fn killed_at(what: &str, before: &Path, call: &Call) -> Option<Place> {
    (0..ATTEMPTS).map(|_| copy(before)).find(|place| kill_at(what, place.path(), call))
}

/// The calls that are tried: all of them, or some of the later ones, which are the child's own.
pub(crate) fn choose(calls: &[Call]) -> Vec<Call> {
    if std::env::var_os("WINK_CRASH_ALL").is_some() {
        return calls.to_vec();
    }
    let own = &calls[calls.len() / 4..];
    let step = own.len().div_ceil(TRIED).max(1);
    // In the middle of a copy always.
    let is_copying = |call: &&Call| ["sendfile", "copy_file_range"].contains(&&*call.0);
    own.iter().step_by(step).chain(own.iter().filter(is_copying)).cloned().collect()
}

/// Checks that the workspace is in one of two states; returns which.
pub(crate) fn check_whole(
    what: &str,
    call: &Call,
    place: &Path,
    states: &[Vec<String>; 2],
) -> usize {
    let found = lines(place);
    let state = states.iter().position(|state| *state == found);
    let state = state.unwrap_or_else(|| panic!("{what} killed at {call:?} left {found:#?}"));
    check_store(what, call, place);
    if state == 1 && ["restore", "import"].contains(&what) {
        check_old_is_kept(what, call, place, &states[0]);
    }
    check_nothing_in_view(what, call, place);
    let operations = open(place).operations().unwrap();
    let is_left = |it: &OperationRecord| !it.left_alone.is_empty();
    assert!(!operations.iter().any(is_left), "{what} killed at {call:?}: no other program wrote");
    check_usable(place);
    state
}

/// Checks that a snapshot has what was replaced.
fn check_old_is_kept(what: &str, call: &Call, place: &Path, old: &[String]) {
    let store = Store::open_ambient(place.join("store")).unwrap();
    let has_it = |it: &Snapshot| dump(&*store.load(&it.id).unwrap()).unwrap() == old;
    assert!(store.list().unwrap().iter().any(has_it), "{what} killed at {call:?} lost the old");
}

pub(crate) fn check_store(what: &str, call: &Call, place: &Path) {
    let store = Store::open_ambient(place.join("store")).unwrap();
    let found = store.verify(&VerifyOptions::default().data(true)).unwrap();
    assert_eq!(found.problems, [], "{what} killed at {call:?}");
    for snapshot in store.list().unwrap() {
        let tree = store.load(&snapshot.id).unwrap();
        assert_eq!(Some(wink_fs::tree_hash(&*tree).unwrap()), snapshot.tree_hash);
    }
}

fn check_nothing_in_view(what: &str, call: &Call, place: &Path) {
    let names = |directory: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let strays: Vec<_> = [place.to_path_buf(), place.join("root")]
        .iter()
        .flat_map(|directory| names(directory))
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(strays.is_empty(), "{what} killed at {call:?} left {strays:?}");
}

fn check_usable(place: &Path) {
    let files = open(place);
    files.write("after", "the crash").unwrap();
    files.undo().unwrap();
    assert!(!files.exists("after"));
    files.restore("base").unwrap();
    let left = files.diff("base", StateRef::Live).unwrap();
    assert!(left.modified.is_empty() && left.deleted.is_empty(), "{left:?}");
    // What was taken out of it is left alone, and nothing else.
    let taken_out = Exclusions::parse(files.find_snapshot("base").unwrap().excluded).unwrap();
    assert!(left.added.iter().all(|it| taken_out.matches(&it.path)), "{left:?}");
}

/// Nothing that is done here takes a snapshot away that has a tag.
pub(crate) fn check_tags(what: &str, call: &Call, before: &Path, after: &Path) {
    let tags = |place: &Path| -> BTreeSet<String> {
        let store = Store::open_ambient(place.join("store")).unwrap();
        store.list().unwrap().into_iter().filter_map(|snapshot| snapshot.tag).collect()
    };
    assert!(tags(after).is_superset(&tags(before)), "{what} killed at {call:?} lost a snapshot");
}
