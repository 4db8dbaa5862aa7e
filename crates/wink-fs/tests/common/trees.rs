//! Trees to make archives and snapshots of.

use bytes::Bytes;
use wink_fs::{FileMode, Filesystem, MemoryBackend, Name, PutOptions, Staged, TreePath};

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

/// Makes a tree of anything: names of odd bytes, every kind and mode, contents of many sizes.
pub(crate) fn plant_generated(files: &mut dyn Filesystem, random: &mut Random) {
    const BYTES: [u8; 21] = *b"aAb.C: \\x41\n\xff\xe9\xc3\xa9~_-05";
    let mut directories = vec![TreePath::root()];
    for _ in 0..random.below(60) {
        let name: Vec<u8> = (0..=random.below(8)).map(|_| BYTES[random.below(21)]).collect();
        let parent = directories[random.below(directories.len())].clone();
        let Ok(path) = Name::from_disk(&name).and_then(|name| parent.join(&name)) else { continue };
        let mode = FileMode::default().executable(random.below(2) == 0);
        let magnitude = random.below(18);
        let size = random.below(1 << magnitude);
        let content = if random.below(2) == 0 { noise(size, 9) } else { vec![b'a'; size] };
        let options = PutOptions::default().mode(mode.private(random.below(4) == 0));
        // A name that is there already stays what it is.
        match random.below(4) {
            0 if files.create_dir(&path).is_ok() => directories.push(path),
            0 => {}
            1 => drop(files.symlink(&path, &name)),
            _ => drop(files.put(&path, &mut Staged::from_bytes(content), &options)),
        }
    }
}
