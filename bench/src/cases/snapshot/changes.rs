//! What happens to the files between two snapshots, the same on both sides.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::context::SEED;
use crate::digest::files_below;
use crate::rng::Rng;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Nothing,
    /// Eight files get another line, one goes, one is new.
    Ten,
}

const TEN: usize = 10;

/// Changes files of a tree, others in every round.
pub(super) struct Changer {
    files: Vec<PathBuf>,
    change: Change,
}

impl Changer {
    /// Takes the tree as it is at the beginning.
    pub(super) fn new(root: &Path, change: Change) -> Result<Self> {
        let relative = |path: PathBuf| Ok(path.strip_prefix(root)?.to_path_buf());
        let files = files_below(root)?.into_iter().map(relative).collect::<Result<_>>()?;
        Ok(Self { files, change })
    }

    /// Does the changes of a round.
    pub(super) fn apply(&self, root: &Path, round: u64) -> Result<()> {
        if self.change == Change::Nothing {
            return Ok(());
        }
        let mut files: Vec<_> = self.files.iter().map(|file| root.join(file)).collect();
        Rng::new(SEED, round).draw(&mut files, TEN);
        let added = files.pop().context("the tree is too small")?;
        let removed = files.pop().context("the tree is too small")?;
        files.iter().try_for_each(|file| append(file, round))?;
        append(&added.with_extension(format!("new{round}")), round)?;
        // It may be one that went in another round.
        let _ = fs::remove_file(removed);
        Ok(())
    }
}

fn append(file: &Path, round: u64) -> Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    Ok(writeln!(file, "a line of round {round}")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for number in 0..30 {
            fs::write(root.path().join(format!("{number}.txt")), "old\n").unwrap();
        }
        root
    }

    #[test]
    fn the_same_round_does_the_same_to_equal_trees() {
        let (first, second) = (tree(), tree());
        for root in [&first, &second] {
            Changer::new(root.path(), Change::Ten).unwrap().apply(root.path(), 3).unwrap();
        }
        let digests = [&first, &second].map(|root| digest::of_disk(root.path()).unwrap());
        assert_eq!(digests[0], digests[1]);
    }

    #[test]
    fn ten_files_are_not_what_they_were() {
        let root = tree();
        Changer::new(root.path(), Change::Ten).unwrap().apply(root.path(), 1).unwrap();
        let files = files_below(root.path()).unwrap();
        let old = files.iter().filter(|file| fs::read(file).unwrap() == b"old\n").count();
        assert_eq!((files.len(), old), (30, 30 - 9));
    }

    #[test]
    fn nothing_is_nothing() {
        let root = tree();
        let before = digest::of_disk(root.path()).unwrap();
        Changer::new(root.path(), Change::Nothing).unwrap().apply(root.path(), 1).unwrap();
        assert_eq!(digest::of_disk(root.path()).unwrap(), before);
    }
}
