//! What every case is given: a place to work in, the tree, and processes of its own.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags, syncfs};
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::args::Args;
use crate::machine;
use crate::source_tree::{self, Shape};

/// The seed of everything that is generated, so that every run sees the same files.
pub(crate) const SEED: u64 = 0x7769_6e6b;

pub(crate) struct Context {
    scratch: TempDir,
    given_tree: Option<PathBuf>,
    files: usize,
    generated_tree: OnceCell<PathBuf>,
    traces: PathBuf,
}

impl Context {
    pub(crate) fn new(args: &Args) -> Result<Self> {
        let parent = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let scratch = tempfile::Builder::new()
            .prefix("wink-bench-")
            .tempdir_in(&parent)
            .with_context(|| format!("no scratch directory in {}", parent.display()))?;
        spread_directories(scratch.path())?;
        let given_tree = args.tree.as_deref().map(existing_directory).transpose()?;
        Ok(Self {
            scratch,
            given_tree,
            files: args.files,
            generated_tree: OnceCell::new(),
            traces: args.json.with_file_name("strace"),
        })
    }

    /// Returns the directory that is removed with everything in it when the run ends.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Returns the directory beside the JSON that takes what strace counted.
    pub(crate) fn traces(&self) -> &Path {
        &self.traces
    }

    /// Makes an empty directory that is removed when it is dropped.
    pub(crate) fn fresh_dir(&self) -> Result<TempDir> {
        Ok(tempfile::tempdir_in(self.scratch())?)
    }

    /// Waits until the scratch file system has written what is pending, so that no later measurement pays for it.
    pub(crate) fn settle(&self) -> Result<()> {
        let directory = fs::File::open(self.scratch())?;
        Ok(syncfs(directory)?)
    }

    /// Returns the tree to measure on: the one given, else one that is generated once a run.
    pub(crate) fn tree(&self) -> Result<&Path> {
        if let Some(tree) = self.given_tree.as_ref().or_else(|| self.generated_tree.get()) {
            return Ok(tree);
        }
        let tree = self.scratch().join("tree");
        source_tree::generate(&tree, Shape { files: self.files, seed: SEED })?;
        Ok(self.generated_tree.get_or_init(|| tree))
    }

    /// Returns the tree given, else one with so many files, generated once a run.
    pub(crate) fn source_tree(&self, files: usize) -> Result<PathBuf> {
        if let Some(tree) = &self.given_tree {
            return Ok(tree.clone());
        }
        let tree = self.scratch().join(format!("tree-{files}"));
        if !tree.exists() {
            source_tree::generate(&tree, Shape { files, seed: SEED })?;
        }
        Ok(tree)
    }

    /// Says where files below `path` lie, for a case whose files have just been touched.
    pub(crate) fn warm(&self, path: &Path) -> Result<String> {
        Ok(format!("{}, warm", machine::filesystem_of(path)?))
    }

    /// Runs a case's child part in a fresh process and returns what it found.
    pub(crate) fn ask_child<T: DeserializeOwned>(
        &self,
        case: &str,
        arguments: &[&str],
    ) -> Result<T> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["child", case]).args(arguments);
        Ok(serde_json::from_slice(&output_of(&mut command)?)?)
    }
}

/// Runs a program to its end and returns what it printed; anything but success is an error.
pub(crate) fn output_of(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{name} does not start"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name}: {}: {}", output.status, complaint.trim());
    Ok(output.stdout)
}

/// Asks ext4 to put each directory made in `scratch` into another part of the disk.
///
/// For five minutes ext4 does not use the inode of a deleted file again, and looks at every one of them
/// whenever it makes a file near them. Without this a repetition would mostly measure what the one
/// before it, or the run before this one, has left.
fn spread_directories(scratch: &Path) -> Result<()> {
    let directory = fs::File::open(scratch)?;
    // Other file systems have no such flag and do not need it.
    let _ = ioctl_getflags(&directory)
        .and_then(|flags| ioctl_setflags(&directory, flags | IFlags::TOPDIR));
    Ok(())
}

fn existing_directory(path: &Path) -> Result<PathBuf> {
    ensure!(path.is_dir(), "{} is not a directory", path.display());
    Ok(path.canonicalize()?)
}
