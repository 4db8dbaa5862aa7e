//! Archives that were made once and are read for ever: other programs', and our own of version 1.

use std::path::PathBuf;

use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, Method};
use wink_fs::testkit::dump;

use crate::archive::support::{noon, options, plant_small};

fn golden(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/archive/golden", name].iter().collect()
}

fn open(name: &str) -> ArchiveTree {
    let tree = ArchiveTree::open_ambient(golden(name), &ArchiveLimits::default());
    let tree = tree.unwrap_or_else(|error| panic!("{name}: {error}"));
    tree.verify().unwrap_or_else(|error| panic!("{name}: {error}"));
    tree
}

/// The tree that `scripts/make-golden-archives` makes.
const TREE: [&str; 10] = [
    r##"README.md "# Golden\n""##,
    r#"empty """#,
    "größe/",
    r#"größe/日本語.txt "text\r\n""#,
    "hollow/",
    r#"key private "secret\n""#,
    r#"link -> "../outside""#,
    r##"run.sh executable "#!/bin/sh\ntrue\n""##,
    "src/",
    "src/main.rs fd136cb38b83a306ebff5205f4d9edf8e3fa7e15274da9b83a6922085d3c02ea",
];

#[test]
fn archives_of_other_programs_are_read() {
    for name in [
        "7z-stored.zip",
        "7z.zip",
        "info-zip-stored-zip64.zip",
        "info-zip-stream.zip",
        "info-zip.zip",
        "python-stored.zip",
        "python-stream.zip",
        "python.zip",
    ] {
        let tree = open(name);
        assert_eq!(dump(&tree).unwrap(), TREE, "{name}");
        assert_eq!((tree.file_count(), tree.created_at()), (7, noon()), "{name}");
    }
}

#[test]
fn archives_that_a_script_makes_of_strings_are_read() {
    let tree = open("python-writestr.zip");
    let lines = [r#"notes.txt "written from memory\n""#, r#"opened.txt "written through open\n""#];
    assert_eq!(dump(&tree).unwrap(), lines);
}

#[test]
fn our_archives_of_version_1_are_read() {
    let mut files = wink_fs::MemoryBackend::new();
    plant_small(&mut files);
    for name in ["wink-version-1.fs.zip", "wink-version-1-stored.fs.zip"] {
        assert_eq!(dump(&open(name)).unwrap(), dump(&files).unwrap(), "{name}");
    }
}

/// What compresses may change with its library; everything else is the same bytes for ever.
#[test]
fn our_archive_of_version_1_is_still_written() {
    let (mut files, mut bytes) = (wink_fs::MemoryBackend::new(), Vec::new());
    plant_small(&mut files);
    archive::write(&files, &mut bytes, &options().method(Method::Stored)).unwrap();
    assert_eq!(std::fs::read(golden("wink-version-1-stored.fs.zip")).unwrap(), bytes);
}
