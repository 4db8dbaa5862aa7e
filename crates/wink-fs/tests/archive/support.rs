//! Trees to make archives of, and the way back from an archive to a backend.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use wink_fs::archive::{self, ArchiveLimits, ArchiveTree, ExportOptions};
use wink_fs::{
    Backend, Content, FileMode, Filesystem, MemoryBackend, PutOptions, Result, Staged, Tree,
    TreePath,
};

/// The time all archives of the tests were made.
pub(crate) fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_744_000)
}

pub(crate) fn options() -> ExportOptions {
    ExportOptions::default().created_at(noon())
}

pub(crate) fn path(raw: &[u8]) -> TreePath {
    TreePath::from_disk(raw).unwrap()
}

pub(crate) fn put(files: &mut dyn Filesystem, raw: &[u8], content: impl Into<Bytes>) {
    put_with(files, raw, content, FileMode::default());
}

pub(crate) fn put_with(
    files: &mut dyn Filesystem,
    raw: &[u8],
    content: impl Into<Bytes>,
    mode: FileMode,
) {
    let path = path(raw);
    for directory in path.ancestors() {
        let _ = files.create_dir(&directory);
    }
    let options = PutOptions::default().mode(mode);
    files.put(&path, &mut Staged::from_bytes(content), &options).unwrap();
}

/// Bytes that look random and are always the same.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    (0..len).map(|_| random.next() as u8).collect()
}

/// A small generator of numbers (splitmix64), so that a seed reproduces a run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Fills a filesystem with one of everything that a tree can hold.
pub(crate) fn plant(files: &mut dyn Filesystem) {
    let mode = FileMode::default();
    put(files, b"README.md", "# One of everything\n");
    put(files, b"empty", "");
    put(files, b"src/main.rs", "fn main() {}\n".repeat(200));
    put_with(files, b"bin/run", "#!/bin/sh\ntrue\n", mode.executable(true));
    put_with(files, b"secret/key", "0123456789", mode.private(true));
    put_with(files, b"secret/tool", "true\n", mode.private(true).executable(true));
    put(files, b".git/HEAD", "ref: refs/heads/main\n");
    put(files, b"sub/.git/objects/aa/bb", noise(300, 1));
    put(files, b"a-b", "sorts after a/b by segment");
    put(files, b"a/b", "sorts before a-b by segment");
    put(files, "größe/日本語.txt".as_bytes(), "text\r\nwith CRLF\r\n");
    put(files, b"caf\xe9\n", "a name that is not text");
    put(files, br"looks\x41like", "a name that looks like an escape");
    put(files, br"a\b", "a plain backslash");
    put(files, br"..\evil", "leaves where a backslash separates");
    put(files, b"C:/drive", "absolute where drive letters count");
    put(files, b"big.bin", noise(1_500_000, 2));
    put(files, b"big.txt", "the same line again\n".repeat(100_000));
    files.create_dir(&path(b"hollow")).unwrap();
    files.create_dir(&path(b"nested")).unwrap();
    files.create_dir(&path(b"nested/hollow")).unwrap();
    files.symlink(&path(b"link"), b"../../outside").unwrap();
    files.symlink(&path(b"src/odd-link"), b"\xff\xfe target\n").unwrap();
}

pub(crate) fn planted() -> MemoryBackend {
    let mut files = MemoryBackend::new();
    plant(&mut files);
    files
}

pub(crate) fn export(tree: &dyn Tree) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive::write(tree, &mut bytes, &options()).unwrap();
    bytes
}

pub(crate) fn open(bytes: &[u8]) -> Result<ArchiveTree> {
    open_within(bytes, &ArchiveLimits::default())
}

pub(crate) fn open_within(bytes: &[u8], limits: &ArchiveLimits) -> Result<ArchiveTree> {
    let tree = open_source(bytes, limits)?;
    tree.verify()?;
    Ok(tree)
}

pub(crate) fn open_unverified(bytes: &[u8]) -> Result<ArchiveTree> {
    open_source(bytes, &ArchiveLimits::default())
}

fn open_source(bytes: &[u8], limits: &ArchiveLimits) -> Result<ArchiveTree> {
    let source = Content::from(Bytes::copy_from_slice(bytes));
    ArchiveTree::open(Arc::new(source), bytes.len() as u64, limits)
}

/// Imports an archive as it is, or refuses it before anything is touched.
pub(crate) fn import(files: &mut dyn Backend, bytes: &[u8]) -> Result<()> {
    import_within(files, bytes, &ArchiveLimits::default())
}

pub(crate) fn import_within(
    files: &mut dyn Backend,
    bytes: &[u8],
    limits: &ArchiveLimits,
) -> Result<()> {
    archive::import(files, &open_source(bytes, limits)?).map(drop)
}

/// Fills a filesystem with a little of everything, of which an archive is kept for ever.
pub(crate) fn plant_small(files: &mut dyn Filesystem) {
    let mode = FileMode::default();
    put(files, b"README.md", "# Version 1\n");
    put(files, b"src/main.rs", "fn main() {}\n".repeat(50));
    put_with(files, b"bin/run", "#!/bin/sh\ntrue\n", mode.executable(true));
    put_with(files, b"key", "secret\n", mode.private(true));
    put(files, "größe.txt".as_bytes(), "text\r\n");
    put(files, b"empty", "");
    files.create_dir(&path(b"hollow")).unwrap();
    files.symlink(&path(b"link"), b"../outside").unwrap();
}
