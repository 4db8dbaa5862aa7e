//! What only a directory of the host can do wrong: staging, owners, mounts, faults of the system.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::common::again;
use rustix::mount::{MountFlags, UnmountFlags};
use tempfile::TempDir;
use wink_fs::{
    BackendKind, Content, ContentHash, Durability, ErrorKind, FileMode, HostBackend, HostOptions,
    PutOptions, RESERVED_NAME, Workspace, WriteMode, WriteOptions,
};

use crate::common::size::size;

/// A directory with a root in it, so that what is beside the root can be seen.
struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(scene.root("")).unwrap();
        scene
    }

    fn root(&self, name: &str) -> PathBuf {
        self.0.path().join("root").join(name)
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self) -> Workspace {
        Workspace::host(self.root("")).unwrap()
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn append() -> WriteOptions {
    WriteOptions::default().mode(WriteMode::Append)
}

// --- staging -------------------------------------------------------------------------------------

#[test]
fn looking_leaves_no_trace_beside_the_root() {
    let scene = Scene::new();
    let files = scene.open();
    files.list("").unwrap();
    assert!(!files.exists("a"));
    assert_eq!(names(scene.0.path()), ["root"]);
}

#[test]
fn staging_is_private_beside_the_root_and_goes_with_the_workspace() {
    let scene = Scene::new();
    let files = scene.open();
    files.write("a", "").unwrap();
    let staging = std::fs::metadata(scene.beside(RESERVED_NAME)).unwrap();
    assert_eq!(staging.permissions().mode() & 0o777, 0o700);
    assert_eq!(names(&scene.root("")), ["a"]);
    drop(files);
    assert_eq!(names(scene.0.path()), ["root"]);
}

#[test]
fn an_import_that_fails_leaves_nothing_in_the_staging_directory() {
    let (scene, source) = (Scene::new(), Workspace::memory());
    source.write("directory/good", "good").unwrap();
    source.write("z", "what is damaged below").unwrap();
    let archive = scene.beside("a.fs.zip");
    source.export_archive(&archive).unwrap();
    let mut bytes = std::fs::read(&archive).unwrap();
    let at = bytes.windows(7).position(|window| window == b"damaged").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&archive, bytes).unwrap();

    let files = scene.open();
    assert_eq!(files.import_archive(&archive).unwrap_err().kind(), ErrorKind::Corrupt);
    let holder = scene.beside(RESERVED_NAME);
    let own = &names(&holder)[0];
    assert_eq!(names(&holder.join(own)), [""; 0]);
}

#[test]
fn a_staged_file_that_is_never_put_is_removed() {
    let scene = Scene::new();
    let files = scene.open();
    let mut staging = files.stage().unwrap();
    staging.write_all(b"never seen").unwrap();
    let own = names(&scene.beside(RESERVED_NAME))[0].clone();
    let staged_files = || names(&scene.beside(RESERVED_NAME).join(&own)).len();
    assert_eq!(staged_files(), 1);
    drop(staging);
    assert_eq!(staged_files(), 0);
    drop(files.stage().unwrap().finish().unwrap());
    assert_eq!(staged_files(), 0);
}

#[test]
fn what_a_dead_process_left_is_swept_and_what_a_living_one_has_is_not() {
    let scene = Scene::new();
    let left = scene.beside(RESERVED_NAME).join("1-2-3-4");
    std::fs::create_dir_all(left.join("removed/tree")).unwrap();
    std::fs::write(left.join("0"), "half written").unwrap();
    std::fs::set_permissions(scene.beside(RESERVED_NAME), PermissionsExt::from_mode(0o700))
        .unwrap();
    let living = scene.open();
    let mut staged = living.stage().unwrap().finish().unwrap();
    let other = scene.open();
    other.write("b", "").unwrap();
    assert!(!left.exists());
    assert_eq!(names(&scene.beside(RESERVED_NAME)).len(), 2, "one directory for each backend");
    living.put("a", &mut staged, &PutOptions::default()).unwrap();
    assert_eq!(names(&scene.root("")), ["a", "b"]);
}

/// What a later version began to replace, or a journal that the disk damaged, is not thrown away.
#[test]
fn fault_34_what_lies_beside_a_journal_that_cannot_be_read_is_kept() {
    for journal in [&b"WINKJNL\x04 of a later version"[..], b"damaged"] {
        let scene = Scene::new();
        let left = scene.beside(RESERVED_NAME).join("1-2-3-4");
        std::fs::create_dir_all(&left).unwrap();
        std::fs::write(left.join("journal"), journal).unwrap();
        std::fs::write(left.join("7"), "the only copy").unwrap();
        scene.open().write("a", "x").unwrap();
        assert_eq!(names(&left), ["7", "journal"]);
        assert_eq!(names(&scene.root("")), ["a"]);
    }
}

#[test]
fn content_staged_in_one_backend_can_be_put_into_another() {
    let (from, to) = (Scene::new(), Scene::new());
    let mut staging = from.open().stage().unwrap();
    staging.write_all(b"carried").unwrap();
    let mut staged = staging.finish().unwrap();
    let files = to.open();
    files.put("a", &mut staged, &PutOptions::default()).unwrap();
    assert_eq!(files.read("a").unwrap().content, "carried");
}

#[test]
fn a_staging_directory_that_is_open_to_others_is_closed_to_them() {
    let scene = Scene::new();
    std::fs::create_dir(scene.beside(RESERVED_NAME)).unwrap();
    std::fs::set_permissions(scene.beside(RESERVED_NAME), PermissionsExt::from_mode(0o755))
        .unwrap();
    let files = scene.open();
    files.write("a", "").unwrap();
    let staging = std::fs::metadata(scene.beside(RESERVED_NAME)).unwrap();
    assert_eq!(staging.mode() & 0o777, 0o700);
}

/// A person tidies up while the workspace is open; once, that made every later write NotFound.
#[test]
fn a_staging_directory_that_is_removed_meanwhile_is_made_again() {
    let scene = Scene::new();
    let files = scene.open();
    files.write("a", "1").unwrap();
    let mut staged = files.stage().unwrap().finish().unwrap();
    std::fs::remove_dir_all(scene.beside(RESERVED_NAME)).unwrap();
    files.write("a", "2").unwrap();
    let expected = WriteOptions::default().expected(ContentHash::of(b"2"));
    files.write_with("a", "3", &expected).unwrap();
    assert_eq!(files.read("a").unwrap().content, "3");
    files.put("b", &mut staged, &PutOptions::default()).unwrap();
    files.delete_all("a").unwrap();
}

/// Without this, content put once with a condition wrote the file it had replaced the second time.
#[test]
fn content_can_be_put_twice_after_an_exchange() {
    let scene = Scene::new();
    let files = scene.open();
    files.write("a", "old").unwrap();
    let mut staging = files.stage().unwrap();
    staging.write_all(b"new").unwrap();
    let mut staged = staging.finish().unwrap();
    let unchanged = wink_fs::PutCondition::Unchanged(ContentHash::of(b"old"));
    files.put("a", &mut staged, &PutOptions::default().condition(unchanged)).unwrap();
    files.put("b", &mut staged, &PutOptions::default()).unwrap();
    files.put("b", &mut staged, &PutOptions::default()).unwrap();
    assert_eq!(
        (files.read("a").unwrap().content, files.read("b").unwrap().content),
        ("new".into(), "new".into())
    );
}

#[test]
#[ignore = "needs root"]
fn a_staging_directory_of_another_user_is_not_used() {
    let scene = Scene::new();
    std::fs::create_dir(scene.beside(RESERVED_NAME)).unwrap();
    std::os::unix::fs::chown(scene.beside(RESERVED_NAME), Some(1234), None)
        .expect("chown needs root");
    let files = scene.open();
    files.write("a", "x").unwrap();
    assert_eq!(names(&scene.beside(RESERVED_NAME)), [""; 0]);
    assert_eq!(names(&scene.root("")), [RESERVED_NAME, "a"]);
    assert_eq!(files.list("").unwrap().len(), 1, "the reserved name is not shown");
    for path in [RESERVED_NAME, &format!("{RESERVED_NAME}/x")] {
        assert_eq!(files.read(path).unwrap_err().kind(), ErrorKind::InvalidPath);
        assert_eq!(files.write(path, "").unwrap_err().kind(), ErrorKind::InvalidPath);
    }
    drop(files);
    assert_eq!(names(&scene.root("")), ["a"]);
}

#[test]
fn a_link_planted_under_the_reserved_name_is_not_followed() {
    let scene = Scene::new();
    std::fs::create_dir(scene.beside("outside")).unwrap();
    for place in [scene.beside(RESERVED_NAME), scene.root(RESERVED_NAME)] {
        std::os::unix::fs::symlink(scene.beside("outside"), &place).unwrap();
    }
    let files = scene.open();
    files.write("a", "x").unwrap();
    assert_eq!(names(&scene.beside("outside")), [""; 0]);
    let listed: Vec<_> = files.list("").unwrap().iter().map(|it| it.path.to_string()).collect();
    assert_eq!(listed, [".wink-staging.1", "a"], "the link has another name");
    assert_eq!(std::fs::read_link(scene.root(".wink-staging.1")).unwrap(), scene.beside("outside"));
    assert_eq!(std::fs::read_link(scene.beside(RESERVED_NAME)).unwrap(), scene.beside("outside"));
}

/// Once the first call that wrote deleted it.
#[test]
fn a_file_of_the_user_under_the_reserved_name_stays() {
    let scene = Scene::new();
    let mine = |place: &Path| std::fs::read_to_string(place).unwrap();
    std::fs::write(scene.beside(RESERVED_NAME), "mine").unwrap();
    let files = scene.open();
    files.write("a", "x").unwrap();
    files.delete("a").unwrap();
    drop(files);
    assert_eq!(mine(&scene.beside(RESERVED_NAME)), "mine");

    std::fs::write(scene.root(".wink-staging.1"), "another").unwrap();
    std::fs::write(scene.root(RESERVED_NAME), "mine too").unwrap();
    let files = scene.open();
    files.write("a", "x").unwrap();
    assert_eq!(files.read(".wink-staging.2").unwrap().content, "mine too");
    assert_eq!(files.read(".wink-staging.1").unwrap().content, "another");
    assert_eq!(mine(&scene.beside(RESERVED_NAME)), "mine");
}

// --- mounts --------------------------------------------------------------------------------------

/// A file system mounted for one test.
struct Mounted(PathBuf);

impl Mounted {
    fn tmpfs(at: PathBuf, options: &std::ffi::CStr) -> Self {
        rustix::mount::mount("tmpfs", &at, "tmpfs", MountFlags::empty(), options)
            .expect("mounting needs root");
        Self(at)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, UnmountFlags::DETACH);
    }
}

#[test]
#[ignore = "needs root"]
fn a_root_that_is_a_mount_of_its_own_stages_within_it() {
    let scene = Scene::new();
    let _mounted = Mounted::tmpfs(scene.root(""), c"");
    let files = scene.open();
    files.write("a/b", "x").unwrap();
    files.write("a/b", "y").unwrap();
    files.delete_all("a").unwrap();
    assert_eq!(files.list("").unwrap(), []);
    assert_eq!(names(&scene.root("")), [RESERVED_NAME]);
    assert_eq!(names(scene.0.path()), ["root"], "nothing stays beside the root");
    drop(files);
    assert_eq!(names(&scene.root("")), [""; 0]);
}

#[test]
#[ignore = "needs root"]
fn another_file_system_in_the_workspace_is_not_entered_and_not_deleted() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.root("tree/mounted")).unwrap();
    let _mounted = Mounted::tmpfs(scene.root("tree/mounted"), c"");
    std::fs::write(scene.root("tree/mounted/kept"), "kept").unwrap();
    let files = scene.open();
    for error in [
        files.read("tree/mounted/kept").unwrap_err(),
        files.write("tree/mounted/new", "").unwrap_err(),
        files.list("tree/mounted").unwrap_err(),
        files.delete_all("tree").unwrap_err(),
        files.delete_all("tree/mounted").unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        assert!(!error.to_string().contains(scene.0.path().to_str().unwrap()), "{error}");
    }
    assert_eq!(std::fs::read_to_string(scene.root("tree/mounted/kept")).unwrap(), "kept");
}

#[test]
#[ignore = "needs root"]
fn a_full_disk_is_no_space_and_changes_nothing() {
    let scene = Scene::new();
    let _mounted = Mounted::tmpfs(scene.root(""), c"size=1m");
    let files = scene.open();
    files.write("a", "old").unwrap();
    let big = vec![b'x'; 4 << 20];
    for result in [
        files.write_bytes("a", big.clone()),
        files.write_bytes("new/b", big.clone()),
        files.write_bytes_with("a", big, &append()),
    ] {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::NoSpace);
    }
    assert_eq!(files.read("a").unwrap().content, "old");
    assert_eq!(files.list("").unwrap().len(), 1);
    files.write("b", "there is space again").unwrap();
}

#[test]
#[ignore = "needs root"]
fn exhausted_inodes_are_no_space_and_change_nothing() {
    let scene = Scene::new();
    let _mounted = Mounted::tmpfs(scene.root(""), c"nr_inodes=8");
    let files = scene.open();
    let error = (0..8).find_map(|n| files.write(&n.to_string(), "").err()).unwrap();
    assert_eq!(error.kind(), ErrorKind::NoSpace);
}

#[test]
#[ignore = "needs root"]
fn a_read_only_disk_is_read_only() {
    let scene = Scene::new();
    let _mounted = Mounted::tmpfs(scene.root(""), c"");
    std::fs::write(scene.root("a"), "old").unwrap();
    rustix::mount::mount_remount(scene.root(""), MountFlags::RDONLY, c"").unwrap();
    let files = scene.open();
    assert_eq!(files.write("a", "new").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(files.delete("a").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(files.mkdir("b").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(files.read("a").unwrap().content, "old");
}

fn bind(from: &Path, to: PathBuf) -> Mounted {
    rustix::mount::mount_bind(from, &to).expect("mounting needs root");
    Mounted(to)
}

/// The component walk once told mounts apart by device, and emptied a bind-mounted directory.
#[test]
#[ignore = "needs root"]
fn a_bind_mount_in_the_workspace_is_not_entered_by_either_resolution() {
    for walk in [false, true] {
        let scene = Scene::new();
        std::fs::create_dir_all(scene.root("tree/mounted")).unwrap();
        std::fs::create_dir(scene.beside("outside")).unwrap();
        std::fs::write(scene.beside("outside/kept"), "kept").unwrap();
        let _mounted = bind(&scene.beside("outside"), scene.root("tree/mounted"));
        let options = wink_fs::HostOptions::default().component_walk(walk);
        let backend = HostBackend::open_ambient_with(scene.root(""), &options).unwrap();
        let files = Workspace::builder(backend).build();
        for error in [
            files.read("tree/mounted/kept").unwrap_err(),
            files.delete("tree/mounted/kept").unwrap_err(),
            files.delete_all("tree").unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        }
        assert_eq!(names(&scene.beside("outside")), ["kept"]);
    }
}

/// One file that may not be looked at once made the listing of its whole directory fail.
#[test]
#[ignore = "needs root"]
fn a_directory_with_a_bind_mounted_file_is_listed() {
    let scene = Scene::new();
    for path in [scene.root("mounted"), scene.root("plain"), scene.beside("outside")] {
        std::fs::write(path, "x").unwrap();
    }
    let _mounted = bind(&scene.beside("outside"), scene.root("mounted"));
    let listed = scene.open().list_with("", &wink_fs::ListOptions::default().sizes(true)).unwrap();
    let sizes: Vec<_> = listed.iter().map(|entry| entry.size_bytes).collect();
    assert_eq!(sizes, [None, Some(1)]);
}

// --- what a replacement keeps --------------------------------------------------------------------

#[test]
#[ignore = "needs root"]
fn replacing_keeps_mode_and_owner_and_drops_set_user_id() {
    let scene = Scene::new();
    std::fs::write(scene.root("a"), "old").unwrap();
    std::os::unix::fs::chown(scene.root("a"), Some(1234), Some(5678)).expect("chown needs root");
    std::fs::set_permissions(scene.root("a"), PermissionsExt::from_mode(0o4751)).unwrap();
    let files = scene.open();
    let hash = ContentHash::of(b"old");
    files.write_with("a", "new", &WriteOptions::default().expected(hash)).unwrap();
    files.write("a", "newer").unwrap();
    files.write_with("a", "!", &append()).unwrap();
    let after = std::fs::metadata(scene.root("a")).unwrap();
    assert_eq!((after.uid(), after.gid(), after.mode() & 0o7777), (1234, 5678, 0o751));
}

#[test]
fn a_mode_that_is_asked_for_changes_only_what_it_says() {
    let scene = Scene::new();
    std::fs::write(scene.root("a"), "old").unwrap();
    std::fs::set_permissions(scene.root("a"), PermissionsExt::from_mode(0o640)).unwrap();
    let files = scene.open();
    let script = FileMode::default().executable(true);
    let mode = || std::fs::metadata(scene.root("a")).unwrap().mode() & 0o777;
    files.write_with("a", "new", &WriteOptions::default().file_mode(script.private(true))).unwrap();
    assert_eq!(mode(), 0o750);
    files.set_mode("a", script).unwrap();
    assert_eq!(mode(), 0o755);
    files.set_mode("a", script.private(true)).unwrap();
    assert_eq!(mode(), 0o700);
    files.write_with("new", "", &WriteOptions::default().file_mode(script)).unwrap();
    assert!(files.stat("new").unwrap().mode.executable);
}

#[test]
fn renaming_one_hard_link_over_another_removes_the_first() {
    let scene = Scene::new();
    std::fs::write(scene.root("a"), "one file").unwrap();
    std::fs::hard_link(scene.root("a"), scene.root("b")).unwrap();
    let files = scene.open();
    let replace = wink_fs::MoveOptions::default().replace(true);
    files.rename_with("a", "b", &replace).unwrap();
    assert_eq!(names(&scene.root("")), ["b"]);
    files.rename_with("b", "b", &replace).unwrap();
    assert_eq!(files.read("b").unwrap().content, "one file");
}

// --- conflicts with other processes --------------------------------------------------------------

/// Runs something else as often as it can while `work` runs.
fn meanwhile(other: impl Fn(&AtomicBool) + Send + Sync, work: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                other(&stop);
            }
        });
        work();
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn an_expected_hash_never_overwrites_what_another_process_put_there() {
    let scene = Scene::new();
    let files = scene.open();
    files.write("a", "ours 0").unwrap();
    let read = Mutex::new(BTreeSet::new());
    let done = Mutex::new(BTreeSet::from(["ours 0".to_owned()]));
    let count = AtomicUsize::new(0);
    let lost = AtomicUsize::new(0);
    // Another process replaces the file and waits until a write of ours that went well replaces that.
    // (One that is refused may show for a moment, until its exchange is undone.)
    let replace = |stop: &AtomicBool| {
        let content = format!("theirs {}", count.fetch_add(1, Ordering::Relaxed));
        std::fs::write(scene.beside("foreign"), &content).unwrap();
        std::fs::rename(scene.beside("foreign"), scene.root("a")).unwrap();
        while !done.lock().unwrap().contains(&std::fs::read_to_string(scene.root("a")).unwrap()) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
        }
        if !read.lock().unwrap().contains(&content) {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut conflicts = 0;
    meanwhile(replace, || {
        let began = std::time::Instant::now();
        for number in 1.. {
            // On a busy machine the two seldom run at the same time.
            let is_raced = conflicts > 0 || began.elapsed().as_secs() >= 60;
            if number > size(1_500, 5_000) && is_raced {
                break;
            }
            let current = files.read("a").unwrap().content;
            let options = WriteOptions::default().expected(ContentHash::of(current.as_bytes()));
            read.lock().unwrap().insert(current);
            let ours = format!("ours {number}");
            match files.write_with("a", &ours, &options) {
                Ok(_) => drop(done.lock().unwrap().insert(ours)),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
                    conflicts += 1;
                }
            }
        }
    });
    assert!(conflicts > 0, "there was no race");
    assert_eq!(lost.into_inner(), 0, "overwritten without having been read");
}

#[test]
fn parallel_appends_from_several_handles_lose_nothing() {
    let scene = Scene::new();
    let handles: Vec<_> = (0..4).map(|_| scene.open()).collect();
    std::thread::scope(|scope| {
        for files in &handles {
            scope.spawn(move || {
                for _ in 0..50 {
                    while files.write_with("log", "x\n", &append()).is_err() {}
                }
            });
        }
    });
    assert_eq!(handles[0].read("log").unwrap().total_lines, 200);
}

/// Once, the hash was computed by a second read, and was that of content which the caller had not seen.
#[test]
fn the_hash_of_a_page_is_of_the_bytes_it_was_cut_from() {
    let scene = Scene::new();
    std::fs::write(scene.root("log"), "start\n").unwrap();
    let files = scene.open();
    let log = std::fs::OpenOptions::new().append(true).open(scene.root("log")).unwrap();
    let options = wink_fs::ReadOptions::default().limit(wink_fs::PageLimit::All).hash(true);
    let append = |_: &AtomicBool| {
        (&log).write_all(b"line\n").unwrap();
        std::thread::sleep(std::time::Duration::from_micros(20));
    };
    meanwhile(append, || {
        for _ in 0..1_000 {
            let page = files.read_with("log", &options).unwrap();
            assert_eq!(page.content_hash, Some(ContentHash::of(page.content.as_bytes())));
        }
    });
}

/// A copy that failed once took away what others had put into it meanwhile.
#[test]
fn a_copy_that_fails_leaves_what_others_put_there() {
    let scene = Scene::new();
    let (files, other) = (scene.open(), scene.open());
    for n in 0..1_000 {
        files.write(&format!("from/{n:05}"), "x").unwrap();
    }
    let copied = std::thread::scope(|scope| {
        let copying = scope.spawn(|| files.copy("from", "to"));
        while !other.is_dir("to") {
            std::hint::spin_loop();
        }
        other.write("to/others-work", "precious").unwrap();
        other.delete("from/00999").unwrap();
        copying.join().unwrap()
    });
    assert!(copied.is_err(), "the last file was gone before its turn");
    assert_eq!(names(&scene.root("to")), ["others-work"]);
}

/// Reading a FIFO once opened it, which let its writer go on and die of it.
#[test]
fn a_read_that_is_refused_does_not_wake_the_writer_of_a_fifo() {
    let scene = Scene::new();
    let fifo = scene.root("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    let mut writer =
        Command::new("sh").args(["-c", "echo important > \"$0\""]).arg(&fifo).spawn().unwrap();
    let files = scene.open();
    for _ in 0..200 {
        assert_eq!(files.read("fifo").unwrap_err().kind(), ErrorKind::SpecialFile);
        assert_eq!(writer.try_wait().unwrap(), None, "the writer still waits for its reader");
    }
    assert_eq!(std::fs::read_to_string(&fifo).unwrap(), "important\n");
    assert!(writer.wait().unwrap().success());
}

// --- file systems that cannot do everything ------------------------------------------------------

/// Runs a test of this program again under strace, with faults, and returns what strace wrote.
fn again_under_strace(test: &str, arguments: &[&str]) -> String {
    let log = tempfile::NamedTempFile::new().unwrap();
    let traced = Command::new("strace")
        .args(["-f", "-o"])
        .arg(log.path())
        .args(arguments)
        .args(again::only(module_path!(), test))
        .env("WINK_TRACED", "1")
        .output()
        .unwrap();
    assert!(traced.status.success(), "{}", String::from_utf8_lossy(&traced.stdout));
    std::fs::read_to_string(log.path()).unwrap()
}

fn is_traced() -> bool {
    std::env::var_os("WINK_TRACED").is_some()
}

#[test]
#[ignore = "needs strace"]
fn a_file_is_made_where_a_rename_knows_no_flags() {
    if is_traced() {
        let scene = Scene::new();
        let files = scene.open();
        assert!(files.write("a", "x").unwrap().created);
        assert_eq!(files.read("a").unwrap().content, "x");
        return;
    }
    let test = "a_file_is_made_where_a_rename_knows_no_flags";
    // The first rename is the check of the staging directory.
    let calls = again_under_strace(
        test,
        &["-e", "inject=renameat2:error=EINVAL:when=2+", "-e", "trace=renameat2,linkat"],
    );
    assert!(calls.contains("linkat("), "{calls}");
}

// --- durability ----------------------------------------------------------------------------------

#[test]
#[ignore = "needs strace"]
fn a_synced_write_syncs_the_file_before_and_its_directories_after_the_rename() {
    if is_traced() {
        let scene = Scene::new();
        let synced = WriteOptions::default().durability(Durability::Synced);
        let written = scene.open().write_with("d/synced-file", "x", &synced).unwrap();
        assert_eq!(written.durability, Durability::Synced);
        return;
    }
    let test = "a_synced_write_syncs_the_file_before_and_its_directories_after_the_rename";
    let calls = again_under_strace(test, &["-e", "trace=fsync,renameat2"]);
    let calls: Vec<_> = calls
        .lines()
        .filter(|line| line.contains("fsync(") || line.contains("synced-file"))
        .map(|line| line.contains("fsync("))
        .collect();
    assert_eq!(calls, [true, false, true, true], "fsync, rename, fsync of d, fsync of the root");
}

#[test]
fn an_ordinary_write_is_atomic_and_says_so() {
    let scene = Scene::new();
    assert_eq!(scene.open().write("a", "").unwrap().durability, Durability::Atomic);
}

// --- bounds --------------------------------------------------------------------------------------

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn thousands_of_operations_leak_no_file() {
    // In a process of its own, because the other tests of this one open files too.
    if !is_traced() {
        let [program, arguments @ ..] =
            again::only(module_path!(), "thousands_of_operations_leak_no_file");
        let output =
            Command::new(program).args(arguments).env("WINK_TRACED", "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let scene = Scene::new();
    let files = scene.open();
    let round = |n: usize| {
        let name = format!("d/{}", n % 10);
        files.write(&name, "x").unwrap();
        files.read(&name).unwrap();
        files.list("d").unwrap();
        files.read("missing").unwrap_err();
        files.write("d", "").unwrap_err();
        files.copy("d", "e").unwrap();
        files.delete_all("e").unwrap();
    };
    round(0);
    let before = open_files();
    (0..size(500, 1_500)).for_each(round);
    assert_eq!(open_files(), before);
}

#[test]
fn a_very_deep_tree_is_listed_and_deleted() {
    let scene = Scene::new();
    let files = scene.open();
    let deep = "d/".repeat(2_000);
    files.mkdir(&deep).unwrap();
    assert!(files.is_dir(&deep));
    let removed = files.delete_all("d").unwrap();
    assert_eq!(removed.directories, 2_000);
    assert_eq!(names(&scene.root("")), [""; 0]);
}

#[test]
fn a_temporary_workspace_goes_with_its_last_handle() {
    let backend = HostBackend::temporary().unwrap();
    let root = PathBuf::from(&wink_fs::Filesystem::properties(&backend).root);
    let files = Workspace::builder(backend).build();
    files.write("a", "kept as long as it is open").unwrap();
    let content: Content = files.open("a").unwrap();
    let view = files.tree();
    drop(files);
    assert!(root.exists());
    drop(view);
    assert!(!root.parent().unwrap().exists());
    assert_eq!(&content.read_all().unwrap()[..], b"kept as long as it is open");
}

#[test]
fn a_root_that_cannot_be_opened_is_refused_without_its_path() {
    let scene = Scene::new();
    std::fs::write(scene.root("file"), "").unwrap();
    for (root, kind) in [("nothing", ErrorKind::NotFound), ("file", ErrorKind::NotADirectory)] {
        let error = Workspace::host(scene.root(root)).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(!error.to_string().contains(scene.0.path().to_str().unwrap()), "{error}");
    }
}

#[test]
#[ignore = "needs root"]
fn what_is_made_belongs_to_the_owner_that_was_set() {
    let scene = Scene::new();
    let options = HostOptions::default().owner(4321, 4322).kind(BackendKind::Other("test"));
    let backend = HostBackend::open_ambient_with(scene.root(""), &options).unwrap();
    let files = Workspace::builder(backend).build();
    assert_eq!(files.properties().backend.as_str(), "test");
    let other = Workspace::memory();
    other.write("from/elsewhere.txt", "x").unwrap();
    other.symlink("from/link", b"elsewhere.txt").unwrap();
    let archive = scene.beside("other.zip");
    other.export_archive(&archive).unwrap();
    files.import_archive(&archive).unwrap();
    files.mkdir("made/deep").unwrap();
    files.write("made/file", "x").unwrap();
    files.write("made/file", "replaced").unwrap();
    files.symlink("made/link", b"file").unwrap();
    files.copy("made", "copied").unwrap();
    for name in [
        "from",
        "from/elsewhere.txt",
        "from/link",
        "made",
        "made/deep",
        "made/file",
        "made/link",
        "copied",
        "copied/deep",
        "copied/file",
        "copied/link",
    ] {
        let found = std::fs::symlink_metadata(scene.root(name)).unwrap();
        assert_eq!((found.uid(), found.gid()), (4321, 4322), "{name}");
    }
}
