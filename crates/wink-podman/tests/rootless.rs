//! The same as a user without root.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::common::{BUSYBOX, Scene, stdout};

/// Says where the files are if the test plays the part of a user without root.
const USER: &str = "WINK_TEST_ROOTLESS";

/// Debian has this user, without a range of further ids.
const NOBODY: u32 = 65534;

/// Runs a test of this file as another user, and returns what it printed.
fn as_user(test: &str) {
    // Not below root's home, and with room for a socket's name in the path.
    let home = tempfile::Builder::new().prefix("wink-rootless-").tempdir_in("/tmp").unwrap();
    let program = home.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let runtime = home.path().join("run");
    fs::create_dir(&runtime).unwrap();
    for path in [home.path(), &runtime] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let own = format!("--reuid={NOBODY}");
    let ran = Command::new("setpriv")
        .args([&own, &format!("--regid={NOBODY}"), "--clear-groups", "--"])
        .arg(&program)
        .args(["--exact", test, "--include-ignored", "--test-threads=1"])
        .current_dir(home.path())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .env("XDG_RUNTIME_DIR", &runtime)
        .env(USER, home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    let cleaned = Command::new("setpriv")
        .args([&own, &format!("--regid={NOBODY}"), "--clear-groups", "--"])
        .args(["podman", "system", "reset", "--force"])
        .current_dir(home.path())
        .env("HOME", home.path())
        .env("XDG_RUNTIME_DIR", &runtime)
        .output();
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    assert!(cleaned.unwrap().status.success());
}

/// Returns the directory of the files, as that user.
fn place() -> Option<PathBuf> {
    let place = PathBuf::from(std::env::var_os(USER)?).join("place");
    fs::create_dir_all(&place).unwrap();
    Some(place)
}

fn scene(place: &Path) -> Scene {
    Scene::in_place(place, BUSYBOX, |options| {
        options.max_processes(100).without_limits(!has_limits())
    })
}

fn has_limits() -> bool {
    Path::new("/sys/fs/cgroup/cgroup.controllers").exists()
}

#[test]
#[ignore = "needs root and Podman"]
fn without_root_both_sides_can_replace_what_the_other_wrote() {
    let Some(place) = place() else {
        return as_user("rootless::without_root_both_sides_can_replace_what_the_other_wrote");
    };
    let scene = scene(&place);
    scene.files.write("src/by-wink", "by wink").unwrap();
    let result = scene.run(
        "id -u; cat src/by-wink; echo changed > src/by-wink; mkdir d; echo x > d/made; chmod 700 d",
    );
    assert_eq!(stdout(&result), "0\nby wink");
    assert!(result.message.contains("A d\n"), "{}", result.message);
    assert_eq!(fs::metadata(scene.root.join("d/made")).unwrap().uid(), NOBODY);
    scene.files.write("d/made", "replaced").unwrap();
    assert_eq!(stdout(&scene.run("cat d/made; rm -r src")), "replaced");
    scene.files.undo().unwrap();
    assert_eq!(scene.files.read("src/by-wink").unwrap().content, "changed\n");
}

#[test]
#[ignore = "needs root and Podman"]
fn without_root_commands_end_at_the_deadline_and_bombs_are_bounded() {
    let Some(place) = place() else {
        return as_user(
            "rootless::without_root_commands_end_at_the_deadline_and_bombs_are_bounded",
        );
    };
    let scene = scene(&place);
    for command in [
        "trap '' TERM; (setsid sleep 1000 &); sleep 1000",
        "b() { sleep 1000 & b & b & wait; }; b; sleep 1000",
    ] {
        let result = scene.call("shell_execute", json!({"command": command, "timeout": 2}));
        assert!(result.message.starts_with("Timed out"), "{}", result.message);
        assert_eq!(scene.processes().len(), 1, "only the supervisor");
    }
    assert_eq!(stdout(&scene.run("echo works")), "works");
    scene.run("touch s; chmod 4755 s; chmod 2755 s; true");
    assert_eq!(fs::metadata(scene.root.join("s")).unwrap().mode() & 0o6000, 0);
}

#[test]
#[ignore = "needs root and Podman"]
fn without_root_limits_that_cannot_be_had_are_refused_unless_told_otherwise() {
    let Some(place) = place() else {
        return as_user(
            "rootless::without_root_limits_that_cannot_be_had_are_refused_unless_told_otherwise",
        );
    };
    let scene = Scene::in_place(&place, BUSYBOX, |options| options);
    let result = scene.call("shell_execute", json!({"command": "echo runs"}));
    if has_limits() {
        assert!(result.ok(), "{}", result.message);
    } else {
        assert_eq!(result.code(), Some("unsupported"), "{}", result.message);
        assert!(result.message.contains("cgroups version 2"), "{}", result.message);
    }
}
