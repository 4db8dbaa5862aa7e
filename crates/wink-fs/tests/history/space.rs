//! A disk on which there is no room left for what comes back.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use wink_fs::{
    ErrorKind, Filesystem, OperationCause, Recursion, Replacement, Result, Store, TreePath, Undone,
    Workspace,
};

use crate::history::scene::{Scene, lines, rewrite};

/// A small file system of its own, unmounted in the end.
struct Small(TempDir);

impl Small {
    fn new(options: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let options = std::ffi::CString::new(options).unwrap();
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("tmpfs", place.path(), "tmpfs", flags, &*options)
            .expect("mounting needs root");
        fs::create_dir(place.path().join("root")).unwrap();
        Self(place)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0.path(), rustix::mount::UnmountFlags::DETACH);
    }
}

/// Fills a file system while something large wants to come back, and checks that nothing happens.
fn check_no_space(
    small: &Small,
    fill: impl Fn(usize) -> bool,
    come_back: impl Fn(&Workspace, &Path) -> Result<()>,
) -> String {
    let scene = Scene::host();
    let archive = scene.path("archive.fs.zip");
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let files = Workspace::host_with_store(small.0.path().join("root"), store).unwrap();
    for file in 0..20 {
        files.write_bytes(&format!("many/{file}"), vec![file; 20_000]).unwrap();
    }
    files.snapshot("before").unwrap();
    files.export_archive(&archive).unwrap();
    files.delete_all("many").unwrap();
    files.write("now", "kept").unwrap();
    let filled = (0..100_000).take_while(|round| fill(*round)).count();
    let before = lines(&files);
    let error = come_back(&files, &archive).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}");
    assert_eq!(lines(&files), before);
    drop(files);
    (0..filled).for_each(|round| drop(fs::remove_file(small.0.path().join(round.to_string()))));
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let files = Workspace::host_with_store(small.0.path().join("root"), store).unwrap();
    assert_eq!(lines(&files), before);
    come_back(&files, &archive).unwrap();
    assert_eq!(files.list("many").unwrap().len(), 20);
    error.to_string()
}

fn restore(files: &Workspace, _: &Path) -> Result<()> {
    files.restore("before").map(drop)
}

fn import(files: &Workspace, archive: &Path) -> Result<()> {
    files.import_archive(archive).map(drop)
}

impl Small {
    fn fill_blocks(&self, round: usize) -> bool {
        fs::write(self.0.path().join(round.to_string()), vec![0; 4096]).is_ok()
    }

    fn fill_inodes(&self, round: usize) -> bool {
        fs::write(self.0.path().join(round.to_string()), "").is_ok()
    }
}

#[test]
#[ignore = "needs root"]
fn fault_09_a_full_disk_stops_a_restore_before_anything_changes() {
    let small = Small::new("size=1m");
    check_no_space(&small, |round| small.fill_blocks(round), restore);
}

#[test]
#[ignore = "needs root"]
fn fault_09_a_full_disk_stops_an_import_before_anything_changes() {
    let small = Small::new("size=1m");
    check_no_space(&small, |round| small.fill_blocks(round), import);
}

#[test]
#[ignore = "needs root"]
fn fault_10_used_up_inodes_stop_a_restore_before_anything_changes() {
    let small = Small::new("size=16m,nr_inodes=60");
    let said = check_no_space(&small, |round| small.fill_inodes(round), restore);
    assert!(said.contains("inode"), "{said}");
}

#[test]
#[ignore = "needs root"]
fn fault_10_used_up_inodes_stop_an_import_before_anything_changes() {
    let small = Small::new("size=16m,nr_inodes=60");
    let said = check_no_space(&small, |round| small.fill_inodes(round), import);
    assert!(said.contains("inode"), "{said}");
}

/// Once, it was only said that there is no space, and the disk of the files had plenty.
#[test]
#[ignore = "needs root"]
fn fault_08_where_the_disk_of_the_history_is_full_it_is_named() {
    let (scene, small) = (Scene::host(), Small::new("size=1m"));
    let store = Store::create_ambient(small.0.path().join("store")).unwrap();
    let files = Workspace::host_with_store(scene.path("root"), store).unwrap();
    files.write("a", "one").unwrap();
    let filled = (0..100_000).take_while(|round| small.fill_blocks(*round)).count();
    let error = files.write("a", "two").unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::NoSpace, Some("a")));
    assert!(error.to_string().contains("on the disk of the history"), "{error}");
    let error = files.undo().unwrap_err();
    assert!(error.to_string().contains("on the disk of the history"), "{error}");
    assert_eq!(files.read("a").unwrap().content, "one");
    (0..filled).for_each(|round| drop(fs::remove_file(small.0.path().join(round.to_string()))));
    files.undo().unwrap();
    assert!(!files.exists("a"));
}

/// Changes one path by several steps, and others by one.
fn patch(files: &Workspace) {
    let path = |text: &str| TreePath::parse(text).unwrap();
    let work = |fs: &mut dyn Filesystem| {
        rewrite(fs, "a", &"patched ".repeat(2000))?;
        fs.create_dir(&path("moved"))?;
        fs.rename(&path("d/m"), &path("moved/m"), Replacement::Refuse)?;
        rewrite(fs, "moved/m", "patched")?;
        fs.remove(&path("d/x"), Recursion::OnlyEmpty).map(drop)?;
        rewrite(fs, "n/new", "patched")
    };
    files.as_agent("patch", work).unwrap();
}

/// Once, the rollback began again when it could not be recorded, took the paths that it had restored for the work of
/// another program, and kept an operation that the next undo was refused for.
#[test]
#[ignore = "needs root"]
fn fault_08_an_undo_or_redo_without_space_leaves_the_operations_as_they_were() {
    let mut failed = 0;
    for pages in 0..24 {
        for is_redo in [false, true] {
            let scene = Scene::host();
            let small = Small::new("size=1m");
            let store = Store::create_ambient(small.0.path().join("store")).unwrap();
            let files = Workspace::host_with_store(scene.path("root"), store).unwrap();
            for (path, content) in [("a", "a "), ("d/m", "m"), ("d/x", "x ")] {
                files.write(path, &content.repeat(5000)).unwrap();
            }
            let original = lines(&files);
            patch(&files);
            let patched = lines(&files);
            let (from, to) = if is_redo { (&original, &patched) } else { (&patched, &original) };
            let go: fn(&Workspace) -> Result<Undone> =
                if is_redo { Workspace::redo } else { Workspace::undo };
            if is_redo {
                files.undo().unwrap();
            }
            let operations = files.operations().unwrap();
            let filled = (0..100_000).take_while(|round| small.fill_blocks(*round)).count();
            let free = |round: usize| drop(fs::remove_file(small.0.path().join(round.to_string())));
            (0..pages).for_each(free);
            let done = go(&files);
            (pages..filled).for_each(free);
            if done.is_err() {
                failed += 1;
                assert_eq!(lines(&files), *from, "{pages} pages left");
                let mut now = files.operations().unwrap();
                now.retain(|it| it.cause != OperationCause::Recovery);
                assert_eq!(now, operations, "{pages} pages left");
                go(&files).unwrap();
            }
            assert_eq!(lines(&files), *to, "{pages} pages left");
        }
    }
    assert!(failed > 10, "{failed} failed");
}
