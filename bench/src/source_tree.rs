//! A generated tree shaped like a source repository, the same for the same shape on every machine.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::rng::Rng;
use crate::text::{self, WORDS};

/// Says which tree is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) files: usize,
    pub(crate) seed: u64,
}

const FILES_IN_A_DIRECTORY: usize = 12;
const MAX_DEPTH: usize = 8;

/// Extensions, as often as they are met.
const EXTENSIONS: [&str; 24] = [
    "rs", "rs", "rs", "rs", "py", "py", "py", "c", "c", "h", "h", "h", "ts", "ts", "js", "go",
    "md", "md", "json", "toml", "yaml", "txt", "sh", "html",
];

const BINARY_EXTENSIONS: [&str; 4] = ["png", "bin", "woff2", "gz"];
const ONE_IN_IS_BINARY: usize = 40;
const ONE_IN_IS_LARGE: usize = 500;
const LARGE: usize = 256 * 1024;

/// Sizes at each eighth of all files, in bytes; between them the sizes are spread evenly.
const SIZE_AT_EIGHTHS: [usize; 9] = [0, 400, 900, 1_700, 3_000, 5_200, 9_000, 18_000, 80_000];

/// Streams of the seed, beside the contents, which have the file's number.
const DIRECTORY_STREAM: u64 = u64::MAX;
const NAME_STREAM: u64 = u64::MAX - 1;

/// Writes the tree into a directory that is not there yet.
pub(crate) fn generate(root: &Path, shape: Shape) -> Result<()> {
    let directories = directories(shape);
    for directory in &directories {
        fs::create_dir(root.join(directory)).with_context(|| directory.display().to_string())?;
    }
    let mut content = Vec::new();
    for (number, path) in file_paths(shape, &directories).iter().enumerate() {
        content.clear();
        fill(&mut Rng::new(shape.seed, number as u64), path, &mut content);
        fs::write(root.join(path), &content).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Returns the directories, parents first, the root itself included.
fn directories(shape: Shape) -> Vec<PathBuf> {
    let mut rng = Rng::new(shape.seed, DIRECTORY_STREAM);
    let mut made = vec![PathBuf::new()];
    let mut taken = HashSet::new();
    while made.len() < shape.files / FILES_IN_A_DIRECTORY + 1 {
        let parent = &made[rng.below(made.len())];
        if parent.components().count() < MAX_DEPTH {
            let directory = free_name(&mut taken, |n| parent.join(numbered(rng.pick(&WORDS), n)));
            made.push(directory);
        }
    }
    made
}

/// Returns the files, some directories having many more than others.
fn file_paths(shape: Shape, directories: &[PathBuf]) -> Vec<PathBuf> {
    let mut rng = Rng::new(shape.seed, NAME_STREAM);
    let mut taken: HashSet<_> = directories.iter().cloned().collect();
    let mut path = || {
        let crowded = rng.below(directories.len()).min(rng.below(directories.len()));
        let stem = format!("{}_{}", rng.pick(&WORDS), rng.pick(&WORDS));
        let extension = extension(&mut rng);
        free_name(&mut taken, |n| {
            directories[crowded].join(format!("{}.{extension}", numbered(&stem, n)))
        })
    };
    (0..shape.files).map(|_| path()).collect()
}

fn extension(rng: &mut Rng) -> &'static str {
    if rng.one_in(ONE_IN_IS_BINARY) { rng.pick(&BINARY_EXTENSIONS) } else { rng.pick(&EXTENSIONS) }
}

/// Tries names until one is new.
fn free_name(taken: &mut HashSet<PathBuf>, mut name: impl FnMut(usize) -> PathBuf) -> PathBuf {
    let mut number = 0;
    loop {
        let candidate = name(number);
        if taken.insert(candidate.clone()) {
            return candidate;
        }
        number += 1;
    }
}

fn numbered(stem: &str, number: usize) -> String {
    if number == 0 { stem.to_string() } else { format!("{stem}{number}") }
}

fn fill(rng: &mut Rng, path: &Path, content: &mut Vec<u8>) {
    let size = size(rng);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if BINARY_EXTENSIONS.contains(&extension) {
        content.resize(size, 0);
        rng.fill(content);
    } else {
        text::append(rng, content, size);
    }
}

fn size(rng: &mut Rng) -> usize {
    if rng.one_in(ONE_IN_IS_LARGE) {
        return LARGE + rng.below(7 * LARGE);
    }
    let eighth = rng.below(8);
    let (from, to) = (SIZE_AT_EIGHTHS[eighth], SIZE_AT_EIGHTHS[eighth + 1]);
    from + rng.below(to - from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::{self, files_below};

    fn generated(shape: Shape) -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("tree");
        generate(&root, shape).unwrap();
        (scratch, root)
    }

    #[test]
    fn the_same_shape_is_the_same_tree() {
        let shape = Shape { files: 300, seed: 1 };
        let (first, second) = (generated(shape), generated(shape));
        assert_eq!(digest::of_disk(&first.1).unwrap(), digest::of_disk(&second.1).unwrap());
    }

    /// Results of different days are comparable only while the tree stays the same.
    #[test]
    fn the_tree_never_changes() {
        let (_scratch, root) = generated(Shape { files: 300, seed: 1 });
        let digest = format!("{:?}", digest::of_disk(&root).unwrap());
        assert!(digest.contains("807e5b6b2da1806b0fd54a4d09834403"), "{digest}");
    }

    #[test]
    fn it_is_shaped_like_a_source_repository() {
        let (_scratch, root) = generated(Shape { files: 2_000, seed: 1 });
        let files = files_below(&root).unwrap();
        assert_eq!(files.len(), 2_000);

        let mut sizes: Vec<_> = files.iter().map(|f| fs::metadata(f).unwrap().len()).collect();
        sizes.sort_unstable();
        assert!((2_500..3_500).contains(&sizes[1_000]), "median {}", sizes[1_000]);
        assert!(sizes[1_999] > LARGE as u64);

        let depth = |file: &PathBuf| file.strip_prefix(&root).unwrap().components().count();
        assert!(files.iter().map(depth).max() > Some(4));
        assert!(files.iter().any(|file| fs::read(file).unwrap().contains(&0)));
    }
}
