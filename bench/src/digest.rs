//! Whether two trees have equal bytes, in one small value.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::Result;
use wink_fs::{Kind, RESERVED_NAME, Tree, TreePath};

/// Identifies the files of a tree: their paths and bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Digest {
    files: u64,
    bytes: u64,
    hash: blake3::Hash,
}

/// Takes files in the order of their paths.
#[derive(Default)]
pub(crate) struct Digester {
    files: u64,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl Digester {
    pub(crate) fn add(&mut self, path: &[u8], content: &[u8]) {
        for part in [path, content] {
            // Lengths keep the end of a path from being read as the start of a content.
            self.hasher.update(&(part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
        self.files += 1;
        self.bytes += content.len() as u64;
    }

    pub(crate) fn finish(self) -> Digest {
        Digest { files: self.files, bytes: self.bytes, hash: self.hasher.finalize() }
    }
}

/// Digests what is on the disk, as seen from outside.
pub(crate) fn of_disk(root: &Path) -> Result<Digest> {
    let mut digester = Digester::default();
    for path in files_below(root)? {
        let name = path.strip_prefix(root)?.as_os_str();
        digester.add(name.as_bytes(), &fs::read(&path)?);
    }
    Ok(digester.finish())
}

/// Returns the regular files below a directory in the order of their paths, without wink's staging.
pub(crate) fn files_below(root: &Path) -> Result<Vec<std::path::PathBuf>> {
    let (mut found, mut pending) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory)? {
            let (entry, reserved) = entry.map(|e| (e.path(), e.file_name() == RESERVED_NAME))?;
            let kind = fs::symlink_metadata(&entry)?.file_type();
            if kind.is_file() {
                found.push(entry);
            } else if kind.is_dir() && !(reserved && directory == root) {
                pending.push(entry);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Digests any tree of wink's.
pub(crate) fn of_tree(tree: &dyn Tree) -> Result<Digest> {
    let mut digester = Digester::default();
    add_tree(tree, &TreePath::root(), &mut digester)?;
    Ok(digester.finish())
}

fn add_tree(tree: &dyn Tree, directory: &TreePath, digester: &mut Digester) -> Result<()> {
    for entry in tree.list(directory)? {
        let path = directory.join(&entry.name)?;
        match entry.kind {
            Kind::File => digester.add(path.as_bytes(), &tree.open(&path)?.read_all()?),
            Kind::Directory => add_tree(tree, &path, digester)?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_have_the_same_digest_on_disk_and_in_memory() {
        let disk = tempfile::tempdir().unwrap();
        let memory = wink_fs::Workspace::memory();
        // In this order a sort by text and a walk of directories would differ.
        for name in ["a-b", "a/b", "a.c"] {
            fs::create_dir_all(disk.path().join(name).parent().unwrap()).unwrap();
            fs::write(disk.path().join(name), name).unwrap();
            memory.write(name, name).unwrap();
        }
        let staging = disk.path().join(RESERVED_NAME);
        fs::create_dir(&staging).unwrap();
        fs::write(staging.join("left"), "over").unwrap();
        assert_eq!(of_disk(disk.path()).unwrap(), of_tree(&*memory.tree()).unwrap());
    }

    #[test]
    fn one_other_byte_is_another_digest() {
        let digest = |path: &[u8], content: &[u8]| {
            let mut digester = Digester::default();
            digester.add(path, content);
            digester.finish()
        };
        assert_ne!(digest(b"a", b"bc"), digest(b"ab", b"c"));
        assert_ne!(digest(b"a", b"bc"), digest(b"a", b"bd"));
    }
}
