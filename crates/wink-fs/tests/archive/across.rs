//! From one backend into the other and back, for many generated trees.

use std::collections::BTreeMap;

use wink_fs::{
    Backend, FileMode, Filesystem, HostBackend, MemoryBackend, TreeHash, Workspace, tree_hash,
};

use crate::archive::support::{self, Random, noise, path, put_with};
use crate::common::size::size;

/// How many trees are generated, each with at least 30 entries.
fn trees() -> u64 {
    size(150, 1_000)
}

/// What the trees hold, counted over all of them.
type Statistics = BTreeMap<&'static str, u64>;

/// Names of every kind; a generated one follows each.
const NAMES: [&[u8]; 6] =
    [b"plain", "größe".as_bytes(), b"caf\xe9", b"new\nline", br"\x41", b"a-b"];

fn generate(seed: u64, files: &mut dyn Filesystem, statistics: &mut Statistics) {
    let mut random = Random(seed);
    let mut count = |what| *statistics.entry(what).or_default() += 1;
    let mode = FileMode::default();
    for number in 0..24 + random.below(10) {
        let mut name = random_directory(&mut random);
        name.extend_from_slice(NAMES[random.below(NAMES.len())]);
        name.extend_from_slice(number.to_string().as_bytes());
        let mode = mode.executable(random.below(4) == 0).private(random.below(5) == 0);
        put_with(files, &name, noise(random.below(300), seed), mode);
        count("files");
        count(if mode.executable { "executables" } else { "plain files" });
    }
    for number in 0..3 {
        files.create_dir(&path(format!("empty{number}").as_bytes())).unwrap();
        count("empty directories");
    }
    files.symlink(&path(b"link"), b"../anywhere").unwrap();
    files.symlink(&path(b"other\xfflink"), b"plain").unwrap();
    put_with(files, b"nested/.git/HEAD", "ref: refs/heads/main\n", mode);
    put_with(files, b"nested/.git/objects/0a/0b", noise(40, seed), mode);
    put_with(files, b"large", large(seed), mode);
    put_with(files, b"not\xfeutf8", "", mode);
    for what in ["links", "links", "nested repositories", "files over 1 MiB", "names not UTF-8"] {
        count(what);
    }
}

fn random_directory(random: &mut Random) -> Vec<u8> {
    let depth = random.below(4);
    (0..depth).flat_map(|level| format!("d{level}{}/", random.below(3)).into_bytes()).collect()
}

/// A little over 1 MiB that packs well, so that a thousand of them take little time.
fn large(seed: u64) -> Vec<u8> {
    let line = format!("line {seed}\n");
    line.repeat((1 << 20) / line.len() + 2).into_bytes()
}

fn carry_over(from: &mut dyn Backend, to: &mut dyn Backend) -> TreeHash {
    let archive = support::export(from);
    support::import(to, &archive).unwrap();
    tree_hash(to).unwrap()
}

#[test]
fn generated_trees_go_from_one_backend_to_the_other_and_back() {
    let mut statistics = Statistics::new();
    let mut host = HostBackend::temporary().unwrap();
    let trees = trees();
    for seed in 0..trees {
        let mut memory = MemoryBackend::new();
        generate(seed, &mut memory, &mut statistics);
        let expected = tree_hash(&memory).unwrap();
        assert_eq!(carry_over(&mut memory, &mut host), expected, "seed {seed}, into the host");
        let mut back = MemoryBackend::new();
        assert_eq!(carry_over(&mut host, &mut back), expected, "seed {seed}, and back");
    }
    println!("{trees} trees: {statistics:?}");
    assert!(statistics.values().all(|count| *count >= trees), "{statistics:?}");
}

/// `test_cross_backend_restore` and `test_export_import` of the documents.
#[test]
fn the_examples_of_the_documents_hold() {
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("snapshot.fs.zip");
    let memory = Workspace::memory();
    memory.write("src/main.py", "print('hello')").unwrap();
    memory.write("README.md", "# Project").unwrap();
    assert_eq!(memory.export_archive(&archive).unwrap().file_count, 2);

    let host = Workspace::builder(HostBackend::temporary().unwrap()).build();
    assert_eq!(host.import_archive(&archive).unwrap().file_count, 2);
    assert_eq!(host.read("src/main.py").unwrap().content, "print('hello')");
    assert_eq!(host.read("README.md").unwrap().content, "# Project");

    host.write("README.md", "modified").unwrap();
    host.import_archive(&archive).unwrap();
    assert_eq!(host.read("README.md").unwrap().content, "# Project");
}
