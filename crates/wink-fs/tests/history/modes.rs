//! Undo of modes, those of directories among them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use wink_fs::ErrorKind;

use crate::history::scene::Scene;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Once, a directory that the user had made private stayed public after the undo of a restore.
#[test]
fn undo_of_a_restore_makes_a_directory_private_again() {
    let scene = Scene::host();
    let (files, root) = (&scene.files, scene.path("root"));
    for (tag, is_file_changed, directory) in
        [("one", false, "secrets"), ("two", true, "keys/inner")]
    {
        let place = root.join(directory);
        files.write(&format!("{directory}/key"), "one").unwrap();
        let public = mode(&place);
        let before = files.snapshot(tag).unwrap();
        set_mode(&place, 0o700);
        if is_file_changed {
            files.write(&format!("{directory}/key"), "two").unwrap();
        }
        files.restore(&before).unwrap();
        assert_eq!(mode(&place), public);
        assert_eq!(files.undo().unwrap().conflicts, []);
        assert_eq!(mode(&place), 0o700);
        files.redo().unwrap();
        assert_eq!(mode(&place), public);
        files.undo().unwrap();
        assert_eq!(mode(&place), 0o700);
    }
}

#[test]
fn undo_leaves_a_directory_alone_whose_mode_has_changed_since() {
    let scene = Scene::host();
    let (files, root) = (&scene.files, scene.path("root"));
    files.write("secrets/key", "one").unwrap();
    files.write("other", "one").unwrap();
    let before = files.snapshot("before").unwrap();
    set_mode(&root.join("secrets"), 0o700);
    files.write("other", "two").unwrap();
    files.restore(&before).unwrap();
    // Private again, so there is nothing to undo for it.
    set_mode(&root.join("secrets"), 0o700);
    assert_eq!(files.undo().unwrap().conflicts, []);
    assert_eq!(files.read("other").unwrap().content, "two");
    assert_eq!(mode(&root.join("secrets")), 0o700);
}

/// Once, only the content was compared, and undo gave the file its old mode.
#[test]
fn undo_of_a_write_leaves_a_file_alone_whose_mode_the_user_has_changed() {
    let scene = Scene::host();
    let (files, path) = (&scene.files, scene.path("root/run.sh"));
    files.write("run.sh", "one").unwrap();
    files.write("run.sh", "two").unwrap();
    set_mode(&path, 0o755);
    let error = files.undo().unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("run.sh")));
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("two", 0o755));
    set_mode(&path, 0o644);
    files.undo().unwrap();
    assert_eq!(files.read("run.sh").unwrap().content, "one");
}
