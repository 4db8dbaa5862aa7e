//! Ten thousand files of 1 KiB in a hundred directories: what an agent's writes look like.

use anyhow::Result;
use wink_fs::TreePath;

use crate::context::SEED;
use crate::digest::{Digest, Digester};
use crate::rng::Rng;
use crate::text;

const COUNT: usize = 10_000;
const DIRECTORIES: usize = 100;
const SIZE: usize = 1024;

/// A file to be written, its path in both forms.
pub(crate) struct SmallFile {
    pub(crate) name: String,
    pub(crate) path: TreePath,
    pub(crate) content: String,
}

/// Returns the files in the order in which they are written, from directory to directory.
pub(crate) fn files() -> Result<Vec<SmallFile>> {
    (0..COUNT).map(file).collect()
}

/// Returns the names of their directories.
pub(crate) fn directories() -> impl Iterator<Item = String> {
    (0..DIRECTORIES).map(directory)
}

/// Returns the digest of a tree that has these files and nothing else.
pub(crate) fn digest(files: &[SmallFile]) -> Digest {
    let mut sorted: Vec<_> = files.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let mut digester = Digester::default();
    for file in sorted {
        digester.add(file.name.as_bytes(), file.content.as_bytes());
    }
    digester.finish()
}

fn file(number: usize) -> Result<SmallFile> {
    let name = format!("{}/file_{:04}.rs", directory(number % DIRECTORIES), number / DIRECTORIES);
    let mut content = Vec::with_capacity(SIZE);
    text::append(&mut Rng::new(SEED, number as u64), &mut content, SIZE);
    Ok(SmallFile { path: TreePath::parse(&name)?, name, content: String::from_utf8(content)? })
}

fn directory(number: usize) -> String {
    format!("dir_{number:03}")
}
