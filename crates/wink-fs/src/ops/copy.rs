//! Copies entries within a workspace.

use std::io;

use super::make::{MoveOptions, with_parents};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::checks;
use crate::filesystem::{Filesystem, PutCondition, PutOptions, Recursion, Replacement};
use crate::path::TreePath;
use crate::tree::{Kind, Stat, Tree};

/// What a copy created.
///
/// ```
/// let files = wink_fs::Workspace::memory();
/// files.write("a/b.txt", "hello")?;
/// let copied = files.copy("a", "c")?;
/// assert_eq!((copied.files, copied.directories, copied.bytes), (1, 1, 5));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Copied {
    /// The number of files and links.
    pub files: u64,
    /// The number of directories.
    pub directories: u64,
    /// The bytes of the files.
    pub bytes: u64,
}

/// Copies a file, a link, or a directory with everything below it.
///
/// On failure nothing of the copy stays, unless removing it fails too. Only a file can be replaced, and only by a file:
/// a directory in its place is IsADirectory, a link PermissionDenied, and any other combination AlreadyExists. A FIFO,
/// socket or device anywhere below is SpecialFile. Nothing can be copied to the root (PermissionDenied), and no
/// directory into itself (InvalidArgument).
pub fn copy(
    fs: &mut dyn Filesystem,
    from: &TreePath,
    to: &TreePath,
    options: &MoveOptions,
) -> Result<Copied> {
    checks::check_not_root(Operation::Copy, to)?;
    let plan = plan(fs, from, to)?;
    check_place(fs, plan[0].stat.kind, to, options.replacement)?;
    with_parents(fs, to, options.create_parents, |fs| carry_out(fs, &plan, options.replacement))
        .map_err(|error| error.during(Operation::Copy))
}

/// One entry to copy.
struct Step {
    from: TreePath,
    to: TreePath,
    stat: Stat,
}

/// Lists everything to copy, parents first, before anything is created.
fn plan(tree: &dyn Tree, from: &TreePath, to: &TreePath) -> Result<Vec<Step>> {
    let stat = look_at(tree, from)?;
    checks::check_not_into_itself(Operation::Copy, stat.kind, from, to)?;
    let mut steps = vec![Step { from: from.clone(), to: to.clone(), stat }];
    let mut done = 0;
    while let Some(Step { from, to, stat }) = steps.get(done) {
        if stat.kind == Kind::Directory {
            let below = plan_directory(tree, from, to)?;
            steps.extend(below);
        }
        done += 1;
    }
    Ok(steps)
}

fn plan_directory(tree: &dyn Tree, from: &TreePath, to: &TreePath) -> Result<Vec<Step>> {
    let entries = tree.list(from).map_err(|error| error.during(Operation::Copy))?;
    let step = |name| {
        let from = from.join(name)?;
        let to = to.join(name)?;
        Ok(Step { stat: look_at(tree, &from)?, from, to })
    };
    entries.iter().map(|entry| step(&entry.name)).collect()
}

fn look_at(tree: &dyn Tree, path: &TreePath) -> Result<Stat> {
    let stat = tree.stat(path).map_err(|error| error.during(Operation::Copy))?;
    match stat.kind {
        Kind::Other => Err(Error::new(Operation::Copy, ErrorKind::SpecialFile).with_path(path)),
        _ => Ok(stat),
    }
}

/// Refuses a taken path, unless a file may replace a file.
fn check_place(
    tree: &dyn Tree,
    copied: Kind,
    to: &TreePath,
    replacement: Replacement,
) -> Result<()> {
    let there = match tree.stat(to) {
        Ok(stat) => stat.kind,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.during(Operation::Copy)),
    };
    match replacement {
        Replacement::Replace if copied == Kind::File => {
            checks::check_file(Operation::Copy, to, there)
        }
        _ => Err(Error::new(Operation::Copy, ErrorKind::AlreadyExists).with_path(to)),
    }
}

fn carry_out(fs: &mut dyn Filesystem, plan: &[Step], replacement: Replacement) -> Result<Copied> {
    let mut copied = Copied::default();
    for (done, step) in plan.iter().enumerate() {
        if let Err(error) = copy_one(fs, step, replacement, &mut copied) {
            take_back(fs, &plan[..done]);
            return Err(error);
        }
    }
    Ok(copied)
}

/// Removes what a failed copy created, but not what another process put there.
fn take_back(fs: &mut dyn Filesystem, made: &[Step]) {
    for step in made.iter().rev() {
        let _ = fs.remove(&step.to, Recursion::OnlyEmpty);
    }
}

fn copy_one(
    fs: &mut dyn Filesystem,
    step: &Step,
    replacement: Replacement,
    copied: &mut Copied,
) -> Result<()> {
    match step.stat.kind {
        Kind::Directory => {
            copied.directories += 1;
            fs.create_dir(&step.to)
        }
        Kind::Symlink => {
            copied.files += 1;
            let target = fs.read_link(&step.from)?;
            fs.symlink(&step.to, &target)
        }
        Kind::File | Kind::Other => {
            copied.files += 1;
            copied.bytes += copy_file(fs, step, replacement)?;
            Ok(())
        }
    }
}

fn copy_file(fs: &mut dyn Filesystem, step: &Step, replacement: Replacement) -> Result<u64> {
    let failed = |error| Error::system(Operation::Copy, error).with_path(&step.from);
    let content = fs.open(&step.from)?;
    let mut staging = fs.stage().map_err(|error| error.with_path(&step.to))?;
    io::copy(&mut content.reader(), &mut staging).map_err(failed)?;
    let mut staged = staging.finish().map_err(failed)?;
    let condition = match replacement {
        Replacement::Replace => PutCondition::AbsentOrFile,
        Replacement::Refuse => PutCondition::Absent,
    };
    let options = PutOptions::default().condition(condition).mode(step.stat.mode);
    fs.put(&step.to, &mut staged, &options)?;
    Ok(staged.len())
}
