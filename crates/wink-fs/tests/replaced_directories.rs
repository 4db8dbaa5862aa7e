//! Another program writes below a directory while it is removed or replaced: the directory's own stamp does
//! not tell.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use wink_fs::{
    Backend, ErrorKind, Filesystem as _, HostBackend, MemoryBackend, Recursion, ReplacePlan,
    Result, Scope,
};

/// A directory with `a` and `zz/sub/notes` in it.
struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(scene.path("zz/sub")).unwrap();
        fs::write(scene.path("a"), "new").unwrap();
        fs::write(scene.path("zz/sub/notes"), "draft").unwrap();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("root").join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn open(&self) -> HostBackend {
        HostBackend::open_ambient(self.path("")).unwrap()
    }

    /// Replaces the files with those of another tree, while another program does something.
    fn replace(&self, target: &dyn Backend, meanwhile: impl Fn() + Sync + Send) -> Result<()> {
        let mut backend = self.open();
        let everything = Scope::everything();
        let before = backend.capture(&Default::default())?;
        let plan = ReplacePlan::new(before, target, &everything)?;
        let done = backend.replace_by(&plan, &mut || {
            meanwhile();
            Ok(None)
        });
        done.map(drop)
    }
}

fn memory(files: &[(&str, &str)]) -> MemoryBackend {
    let mut tree = MemoryBackend::new();
    for (path, content) in files {
        let path = wink_fs::TreePath::parse(path).unwrap();
        wink_fs::ops::write(&mut tree, &path, content, &Default::default()).unwrap();
    }
    tree
}

/// Once, a restore destroyed what was written there after the safety copy was taken, and said nothing.
#[test]
fn what_is_written_below_a_directory_that_is_removed_meanwhile_is_a_conflict_and_stays() {
    for (target, name) in
        [(memory(&[("a", "old")]), "gone"), (memory(&[("a", "old"), ("zz", "")]), "a file")]
    {
        let scene = Scene::new();
        let done = scene.replace(&target, || {
            fs::write(scene.path("zz/sub/notes"), "work!").unwrap();
            fs::write(scene.path("zz/sub/new"), "x").unwrap();
        });
        let error = done.unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, Some("zz")), "{name}");
        assert_eq!(scene.read("zz/sub/notes"), "work!", "{name}");
        assert_eq!(scene.read("zz/sub/new"), "x", "{name}");
        assert_eq!(scene.read("a"), "new", "{name}: nothing was replaced");
    }
}

#[test]
fn a_directory_whose_place_a_file_takes_meanwhile_is_a_conflict_and_the_file_stays() {
    let scene = Scene::new();
    let done = scene.replace(&memory(&[("a", "old")]), || {
        fs::remove_dir_all(scene.path("zz")).unwrap();
        fs::write(scene.path("zz"), "a file now").unwrap();
    });
    assert_eq!(done.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(scene.read("zz"), "a file now");
}

/// Once, what came into a directory between keeping it and removing it was lost. What is kept now is the directory
/// itself, as it was when it went out of view.
#[test]
fn what_is_written_between_announcing_a_removal_and_making_it_is_kept() {
    let scene = Scene::new();
    let aside = tempfile::tempdir().unwrap();
    let path = wink_fs::TreePath::parse("zz").unwrap();
    let mut backend = scene.open();
    let mut image = backend.before_image(&aside.path().join("1")).unwrap();
    image.begin("a line\n", Some(&path)).unwrap();
    fs::write(scene.path("zz/sub/new"), "x").unwrap();
    backend.remove(&path, Recursion::Recursive).unwrap();
    assert!(!scene.path("zz").exists());
    let kept = image.kept().entry(0).unwrap().unwrap();
    let new = wink_fs::TreePath::parse(&format!("{}/sub/new", kept.at)).unwrap();
    assert_eq!(kept.tree.open(&new).unwrap().read_all().unwrap(), "x");
}

#[test]
fn a_directory_without_writers_is_removed() {
    let scene = Scene::new();
    scene.replace(&memory(&[("a", "old")]), || ()).unwrap();
    assert!(!scene.path("zz").exists());
    assert_eq!(scene.read("a"), "old");
}
