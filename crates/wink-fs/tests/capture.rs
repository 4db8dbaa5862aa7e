//! The files of one moment: what a host remembers of them, and what it cannot capture.

use crate::common::disk;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bytes::Bytes;
use rustix::fs::{CWD, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::mount::UnmountFlags;
use tempfile::TempDir;
use wink_fs::testkit::dump;
use wink_fs::{
    Backend, Capture, ErrorKind, Exclusions, Filesystem, HostBackend, HostOptions, MemoryBackend,
    PutOptions, Recursion, Scope, Staged, Tree, TreePath, tree_hash,
};

fn at(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

/// A root with a few files in it, and a place for an index beside it.
struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(scene.path("root/a/b")).unwrap();
        fs::create_dir_all(scene.path("root/c")).unwrap();
        for file in ["root/a/b/one", "root/a/two", "root/c/three"] {
            fs::write(scene.path(file), file).unwrap();
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self) -> HostBackend {
        let options = HostOptions::default().index(self.path("index"));
        HostBackend::open_ambient_with(self.path("root"), &options).unwrap()
    }

    /// Opens the root once its index knows all files.
    fn open_known(&self) -> HostBackend {
        let mut host = self.open();
        let capture = captured(&host);
        learn(&mut host, &capture);
        host
    }
}

fn learn(host: &mut HostBackend, capture: &Capture) {
    host.learn(&*capture.tree, &copy_of(capture));
}

fn dump_without(tree: &dyn Tree, path: &str) -> Vec<String> {
    let mut copy = MemoryBackend::new();
    copy.replace(tree, &Scope::everything()).unwrap();
    copy.remove(&at(path), Recursion::Recursive).unwrap();
    dump(&copy).unwrap()
}

fn captured(backend: &dyn Backend) -> Capture {
    backend.capture(&Exclusions::default()).unwrap()
}

fn copy_of(capture: &Capture) -> MemoryBackend {
    let mut copy = MemoryBackend::new();
    copy.replace(&*capture.tree, &Scope::everything()).unwrap();
    copy
}

fn is_known(capture: &Capture, directory: &str) -> bool {
    capture.tree.known_tree_hash(&at(directory)).is_some()
}

// --- what is remembered --------------------------------------------------------------------------

#[test]
fn what_was_learnt_is_known_to_the_next_process_without_reading() {
    let scene = Scene::new();
    let expected = tree_hash(&scene.open_known()).unwrap();
    let capture = captured(&scene.open());
    assert_eq!(capture.tree.known_tree_hash(&TreePath::root()), Some(expected));
    assert!(capture.tree.known_hash(&at("a/b/one")).is_some());
}

#[test]
fn a_change_makes_only_what_is_above_it_unknown() {
    let scene = Scene::new();
    let host = scene.open_known();
    fs::write(scene.path("root/a/b/one"), "changed").unwrap();
    let capture = captured(&host);
    assert!(!is_known(&capture, "") && !is_known(&capture, "a") && !is_known(&capture, "a/b"));
    assert!(is_known(&capture, "c"));
    assert_eq!(capture.tree.known_hash(&at("a/b/one")), None);
    assert!(capture.tree.known_hash(&at("a/two")).is_some());
}

#[test]
fn an_entry_that_came_or_went_makes_its_directory_unknown() {
    let changes: [fn(&Scene); 4] = [
        |scene| fs::write(scene.path("root/c/new"), "").unwrap(),
        |scene| fs::create_dir(scene.path("root/c/new")).unwrap(),
        |scene| fs::remove_file(scene.path("root/c/three")).unwrap(),
        |scene| fs::rename(scene.path("root/c/three"), scene.path("root/c/four")).unwrap(),
    ];
    for change in changes {
        let scene = Scene::new();
        let host = scene.open_known();
        change(&scene);
        let capture = captured(&host);
        assert!(!is_known(&capture, "c") && is_known(&capture, "a"));
        assert_eq!(dump(&*capture.tree).unwrap(), dump(&host).unwrap());
    }
}

/// A file of the same size and with the old time of change is found by the time the kernel keeps.
#[test]
fn a_change_behind_a_forged_time_is_seen() {
    let scene = Scene::new();
    let host = scene.open_known();
    let path = scene.path("root/c/three");
    let then = rustix::fs::statat(CWD, &path, rustix::fs::AtFlags::empty()).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all(b"ROOT/C/THREE").unwrap();
    let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let modified = Timespec { tv_sec: then.st_mtime, tv_nsec: then.st_mtime_nsec as _ };
    let times = Timestamps { last_access: omit, last_modification: modified };
    rustix::fs::futimens(&file, &times).unwrap();
    assert_eq!(captured(&host).tree.known_hash(&at("c/three")), None);
}

/// The names that are known are those of other exclusions.
#[test]
fn other_exclusions_are_heeded_at_once() {
    let scene = Scene::new();
    let host = scene.open_known();
    let without_a = Exclusions::parse(["/a"]).unwrap();
    let capture = host.capture(&without_a).unwrap();
    assert_eq!(dump(&*capture.tree).unwrap(), dump_without(&host, "a"));
    learn(&mut scene.open(), &capture);
    assert_eq!(dump(&*captured(&scene.open()).tree).unwrap(), dump(&host).unwrap());
}

/// On such a disk a stamp may lie two seconds before what it stands for.
#[test]
#[ignore = "needs root"]
fn a_change_within_the_same_second_is_seen_where_only_seconds_are_kept() {
    let disk = disk::Disk::new("mkfs.ext4 -q -I 128");
    let file = disk.path("mounted/file");
    let mut host = HostBackend::open_ambient(disk.path("mounted")).unwrap();
    for round in 0..20 {
        fs::write(&file, format!("{round:03}")).unwrap();
        let capture = captured(&host);
        learn(&mut host, &capture);
        fs::write(&file, format!("{round:03}").replace('0', "x")).unwrap();
        let again = captured(&host);
        let content = again.tree.open(&at("file")).unwrap().read_all().unwrap();
        let known = again.tree.known_hash(&at("file"));
        assert!(known.is_none_or(|known| known == wink_fs::ContentHash::of(&content)));
        thread::sleep(std::time::Duration::from_millis(110));
    }
}

#[test]
fn fault_19_a_damaged_index_is_forgotten_and_nothing_else() {
    let scene = Scene::new();
    drop(scene.open_known());
    let whole = fs::read(scene.path("index")).unwrap();
    let expected = dump(&scene.open()).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        if at % 7 == 0 {
            damaged.truncate(at);
        }
        fs::write(scene.path("index"), damaged).unwrap();
        let capture = captured(&scene.open());
        assert!(!is_known(&capture, ""), "byte {at}");
        assert_eq!(dump(&*capture.tree).unwrap(), expected, "byte {at}");
    }
}

// --- one moment ----------------------------------------------------------------------------------

/// Fifty files are rewritten in order, over and over: at any one moment some are a generation ahead
/// of the rest, and they are the first ones.
#[test]
fn fault_27_a_capture_while_another_program_writes_is_of_one_moment_or_refused() {
    let scene = Scene::new();
    let file = |number: u64| scene.path(&format!("root/{number:02}"));
    (0..50).for_each(|number| fs::write(file(number), 0_u64.to_le_bytes()).unwrap());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for generation in 1_u64.. {
                if done.load(Ordering::Relaxed) {
                    return;
                }
                (0..50).for_each(|at| rewrite(file(at), generation));
            }
        });
        let host = scene.open();
        let checked: Result<Vec<()>, String> = (0..20).map(|_| check_one_moment(&host)).collect();
        done.store(true, Ordering::Relaxed);
        checked.unwrap();
    });
}

/// Writes in one step, so that there is no moment at which the file is empty.
fn rewrite(path: PathBuf, generation: u64) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all(&generation.to_le_bytes()).unwrap();
}

/// What keeps changing is not in a capture, and named as missing; everything else is of one moment.
fn check_one_moment(host: &HostBackend) -> Result<(), String> {
    let mut copy = MemoryBackend::new();
    let mut missing = Vec::new();
    let copied = host.capture(&Exclusions::default()).and_then(|capture| {
        missing = capture.not_captured.iter().map(|it| it.path.clone()).collect();
        assert_eq!(capture.point_in_time, missing.is_empty());
        copy.replace(&*capture.tree, &Scope::everything())
    });
    if let Err(error) = copied {
        let is_refusal = error.kind() == ErrorKind::Conflict;
        return is_refusal.then_some(()).ok_or_else(|| error.to_string());
    }
    let present = (0..50).map(|number| at(&format!("{number:02}")));
    let generation = |path: TreePath| {
        let content = copy.open(&path).unwrap().read_all().unwrap();
        u64::from_le_bytes(content[..].try_into().unwrap())
    };
    let generations: Vec<u64> =
        present.filter(|path| !missing.contains(path)).map(generation).collect();
    let spread = generations.first().zip(generations.last()).map_or(0, |(a, b)| a - b);
    let of_one_moment = generations.is_sorted_by(|a, b| a >= b) && spread <= 1;
    of_one_moment.then_some(()).ok_or_else(|| format!("{generations:?}"))
}

#[test]
fn a_write_right_before_a_capture_is_in_it() {
    let scene = Scene::new();
    let mut host = scene.open_known();
    for round in 0..50 {
        let content = Bytes::from(format!("{round:04}"));
        let mut staged = Staged::from_bytes(content.clone());
        host.put(&at("c/three"), &mut staged, &PutOptions::default()).unwrap();
        let capture = captured(&host);
        assert_eq!(capture.tree.open(&at("c/three")).unwrap().read_all().unwrap(), content);
        let same = copy_of(&capture);
        host.learn(&*capture.tree, &same);
    }
}

// --- what cannot be captured ---------------------------------------------------------------------

#[test]
fn a1_13_a_fifo_is_left_out_named_and_left_alone() {
    let scene = Scene::new();
    rustix::fs::mkfifoat(CWD, scene.path("root/a/b/fifo"), Mode::RWXU).unwrap();
    let mut host = scene.open();
    let capture = captured(&host);
    let left_out: Vec<_> = capture.not_captured.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(left_out, ["a/b/fifo"]);
    assert!(capture.tree.stat(&at("a/b/fifo")).is_err());
    let before = copy_of(&capture);

    host.replace(&MemoryBackend::new(), &Scope::everything()).unwrap();
    assert_eq!(dump(&host).unwrap(), ["a/", "a/b/", "a/b/fifo (special)"]);
    host.replace(&before, &Scope::everything()).unwrap();
    assert!(scene.path("root/a/b/fifo").exists() && scene.path("root/a/b/one").exists());
}

#[test]
fn a_directory_that_holds_a_fifo_does_not_give_way_to_a_file() {
    let scene = Scene::new();
    rustix::fs::mkfifoat(CWD, scene.path("root/a/b/fifo"), Mode::RWXU).unwrap();
    let mut target = MemoryBackend::new();
    target.symlink(&at("a"), b"elsewhere").unwrap();
    let mut host = scene.open();
    let before = dump(&host).unwrap();
    let error = host.replace(&target, &Scope::everything()).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("a")));
    assert_eq!(dump(&host).unwrap(), before);
}

/// Makes directories in each other until no path can name the last ones, with a file in the last.
fn nest_too_deeply(directory: &std::path::Path) {
    let name = "d".repeat(250);
    let mut here = fs::File::open(directory).unwrap();
    for _ in 0..20 {
        rustix::fs::mkdirat(&here, &name, Mode::RWXU).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        here = rustix::fs::openat(&here, &name, flags, Mode::empty()).unwrap().into();
    }
    let flags = OFlags::WRONLY | OFlags::CREATE;
    rustix::fs::openat(&here, "file", flags, Mode::RWXU).unwrap();
}

#[test]
fn what_no_path_can_name_is_left_out_and_its_directory_is_named_and_left_alone() {
    let scene = Scene::new();
    nest_too_deeply(&scene.path("root/a/b"));
    for mut host in [scene.open(), scene.open_known()] {
        let capture = captured(&host);
        let [left_out] = &capture.not_captured[..] else { panic!("{:?}", capture.not_captured) };
        assert!(left_out.path.starts_with(&at("a/b")), "{left_out:?}");
        assert_eq!(left_out.path.depth(), 2 + 16);
        let before = copy_of(&capture);

        host.replace(&MemoryBackend::new(), &Scope::everything()).unwrap();
        assert!(scene.path("root/a/b").exists() && !scene.path("root/c").exists());
        host.replace(&before, &Scope::everything()).unwrap();
        assert!(captured(&host).not_captured == capture.not_captured);
    }
}

#[test]
fn a_directory_with_what_no_path_can_name_can_be_looked_through_and_is_not_removed() {
    let scene = Scene::new();
    nest_too_deeply(&scene.path("root/a/b"));
    let files = wink_fs::Workspace::host(scene.path("root")).unwrap();
    assert_eq!(files.glob("**/one", "").unwrap().paths.len(), 1);
    let error = files.delete_all("a").unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::TooLarge, Some("a")));
    assert!(scene.path("root/a/b/one").exists());
    files.delete_all("c").unwrap();
    files.rename("a", "e").unwrap();
    assert!(scene.path("root/e/b/one").exists());
}

struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, UnmountFlags::DETACH);
    }
}

#[test]
#[ignore = "needs root"]
fn another_file_system_is_left_out_named_and_left_alone() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("outside/kept")).unwrap();
    let mount = |from: &str, to: &str| {
        rustix::mount::mount_bind(scene.path(from), scene.path(to)).expect("mounting needs root");
        Mounted(scene.path(to))
    };
    fs::write(scene.path("outside/file"), "outside").unwrap();
    let _mounted = [mount("outside", "root/a/b"), mount("outside/file", "root/c/three")];
    let mut host = scene.open();
    let capture = captured(&host);
    let left_out: Vec<_> = capture.not_captured.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(left_out, ["a/b", "c/three"]);
    host.replace(&MemoryBackend::new(), &Scope::everything()).unwrap();
    assert!(scene.path("outside/kept").exists());
    assert_eq!(fs::read_to_string(scene.path("root/c/three")).unwrap(), "outside");
}

/// Once, the error told the user to try the restore again, which can never help.
#[test]
#[ignore = "needs root"]
fn what_no_snapshot_holds_in_the_way_of_a_replacement_is_said_to_be_there() {
    let scene = Scene::new();
    let mut host = scene.open();
    let before = copy_of(&captured(&host));
    fs::create_dir(scene.path("outside")).unwrap();
    let place = scene.path("root/a/b");
    rustix::mount::mount_bind(scene.path("outside"), &place).expect("mounting needs root");
    let mounted = Mounted(place);
    let error = host.replace(&before, &Scope::everything()).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("a/b")));
    assert!(error.to_string().contains("another file system is mounted there"), "{error}");
    drop(mounted);
    fs::remove_file(scene.path("root/c/three")).unwrap();
    rustix::fs::mkfifoat(CWD, scene.path("root/c/three"), Mode::RWXU).unwrap();
    let error = host.replace(&before, &Scope::everything()).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("c/three")));
    assert!(error.to_string().contains("a FIFO, socket or device is there"), "{error}");
}

/// Once, a capture did not say that no snapshot holds it, and directories in it were taken for what dead
/// processes left.
#[test]
fn a_users_directory_under_the_reserved_name_is_named_and_left_alone() {
    let scene = Scene::new();
    let host = scene.open_known();
    fs::create_dir_all(scene.path("root/.wink-staging/theirs")).unwrap();
    fs::write(scene.path("root/.wink-staging/theirs/file"), "").unwrap();
    for host in [host, scene.open()] {
        let capture = captured(&host);
        let left_out = capture.not_captured.iter().map(|it| (it.path.to_string(), it.why));
        let expected = (".wink-staging".to_owned(), "a name reserved for wink");
        assert_eq!(left_out.collect::<Vec<_>>(), [expected]);
    }
    assert!(scene.path("root/.wink-staging/theirs/file").exists());
    fs::remove_dir_all(scene.path("root/.wink-staging/theirs")).unwrap();
    fs::create_dir(scene.path("root/.wink-staging/1-2-3-4")).unwrap();
    assert_eq!(captured(&scene.open()).not_captured, [], "what wink left is its own");
}

/// What is mounted over a directory changes nothing in the directory above it.
#[test]
#[ignore = "needs root"]
fn another_file_system_is_left_out_also_where_the_names_are_known() {
    let scene = Scene::new();
    let host = scene.open_known();
    fs::create_dir(scene.path("outside")).unwrap();
    fs::write(scene.path("outside/file"), "outside").unwrap();
    for (from, to) in [("outside", "a/b"), ("outside/file", "c/three")] {
        let place = scene.path("root").join(to);
        rustix::mount::mount_bind(scene.path(from), &place).expect("mounting needs root");
        let _mounted = Mounted(place);
        let capture = captured(&host);
        let left_out: Vec<_> = capture.not_captured.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(left_out, [to]);
        assert!(capture.tree.stat(&at(to)).is_err());
    }
}

// --- extremes ------------------------------------------------------------------------------------

/// Depth must cost neither stack nor open files.
#[test]
fn a_very_deep_tree_is_captured_hashed_compared_and_brought_back() {
    let deep = at(&"d/".repeat(1_000));
    for mut backend in
        [Box::new(MemoryBackend::new()) as Box<dyn Backend>, Box::new(Scene::new().open())]
    {
        for directory in deep.ancestors().chain([deep.clone()]) {
            backend.create_dir(&directory).unwrap();
        }
        let capture = captured(&*backend);
        let hash = tree_hash(&*capture.tree).unwrap();
        let mut copy = copy_of(&capture);
        assert_eq!(tree_hash(&copy).unwrap(), hash);
        copy.create_dir(&deep.join(&wink_fs::Name::from_disk(b"x").unwrap()).unwrap()).unwrap();
        backend.replace(&copy, &Scope::everything()).unwrap();
        backend.replace(&MemoryBackend::new(), &Scope::everything()).unwrap();
        assert_eq!(dump(&*backend).unwrap(), [""; 0]);
    }
}

/// A dropped capture gives its memory back.
#[test]
fn content_goes_with_the_last_capture_that_has_it() {
    let content = Bytes::from(vec![7; 1_000]);
    let mut files = MemoryBackend::new();
    let path = at("a/b/file");
    files.create_dir(&at("a")).unwrap();
    files.create_dir(&at("a/b")).unwrap();
    files.put(&path, &mut Staged::from_bytes(content.clone()), &PutOptions::default()).unwrap();
    let first = captured(&files);
    let second = captured(&files);
    files.remove(&at("a"), Recursion::Recursive).unwrap();
    drop(first);
    assert!(!content.is_unique(), "the second capture has it");
    drop(second);
    assert!(content.is_unique());
}
