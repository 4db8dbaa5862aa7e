//! Small atomic writes on the host, against the least that `std::fs` needs for an atomic one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use wink_fs::{Filesystem, HostBackend, WriteOptions, ops};

use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::digest::{self, Digest};
use crate::measure::{Measured, side_by_side, timed_ms};
use crate::small_files::{self, SmallFile};

pub(crate) const CASE: Case =
    Case::new("write-host-vs-std", "10,000 small atomic writes", 0.8, measure);

fn measure(context: &Context) -> Result<Outcome> {
    let files = small_files::files()?;
    let (ours, theirs) = side_by_side(
        || in_fresh_root(context, |root| write_ours(root, &files)),
        || in_fresh_root(context, |root| write_theirs(root, &files)),
    )?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "std",
            command: "std::fs::write to a temporary name in the same directory, std::fs::rename"
                .into(),
            samples: theirs,
        },
        ours,
        unit: "ms",
        place: context.warm(context.scratch())?,
        note: "ops::write with default options; new files of 1 KiB in 100 directories, not synced"
            .into(),
    })
}

/// Times the writing into new directories and digests what it left there.
fn in_fresh_root(
    context: &Context,
    write: impl FnOnce(&Path) -> Result<Measured<()>>,
) -> Result<Measured<Digest>> {
    // The root has a parent of its own, because a backend may stage beside its root.
    let parent = context.fresh_dir()?;
    let root = parent.path().join("root");
    for directory in small_files::directories() {
        fs::create_dir_all(root.join(directory))?;
    }
    context.settle()?;
    let written = write(&root)?;
    let digest = digest::of_disk(&root)?;
    Ok(written.with_result(digest))
}

fn write_ours(root: &Path, files: &[SmallFile]) -> Result<Measured<()>> {
    let mut backend = HostBackend::open_ambient(root)?;
    let fs: &mut dyn Filesystem = &mut backend;
    let options = WriteOptions::default();
    timed_ms(|| {
        for file in files {
            ops::write(fs, &file.path, &file.content, &options)?;
        }
        Ok(())
    })
}

fn write_theirs(root: &Path, files: &[SmallFile]) -> Result<Measured<()>> {
    // Paths are joined beforehand, as ours are parsed beforehand.
    let jobs: Vec<_> = files.iter().map(|file| (job(root, file), &file.content)).collect();
    timed_ms(|| {
        for ((temporary, target), content) in &jobs {
            fs::write(temporary, content)?;
            fs::rename(temporary, target)?;
        }
        Ok(())
    })
}

fn job(root: &Path, file: &SmallFile) -> (PathBuf, PathBuf) {
    let target = root.join(&file.name);
    (target.with_extension("tmp"), target)
}
