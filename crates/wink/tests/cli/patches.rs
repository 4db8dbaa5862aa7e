//! Patches, and whether git takes them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Output};

use crate::cli::scene::{Scene, stderr};
use crate::cli::terminal::on_terminal;

fn git(scene: &Scene, args: &[&str]) -> Output {
    let mut git = Command::new("git");
    git.args(args).current_dir(scene.path("project")).env("HOME", scene.path("home"));
    git.output().unwrap()
}

/// Bytes that cannot be made smaller.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn set_mode(scene: &Scene, name: &str, mode: u32) {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(scene.project(name), permissions).unwrap();
}

fn link(scene: &Scene, target: &[u8], name: &str) {
    let _ = std::fs::remove_file(scene.project(name));
    symlink(OsStr::from_bytes(target), scene.project(name)).unwrap();
}

/// Takes a snapshot of what was made, and fails unless git goes from one to the other and back by the patch.
fn check(scene: &Scene) {
    scene.ok(&["snapshot", "--tag", "after"]);
    std::fs::write(scene.path("patch"), scene.ok(&["diff", "before", "after"])).unwrap();
    scene.ok(&["restore", "before"]);
    let patch = scene.path("patch");
    let patch = patch.to_str().unwrap();
    for (args, state) in
        [(["apply", patch].as_slice(), "after"), (&["apply", "-R", patch], "before")]
    {
        let applied = git(scene, args);
        assert!(applied.status.success(), "{state}: {}", stderr(&applied));
        assert_eq!(scene.ok(&["diff", state, "@", "--name-status"]), "");
    }
}

#[test]
fn git_applies_patches_of_binary_files_and_takes_them_back() {
    let scene = Scene::new();
    scene.write("changed", b"one\0two");
    scene.write("deleted", b"\0");
    scene.write("large", noise(3_000_000, 1));
    scene.write("executable", b"\x7fELF\0");
    scene.write("mode only", b"\x7fELF\0");
    scene.write("becomes empty", b"\0");
    scene.write("becomes text", b"\0");
    scene.write("latin-1", b"gr\xfc\xdfe\n");
    scene.write("becomes a link", b"\0\xff");
    scene.ok(&["snapshot", "--tag", "before"]);
    scene.write("changed", b"one\0three");
    std::fs::remove_file(scene.project("deleted")).unwrap();
    scene.write("large", noise(3_000_000, 2));
    scene.write("executable", b"\x7fELF\0\x01");
    set_mode(&scene, "executable", 0o755);
    set_mode(&scene, "mode only", 0o755);
    scene.write("becomes empty", "");
    scene.write("becomes text", "text\n");
    scene.write("latin-1", b"gr\xf6\xdfe\n");
    link(&scene, b"changed", "becomes a link");
    scene.write("added", b"\0\x01\x02");
    scene.write("sub/\"added\" too", noise(53, 3));
    scene.write("empty", "");
    check(&scene);
}

#[test]
fn git_applies_patches_of_links_whose_targets_are_no_lines() {
    let scene = Scene::new();
    link(&scene, b"one\ntwo", "lines");
    link(&scene, b"gr\xfc\xdfe", "bytes");
    scene.ok(&["snapshot", "--tag", "before"]);
    link(&scene, b"one\nthree", "lines");
    link(&scene, b"gr\xf6\xdfe", "bytes");
    link(&scene, b"a\n", "new");
    check(&scene);
}

#[test]
fn git_applies_patches_of_text_with_carriage_returns_alone() {
    let scene = Scene::new();
    scene.write("old mac", "one\rtwo\rthree\n");
    scene.write("mixed", "a\r\nb\rc\nd\r");
    scene.ok(&["snapshot", "--tag", "before"]);
    scene.write("old mac", "one\r2\rthree\n");
    scene.write("mixed", "a\r\nb\rC\nd\r");
    check(&scene);
}

#[test]
fn people_are_told_the_sizes_of_binary_files_and_programs_what_changed() {
    let scene = Scene::new();
    scene.write("image", b"\0\x01");
    scene.ok(&["snapshot"]);
    scene.write("image", noise(2048, 1));
    scene.write("new", b"\0");
    for args in [["diff", "--color=never"].as_slice(), &["diff", "--color=never", "-y"]] {
        let shown = on_terminal(&scene, &[], args);
        assert!(
            shown.contains("Binary files a/image (2 B) and b/image (2.0 KiB) differ\n"),
            "{shown}"
        );
        assert!(shown.contains("Binary files /dev/null and b/new (1 B) differ\n"), "{shown}");
        assert!(!shown.contains("GIT binary patch"), "{shown}");
    }
    let entries = &scene.json(&["diff"])["entries"];
    assert_eq!((&entries[0]["path"], &entries[0]["change"]), (&"image".into(), &"modified".into()));
}

#[test]
fn what_is_too_large_for_a_patch_is_said_and_git_does_not_pass_over_it() {
    let scene = Scene::new();
    scene.write("small", b"\0");
    scene.ok(&["snapshot", "--tag", "before"]);
    let large = std::fs::File::create(scene.project("large")).unwrap();
    large.set_len(129 * 1024 * 1024).unwrap();
    scene.write("small", b"\0\0");
    let (code, said) = scene.fails(&["diff"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("`large` is omitted") && said.contains("128.0 MiB"), "{said}");
    std::fs::write(scene.path("patch"), scene.run(&["diff"]).stdout).unwrap();
    let refused = git(&scene, &["apply", "-R", scene.path("patch").to_str().unwrap()]);
    assert!(!refused.status.success());
    let without = scene.ok(&["diff", "before", "@", "--", "small"]);
    assert!(without.contains("GIT binary patch"), "{without}");
    assert!(scene.ok(&["diff", "--help"]).contains("128 MiB"));
}

/// Once, a patch that only made a file private was refused as a whole: git has no mode for it.
#[test]
fn git_applies_patches_with_files_that_are_private_and_directories_that_are_empty() {
    let scene = Scene::new();
    for name in ["text", "binary", "public", "both"] {
        scene.write(name, if name == "binary" { &b"\0"[..] } else { b"one\n" });
    }
    set_mode(&scene, "public", 0o600);
    std::fs::create_dir(scene.project("gone")).unwrap();
    scene.ok(&["snapshot", "--tag", "before"]);
    for name in ["text", "binary", "both"] {
        set_mode(&scene, name, 0o600);
    }
    set_mode(&scene, "public", 0o644);
    scene.write("both", "two\n");
    scene.write("new", "new\n");
    set_mode(&scene, "new", 0o600);
    std::fs::remove_dir(scene.project("gone")).unwrap();
    std::fs::create_dir(scene.project("empty")).unwrap();
    scene.ok(&["snapshot", "--tag", "after"]);
    let patch = scene.ok(&["diff", "before", "after"]);
    for line in ["newly private text", "newly private new", "no longer private public"] {
        assert!(patch.contains(&format!("{line}\n")), "{patch}");
    }
    assert!(!patch.contains("diff --git a/text"), "{patch}");
    std::fs::write(scene.path("patch"), patch).unwrap();
    scene.ok(&["restore", "before"]);
    let applied = git(&scene, &["apply", scene.path("patch").to_str().unwrap()]);
    assert!(applied.status.success(), "{}", stderr(&applied));
    assert_eq!((scene.read("both"), scene.read("new")), ("two\n".into(), "new\n".into()));
}

/// Once, git said that there was no patch in it, and wink had not said why.
#[test]
fn what_git_has_no_patches_for_is_told_beside_the_patch() {
    let scene = Scene::new();
    scene.write("private", "one\n");
    scene.write("text", "one\n");
    scene.ok(&["snapshot"]);
    set_mode(&scene, "private", 0o600);
    std::fs::create_dir(scene.project("empty")).unwrap();
    let only_others = scene.run(&["diff", "--exit-code"]);
    assert_eq!(only_others.status.code(), Some(1));
    let shown = crate::cli::scene::stdout(&only_others);
    assert_eq!(shown, "new empty directory empty\nnewly private private\n");
    let said = stderr(&only_others);
    assert!(said.starts_with("note: ") && said.contains("finds nothing to apply"), "{said}");
    assert_eq!(scene.ok(&["diff", "--name-status"]), "A\tempty/\nM\tprivate\n");
    let stat = scene.ok(&["diff", "--stat"]);
    assert!(stat.starts_with(" empty/  | -\n private | mode\n 2 files changed"), "{stat}");
    scene.write("text", "two\n");
    let some = stderr(&scene.run(&["diff"]));
    assert!(some.contains("`git apply` skips those lines"), "{some}");
    for quiet in [["diff", "-q"].as_slice(), &["diff", "--", "text"], &["diff", "--json"]] {
        assert_eq!(stderr(&scene.run(quiet)), "", "{quiet:?}");
    }
}
