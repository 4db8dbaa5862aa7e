//! `wink fs`: files found and changed.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use crate::cli::scene::{Scene, stderr};

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("notes.txt", "one\ntwo\nthree\n");
    scene.write("src/main.rs", "fn main() {}\n");
    scene.ok(&["snapshot", "--tag", "one"]);
    scene
}

fn write(scene: &Scene, args: &[&str], content: &[u8]) -> Output {
    let args = [&["fs", "write"], args].concat();
    let mut command = scene.wink_in(&scene.path("project"), &args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that refuses reads nothing.
    let _ = child.stdin.take().unwrap().write_all(content);
    child.wait_with_output().unwrap()
}

#[test]
fn files_are_found_in_any_state() {
    let scene = scene();
    scene.write("src/new.rs", "// TWO\n");
    insta::assert_snapshot!(scene.transcript(&[
        &["fs", "glob", "*.rs"],
        &["fs", "glob", "*.rs", "--at", "one"],
        &["fs", "glob", "*.py"],
        &["fs", "glob", "a[b"],
        &["fs", "grep", "t(w|h)", "-n", "1"],
        &["fs", "grep", "two", "-i"],
        &["fs", "grep", "two", "-i", "--at", "one"],
        &["fs", "grep", "(", "-F", "--glob", "*.rs"],
        &["fs", "grep", "("],
        &["fs", "stat", "notes.txt", "--at", "one"],
        &["fs", "stat", "src", "--at", "one"],
        &["fs", "stat", "none"],
        &["fs", "grep", "--help"],
    ]));
}

/// What `fs ls` shows of a name that is not plain text was once another name, or none, for `fs cat`.
#[test]
fn every_name_that_is_listed_can_be_given_back() {
    let scene = Scene::new();
    let names = [&b"new\nline"[..], b"bad\xff\xfename", br"bad\xff\xfename", br"plain\x", b"tab\t"];
    for name in names.map(std::ffi::OsStr::from_bytes) {
        std::fs::write(scene.path("project").join(name), name.as_bytes()).unwrap();
    }
    let listed = scene.json(&["fs", "ls"]);
    for entry in listed["entries"].as_array().unwrap() {
        let text = entry["name"].as_str().unwrap();
        let read = scene.run(&["fs", "cat", text]).stdout;
        assert!(names.contains(&&*read), "{text}");
        assert_eq!(read.len(), entry["bytes"].as_u64().unwrap() as usize, "{text}");
        assert_eq!(scene.json(&["fs", "stat", text])["path"], text);
    }
    for name in names.map(std::ffi::OsStr::from_bytes) {
        let mut raw = scene.wink_in(&scene.path("project"), &["fs", "cat"]);
        let read = raw.arg(name).output().unwrap().stdout;
        // A name of backslashes that reads as the text of another one is written with an escape.
        let expected = if name.as_bytes() == names[2] { names[1] } else { name.as_bytes() };
        assert_eq!(read, expected, "{name:?}");
    }
}

#[test]
fn files_are_changed_and_every_change_is_undone() {
    let scene = scene();
    let mut text = scene.transcript(&[
        &["fs", "edit", "notes.txt", "two", "2"],
        &["fs", "edit", "notes.txt", "nowhere", ""],
        &["fs", "mkdir", "a/b"],
        &["fs", "mkdir", "a/b"],
        &["fs", "mv", "notes.txt", "a/b/notes.txt"],
        &["fs", "mv", "src/main.rs", "a/b/notes.txt"],
        &["fs", "rm", "a"],
        &["fs", "rm", "-r", "a", "src"],
        &["fs", "rm", "none"],
    ]);
    assert!(!scene.project("src").exists());
    scene.ok(&["undo", "4"]);
    assert_eq!(scene.read("notes.txt"), "one\ntwo\nthree\n");
    let written = write(&scene, &["deep/new.bin"], b"\x00\xff");
    scene.show(&mut text, &["fs", "write", "deep/new.bin"], &written);
    assert_eq!(std::fs::read(scene.project("deep/new.bin")).unwrap(), b"\x00\xff");
    insta::assert_snapshot!(scene.masked(text));
}

#[test]
fn a_write_says_what_it_may_replace() {
    let scene = scene();
    let code = |args: &[&str]| write(&scene, args, b"x").status.code();
    assert_eq!(code(&["notes.txt", "--new"]), Some(1));
    let hash = scene.json(&["fs", "stat", "notes.txt"])["hash"].as_str().unwrap().to_owned();
    assert_eq!(code(&["notes.txt", "--append", "--expected-hash", &hash]), Some(0));
    assert_eq!(scene.read("notes.txt"), "one\ntwo\nthree\nx");
    assert_eq!(code(&["notes.txt", "--expected-hash", &hash]), Some(13));
    assert_eq!(code(&["notes.txt", "--expected-hash", "1"]), Some(2));
    let outside = write(&scene, &["../outside"], b"x");
    assert_eq!(outside.status.code(), Some(1), "{}", stderr(&outside));
    assert!(!scene.path("outside").exists());
}

fn mode_of(scene: &Scene, name: &str) -> u32 {
    std::fs::metadata(scene.project(name)).unwrap().permissions().mode() & 0o777
}

/// A directory of mode 0700 came back as 0755, and nothing said that it had changed.
#[test]
fn a_private_directory_is_shown_and_comes_back_as_one() {
    let scene = Scene::new();
    scene.write("keys/key", "secret\n");
    let set = |mode| {
        let permissions = PermissionsExt::from_mode(mode);
        std::fs::set_permissions(scene.project("keys"), permissions).unwrap();
    };
    set(0o700);
    scene.ok(&["snapshot", "--tag", "private"]);
    std::fs::remove_dir_all(scene.project("keys")).unwrap();
    scene.ok(&["restore", "private"]);
    assert_eq!(mode_of(&scene, "keys"), 0o700);
    set(0o755);
    assert_eq!(scene.json(&["status"])["changes"]["modified"], 1);
    assert!(scene.ok(&["diff"]).contains("no longer private keys\n"));
    assert!(scene.ok(&["diff", "--name-status"]).contains("keys"));
    scene.ok(&["restore", "private"]);
    assert_eq!(mode_of(&scene, "keys"), 0o700);
    assert_eq!(scene.json(&["status"])["changes"]["modified"], 0);
    // An empty one that is deleted and brought back, too.
    std::fs::remove_file(scene.project("keys/key")).unwrap();
    scene.ok(&["tool", "rm", "path=keys"]);
    scene.ok(&["undo"]);
    assert_eq!(mode_of(&scene, "keys"), 0o700);
    set(0o755);
    scene.ok(&["tool", "rm", "path=keys"]);
    scene.ok(&["undo"]);
    assert_eq!(mode_of(&scene, "keys"), 0o755);
}
