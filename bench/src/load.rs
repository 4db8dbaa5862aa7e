//! A whole tree into another backend.

use anyhow::Result;
use wink_fs::{Filesystem, Kind, PutOptions, Staged, Tree, TreePath};

/// Copies every file and directory.
pub(crate) fn copy(from: &dyn Tree, to: &mut dyn Filesystem) -> Result<()> {
    let mut directories = vec![TreePath::root()];
    while let Some(directory) = directories.pop() {
        for entry in from.list(&directory)? {
            let path = directory.join(&entry.name)?;
            match entry.kind {
                Kind::Directory => {
                    to.create_dir(&path)?;
                    directories.push(path);
                }
                Kind::Symlink => to.symlink(&path, &from.read_link(&path)?)?,
                _ => {
                    let mut staged = Staged::from_bytes(from.open(&path)?.read_all()?);
                    to.put(&path, &mut staged, &PutOptions::default())?;
                }
            }
        }
    }
    Ok(())
}
