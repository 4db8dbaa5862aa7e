//! Host files brought into every backend, and what keeps others out.

use std::path::{Path, PathBuf};

use crate::common::again;
use tempfile::TempDir;
use wink_fs::{
    Backend, ErrorKind, HostBackend, HostMount, MemoryBackend, MountReport, Result, Tree, TreePath,
    WriteOptions, mount, ops,
};

use crate::common::on_both::on_both;

on_both! {
    a_directory_comes_in_under_its_own_name,
    a_mount_path_and_globs_choose_what_comes_in_and_where,
    a_file_is_mounted_by_itself,
    an_excluded_directory_is_left_out_with_all_that_is_in_it,
    patterns_see_the_name_of_a_file_that_is_mounted_by_itself,
    directories_merge_and_later_mounts_win,
    too_many_bytes_are_an_error_that_names_both_numbers_and_mounts_nothing,
    without_an_allowed_root_everything_is_refused,
    a_path_outside_the_allowed_roots_is_refused_however_it_is_written,
    a_relative_path_is_tried_against_each_root_in_turn,
    links_come_in_as_links_unless_followed,
    followed_links_stay_below_the_allowed_roots_and_end,
    special_files_are_left_out_with_a_reason,
    one_mount_that_fails_mounts_none,
    limits_for_agents_do_not_apply,
}

/// A project beside something that is none of its business.
struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for (path, content) in [
            ("project/src/main.py", "print()"),
            ("project/src/lib/util.py", "pass"),
            ("project/src/logo.png", "png"),
            ("project/docs/guide.md", "# Guide"),
            ("secret/key", "secret"),
        ] {
            scene.write(path, content);
        }
        std::fs::create_dir(scene.path("project/src/empty")).unwrap();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, path: &str, content: &str) {
        std::fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        std::fs::write(self.path(path), content).unwrap();
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    fn mount(&self, backend: &mut dyn Backend, mounts: &[HostMount]) -> Result<Vec<MountReport>> {
        mount(backend, mounts, &[self.path("project")])
    }
}

fn at(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

fn files(tree: &dyn Tree) -> Vec<String> {
    let limits = wink_fs::Limits::default();
    let options = wink_fs::search::GlobOptions::default();
    let found = wink_fs::search::glob(tree, "**", &TreePath::root(), &options, &limits).unwrap();
    found.paths.iter().map(ToString::to_string).collect()
}

fn text(tree: &dyn Tree, path: &str) -> String {
    String::from_utf8(tree.open(&at(path)).unwrap().read_all().unwrap().to_vec()).unwrap()
}

fn a_directory_comes_in_under_its_own_name(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let reports = scene.mount(backend, &[HostMount::new("src/")]).unwrap();
    assert_eq!(files(backend), ["src/lib/util.py", "src/logo.png", "src/main.py"]);
    assert!(ops::is_dir(backend, &at("src/empty")));
    assert_eq!((reports[0].files, reports[0].bytes), (3, 14));
    assert_eq!(reports[0].mount_path, at("src"));
    assert_eq!(text(backend, "src/main.py"), "print()");
}

fn a_mount_path_and_globs_choose_what_comes_in_and_where(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let python = HostMount::new("src").at(at("a/b")).include("*.py").exclude("lib/**");
    let everything = HostMount::new(scene.path("project/docs")).at(TreePath::root());
    let reports = scene.mount(backend, &[python, everything]).unwrap();
    assert_eq!(files(backend), ["a/b/main.py", "guide.md"]);
    assert!(!ops::exists(backend, &at("a/b/empty")), "only what the patterns name");
    let skipped: Vec<_> = reports[0].skipped.iter().map(ToString::to_string).collect();
    let expected =
        ["a/b/lib/util.py: excluded by a pattern", "a/b/logo.png: not included by a pattern"];
    assert_eq!(skipped, expected);
}

fn a_file_is_mounted_by_itself(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    scene.mount(backend, &[HostMount::new("docs/guide.md")]).unwrap();
    assert_eq!(files(backend), ["guide.md"]);
    scene.mount(backend, &[HostMount::new("docs/guide.md").at(at("x/y"))]).unwrap();
    assert_eq!(text(backend, "x/y"), "# Guide");
    let at_root = HostMount::new("docs/guide.md").at(TreePath::root());
    let error = scene.mount(backend, &[HostMount::new("src"), at_root]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "a file is not the root");
    assert_eq!(files(backend), ["guide.md", "x/y"]);
}

fn patterns_see_the_name_of_a_file_that_is_mounted_by_itself(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let guide = || HostMount::new("docs/guide.md");
    for left_out in [guide().include("*.py"), guide().exclude("*.md"), guide().exclude("guide.*")] {
        assert_eq!(scene.mount(backend, &[left_out]).unwrap()[0].skipped.len(), 1);
        assert_eq!(files(backend), [""; 0]);
    }
    scene.mount(backend, &[guide().include("*.md").exclude("*.py").at(at("x"))]).unwrap();
    assert_eq!(files(backend), ["x"]);
}

fn an_excluded_directory_is_left_out_with_all_that_is_in_it(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    scene.write("project/src/lib/keys/deep/key", "secret");
    for pattern in ["keys", "keys/"] {
        let mount = HostMount::new("src").exclude(pattern);
        assert_eq!(scene.mount(&mut MemoryBackend::new(), &[mount]).unwrap()[0].skipped.len(), 1);
    }
    let reports = scene.mount(backend, &[HostMount::new("src").exclude("keys")]).unwrap();
    assert_eq!(files(backend), ["src/lib/util.py", "src/logo.png", "src/main.py"]);
    assert_eq!(reports[0].skipped[0].to_string(), "src/lib/keys: excluded by a pattern");
    assert_eq!((reports[0].files, reports[0].skipped.len()), (3, 1));
}

fn directories_merge_and_later_mounts_win(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    scene.write("project/one/same", "one");
    scene.write("project/one/d/f", "one");
    scene.write("project/two/same", "two");
    scene.write("project/two/d", "a file now");
    let write = |backend: &mut dyn Backend, path: &str| {
        ops::write(backend, &at(path), "kept", &WriteOptions::default()).unwrap();
    };
    write(backend, "m/kept");
    write(backend, "m/same");
    let mounts = ["one", "two"].map(|name| HostMount::new(name).at(at("m")));
    scene.mount(backend, &mounts).unwrap();
    assert_eq!(files(backend), ["m/d", "m/kept", "m/same"]);
    assert_eq!(
        (text(backend, "m/same").as_str(), text(backend, "m/d").as_str()),
        ("two", "a file now")
    );
    let reversed = [mounts[1].clone(), mounts[0].clone()];
    scene.mount(backend, &reversed).unwrap();
    assert_eq!(files(backend), ["m/d/f", "m/kept", "m/same"]);
    assert_eq!(text(backend, "m/same"), "one");
}

fn too_many_bytes_are_an_error_that_names_both_numbers_and_mounts_nothing(
    mut backend: impl Backend,
) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let mounts = [HostMount::new("docs"), HostMount::new("src").max_bytes(13)];
    let error = scene.mount(backend, &mounts).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.to_string().contains("13") && error.to_string().contains("14"), "{error}");
    assert_eq!(files(backend), [""; 0]);
    scene.mount(backend, &[HostMount::new("src").max_bytes(14)]).unwrap();
}

fn without_an_allowed_root_everything_is_refused(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let none: [&Path; 0] = [];
    let mounts = [HostMount::new(scene.path("project/src"))];
    let error = mount(backend, &mounts, &none).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert_eq!(files(backend), [""; 0]);
}

fn a_path_outside_the_allowed_roots_is_refused_however_it_is_written(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    scene.link("project/out", scene.path("secret"));
    scene.link("project/out-file", scene.path("secret/key"));
    std::fs::create_dir(scene.path("project-beside")).unwrap();
    for path in [
        scene.path("secret"),
        PathBuf::from("../secret"),
        PathBuf::from("src/../../secret/key"),
        PathBuf::from("out"),
        PathBuf::from("out/key"),
        PathBuf::from("out-file"),
        scene.path("project-beside"),
        scene.path("project/../secret"),
        PathBuf::from("/etc/hostname"),
    ] {
        let error = scene.mount(backend, &[HostMount::new(&path).at(at("x"))]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{}", path.display());
        let error =
            scene.mount(backend, &[HostMount::new(path).follow_symlinks(true)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    }
    let missing = scene.mount(backend, &[HostMount::new("missing")]).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert_eq!(files(backend), [""; 0]);
}

fn a_relative_path_is_tried_against_each_root_in_turn(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let roots = [scene.path("secret"), scene.path("project")];
    mount(backend, &[HostMount::new("docs"), HostMount::new("key")], &roots).unwrap();
    assert_eq!(files(backend), ["docs/guide.md", "key"]);
}

fn links_come_in_as_links_unless_followed(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    scene.link("project/src/out", scene.path("secret"));
    scene.link("project/src/docs", "../docs");
    let reports = scene.mount(backend, &[HostMount::new("src")]).unwrap();
    assert_eq!(reports[0].links, 2);
    assert_eq!(backend.read_link(&at("src/docs")).unwrap(), b"../docs");
}

fn followed_links_stay_below_the_allowed_roots_and_end(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    scene.link("project/src/out", scene.path("secret"));
    scene.link("project/src/key", scene.path("secret/key"));
    scene.link("project/src/docs", "../docs");
    scene.link("project/src/guide", "../docs/guide.md");
    scene.link("project/src/up", "..");
    scene.link("project/src/self", ".");
    scene.link("project/docs/back", "../src");
    scene.link("project/src/nowhere", "nothing");
    let mounts = [HostMount::new("src").follow_symlinks(true)];
    let reports = scene.mount(backend, &mounts).unwrap();
    assert_eq!(text(backend, "src/docs/guide.md"), "# Guide");
    assert_eq!(text(backend, "src/guide"), "# Guide");
    assert!(files(backend).iter().all(|path| !path.contains("key") && !path.contains("out")));
    let skipped: Vec<_> = reports[0].skipped.iter().map(ToString::to_string).collect();
    assert_eq!(
        skipped,
        [
            "src/docs/back: the link leads back to where it was found",
            "src/key: the link leads out of the allowed host roots",
            "src/nowhere: the link leads nowhere",
            "src/out: the link leads out of the allowed host roots",
            "src/self: the link leads back to where it was found",
            "src/up: the link leads back to where it was found",
        ]
    );
}

fn special_files_are_left_out_with_a_reason(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let fifo = scene.path("project/docs/fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    let reports = scene.mount(backend, &[HostMount::new("docs")]).unwrap();
    assert_eq!(reports[0].skipped[0].to_string(), "docs/fifo: it is a FIFO, socket or device");
    assert_eq!(files(backend), ["docs/guide.md"]);
}

fn one_mount_that_fails_mounts_none(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let mounts = [HostMount::new("docs"), HostMount::new("missing")];
    assert_eq!(scene.mount(backend, &mounts).unwrap_err().kind(), ErrorKind::NotFound);
    let bad_pattern = [HostMount::new("docs"), HostMount::new("src").include("[")];
    assert_eq!(scene.mount(backend, &bad_pattern).unwrap_err().kind(), ErrorKind::InvalidPattern);
    assert_eq!(files(backend), [""; 0]);
}

fn limits_for_agents_do_not_apply(mut backend: impl Backend) {
    let backend: &mut dyn Backend = &mut backend;
    let scene = Scene::new();
    let deep = format!("project/deep/{}{}", "d/".repeat(30), "n".repeat(200));
    scene.write(&deep, &"x".repeat(100_000));
    scene.mount(backend, &[HostMount::new("deep")]).unwrap();
    assert_eq!(files(backend).len(), 1);
}

#[test]
fn too_few_handles_are_an_error_and_not_links_that_lead_nowhere() {
    const CHILD: &str = "WINK_TEST_FEW_HANDLES";
    if std::env::var_os(CHILD).is_none() {
        // The limit holds for a whole process, and other tests run in this one.
        let name = "too_few_handles_are_an_error_and_not_links_that_lead_nowhere";
        let mut child = std::process::Command::new("sh");
        child.args(["-c", "ulimit -n 100 && exec \"$0\" \"$@\""]);
        let child = child.args(again::only(module_path!(), name)).env(CHILD, "1");
        return assert!(child.status().unwrap().success());
    }
    let scene = Scene::new();
    for n in 0..200 {
        scene.link(&format!("project/docs/{n}"), "guide.md");
    }
    let mounts = [HostMount::new("docs").follow_symlinks(true)];
    assert_eq!(scene.mount(&mut MemoryBackend::new(), &mounts).unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn mounts_give_the_same_tree_on_every_backend() {
    let scene = Scene::new();
    let (mut memory, mut host) = (MemoryBackend::new(), HostBackend::temporary().unwrap());
    for backend in [&mut memory as &mut dyn Backend, &mut host] {
        scene.mount(backend, &[HostMount::new("src"), HostMount::new("docs")]).unwrap();
    }
    assert_eq!(wink_fs::tree_hash(&memory).unwrap(), wink_fs::tree_hash(&host).unwrap());
}
