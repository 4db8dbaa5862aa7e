//! The documented hash of a tree, and what it depends on.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use wink_fs::{
    Backend, FileMode, Filesystem, HostBackend, MemoryBackend, Recursion, Replacement, Tree,
    TreePath, WriteOptions, ops, tree_hash,
};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tree-hash.md");

fn at(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

fn write(fs: &mut dyn Filesystem, path: &str, content: &str, mode: FileMode) {
    ops::write(fs, &at(path), content, &WriteOptions::default().file_mode(mode)).unwrap();
}

type Build = fn(&mut dyn Filesystem);

const VECTORS: [(&str, Build); 4] = [
    ("nothing", |_| ()),
    ("an empty file `a`", |fs| write(fs, "a", "", FileMode::default())),
    ("an executable, private file `d/run` with `hello`", |fs| {
        write(fs, "d/run", "hello", FileMode::default().executable(true).private(true));
    }),
    ("an empty directory `d` and a link `l` to `d`", |fs| {
        fs.create_dir(&at("d")).unwrap();
        fs.symlink(&at("l"), b"d").unwrap();
    }),
];

fn hash(mut backend: impl Backend, build: Build) -> String {
    build(&mut backend);
    tree_hash(&backend as &dyn Tree).unwrap().to_string()
}

#[test]
fn the_page_has_the_hash_of_every_vector_on_every_backend() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    for (name, build) in VECTORS {
        let memory = hash(MemoryBackend::new(), build);
        assert_eq!(hash(HostBackend::temporary().unwrap(), build), memory);
        assert!(page.contains(&format!("| {name} | `{memory}` |")), "| {name} | `{memory}` |");
    }
}

/// A private directory once had the hash of any other, and came back as a public one.
#[test]
fn the_page_has_the_hash_of_a_private_directory() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("d");
    std::fs::create_dir(&directory).unwrap();
    let host = HostBackend::open_ambient(place.path()).unwrap();
    let public = tree_hash(&host).unwrap();
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o700)).unwrap();
    let private = tree_hash(&host).unwrap();
    assert_ne!(private, public);
    let row = format!("| an empty private directory `d` | `{private}` |");
    assert!(std::fs::read_to_string(PAGE).unwrap().contains(&row), "{row}");
}

#[test]
fn everything_that_is_kept_of_a_tree_changes_its_hash() {
    let plain = FileMode::default();
    let variants: [Build; 9] = [
        |_| (),
        |fs| write(fs, "a", "x", FileMode::default()),
        |fs| write(fs, "a", "y", FileMode::default()),
        |fs| write(fs, "b", "x", FileMode::default()),
        |fs| write(fs, "a", "x", FileMode::default().executable(true)),
        |fs| write(fs, "a", "x", FileMode::default().private(true)),
        |fs| write(fs, "a/a", "x", FileMode::default()),
        |fs| fs.symlink(&at("a"), b"x").unwrap(),
        |fs| fs.create_dir(&at("a")).unwrap(),
    ];
    let hashes: BTreeSet<_> = variants.iter().map(|v| hash(MemoryBackend::new(), *v)).collect();
    assert_eq!(hashes.len(), variants.len());
    let mut files = MemoryBackend::new();
    write(&mut files, "a", "x", plain);
    let before = tree_hash(&files).unwrap();
    write(&mut files, "a", "y", plain);
    write(&mut files, "a", "x", plain);
    assert_eq!(tree_hash(&files).unwrap(), before, "times do not count");
}

/// Memory keeps the hashes of directories; a change anywhere below must make it forget them.
#[test]
fn a_hash_asked_for_before_a_change_is_not_kept() {
    let build = |asking: bool| {
        let mut files = MemoryBackend::new();
        for path in ["a/b/one", "a/b/two", "a/c/three"] {
            write(&mut files, path, path, FileMode::default());
            assert!(!asking || tree_hash(&files).is_ok());
        }
        files.set_mode(&at("a/b/one"), FileMode::default().executable(true)).unwrap();
        assert!(!asking || tree_hash(&files).is_ok());
        files.remove(&at("a/c/three"), Recursion::OnlyEmpty).unwrap();
        assert!(!asking || tree_hash(&files).is_ok());
        files.rename(&at("a/b/two"), &at("a/two"), Replacement::Refuse).unwrap();
        tree_hash(&files).unwrap()
    };
    assert_eq!(build(true), build(false));
}
