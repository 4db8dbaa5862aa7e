//! What operations kept, where another program removed or changed it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;

use wink_fs::{
    ContentHash, Error, ErrorKind, Result, SnapshotStore as _, Store, TreePath, VerifyOptions,
    Workspace, WriteOptions, ops,
};

use crate::history::scene::{Scene, lines};

/// Fails unless an operation cannot be undone, done again or looked at, and nothing is changed by trying.
fn assert_refused(files: &Workspace, number: u64, try_it: impl FnOnce() -> Result<()>) {
    let before = lines(files);
    let error = try_it().unwrap_err();
    assert_corrupt(&error, number);
    assert_corrupt(&files.operation_trees(number).unwrap_err(), number);
    assert_eq!(lines(files), before);
}

fn assert_corrupt(error: &Error, number: u64) {
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains(&format!("what operation {number} kept")), "{error}");
}

fn problems(scene: &Scene, data: bool) -> Vec<String> {
    let store = Store::open_ambient(scene.path("store")).unwrap();
    let found = store.verify(&VerifyOptions::default().data(data)).unwrap();
    found.problems.into_iter().map(|it| it.what).collect()
}

/// Once, what was missing was taken for what had not been there, and the file was deleted.
#[test]
fn a_file_is_not_deleted_because_what_was_kept_of_it_is_missing() {
    let scene = Scene::host();
    fs::write(scene.path("root/a"), "by a person").unwrap();
    scene.files.write("a", "by a call").unwrap();
    assert!(problems(&scene, true).is_empty());
    fs::remove_file(scene.path("store/operations/1.0")).unwrap();
    for files in [&scene.files, &scene.open_again()] {
        assert_refused(files, 1, || files.undo().map(drop));
    }
    assert_eq!(fs::read_to_string(scene.path("root/a")).unwrap(), "by a call");
    let found = problems(&scene, false);
    assert!(
        found.len() == 1 && found[0].contains("`a`") && found[0].contains("missing"),
        "{found:?}"
    );

    let repaired = Store::open_ambient(scene.path("store")).unwrap().repair().unwrap();
    assert_eq!(repaired.quarantined, ["1.op.0"]);
    assert!(problems(&scene, true).is_empty());
    assert_eq!(scene.open_again().undo().unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_directory_does_not_stay_away_because_what_was_kept_of_it_is_missing() {
    let scene = Scene::host();
    scene.files.write("d/a", "one").unwrap();
    scene.files.delete_all("d").unwrap();
    fs::remove_dir_all(scene.path("store/operations/2.0")).unwrap();
    assert_refused(&scene.files, 2, || scene.files.undo().map(drop));
    assert!(problems(&scene, false).iter().any(|it| it.contains("`d`")));
}

#[test]
fn what_was_kept_and_is_something_else_is_not_brought_back() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    scene.files.write("a", "two").unwrap();
    fs::remove_file(scene.path("store/operations/2.0")).unwrap();
    fs::create_dir(scene.path("store/operations/2.0")).unwrap();
    assert_refused(&scene.files, 2, || scene.files.undo().map(drop));
    assert_eq!(problems(&scene, false).len(), 1);
}

#[test]
fn what_an_undo_kept_and_is_missing_is_not_done_again() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    scene.files.write("a", "two").unwrap();
    scene.files.undo().unwrap();
    fs::remove_file(scene.path("store/operations/3.0")).unwrap();
    assert_refused(&scene.files, 3, || scene.files.redo().map(drop));
}

/// Who replaces a file and says which content he means tells its hash.
fn replace(files: &Workspace, from: &str, to: &str) {
    let path = TreePath::parse("a").unwrap();
    let options = WriteOptions::default().expected(ContentHash::of(from.as_bytes()));
    files.as_agent("replace", |fs| ops::write(fs, &path, to, &options)).unwrap();
}

#[test]
fn a_flipped_bit_in_what_was_kept_is_noticed_where_its_hash_is_known() {
    let scene = Scene::host();
    scene.files.write("a", "one").unwrap();
    replace(&scene.files, "one", "two");
    let kept = scene.path("store/operations/2.0");
    let written = fs::metadata(&kept).unwrap().modified().unwrap();
    // One tick of the kernel's clock may hold the operation and this write, which nothing tells apart then.
    let recorded = fs::metadata(scene.path("store/operations/2.op")).unwrap().modified().unwrap();
    while fs::metadata(&kept).unwrap().modified().unwrap() <= recorded {
        fs::write(&kept, "onf").unwrap();
    }
    // A program wrote into it, as far as anybody can tell, which is no damage.
    assert!(problems(&scene, true).is_empty());
    assert_eq!(scene.files.undo().unwrap_err().kind(), ErrorKind::Conflict);
    File::options().write(true).open(&kept).unwrap().set_modified(written).unwrap();
    assert!(problems(&scene, false).is_empty());
    let found = problems(&scene, true);
    assert!(found.len() == 1 && found[0].contains("damaged"), "{found:?}");
    assert_corrupt(&scene.files.undo().unwrap_err(), 2);
    assert_eq!(scene.files.read("a").unwrap().content, "two");
}

/// Once, a write into a new directory linked everything beside it: 1.9 s beside 20,000 files, and all their times
/// changed.
#[test]
fn a_write_into_a_new_directory_touches_nothing_beside_it() {
    let scene = Scene::host();
    scene.files.mkdir("d/sub").unwrap();
    let siblings = ["root/d/one", "root/d/two", "root/d/sub/three"].map(|path| scene.path(path));
    siblings.iter().for_each(|path| fs::write(path, "beside").unwrap());
    let looks = || siblings.each_ref().map(|path| path.metadata().unwrap());
    let before = looks();
    scene.files.write("d/new/deep/file", "written").unwrap();
    scene.files.rename("d/new", "d/moved").unwrap();
    scene.files.delete_all("d/moved").unwrap();
    for (before, after) in before.iter().zip(looks()) {
        assert_eq!((after.nlink(), after.ctime_nsec()), (1, before.ctime_nsec()));
    }
}

/// Once, files that came into a directory while it moved vanished on undo, which said that all is as it was.
#[test]
fn files_that_came_into_a_directory_after_it_moved_stay_and_the_undo_says_so() {
    let scene = Scene::host();
    scene.files.write("d/a", "as it began").unwrap();
    scene.files.rename("d", "moved").unwrap();
    fs::write(scene.path("root/moved/person"), "work").unwrap();
    let refused = scene.files.undo().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert_eq!(fs::read_to_string(scene.path("root/moved/person")).unwrap(), "work");
    assert_eq!(fs::read_to_string(scene.path("root/moved/a")).unwrap(), "as it began");
    fs::remove_file(scene.path("root/moved/person")).unwrap();
    scene.files.undo().unwrap();
    assert_eq!(fs::read_to_string(scene.path("root/d/a")).unwrap(), "as it began");
}

/// Once, no snapshot could be taken after it, and status failed too.
#[test]
fn what_is_kept_may_have_longer_paths_than_any_file_of_the_workspace() {
    let scene = Scene::host();
    let deep = ["x".repeat(200).as_str(); 20].join("/");
    scene.files.mkdir(&format!("d/{deep}")).unwrap();
    scene.files.delete_all("d").unwrap();
    scene.files.usage().unwrap();
    scene.files.snapshot("after").unwrap();
    scene.files.undo().unwrap();
    assert!(scene.files.exists(&format!("d/{deep}")));
}
