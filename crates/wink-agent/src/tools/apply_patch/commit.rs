//! The steps of a patch, all of them or none.

use bytes::Bytes;
use wink_fs::ops::{self, MoveOptions, WriteMode, WriteOptions};
use wink_fs::{
    ContentHash, FileMode, Filesystem, PutCondition, PutOptions, Recursion, Result, Staged,
    TreePath,
};

use super::plan::{Before, Step};

/// Applies every step; if one fails, the steps before it are rolled back.
///
/// A workspace with a history rolls back a failed call by itself; this is for one without.
pub(super) fn commit(fs: &mut dyn Filesystem, steps: &[Step]) -> Result<()> {
    let mut done = Vec::new();
    let result = steps.iter().try_for_each(|step| make(fs, step, &mut done));
    if result.is_err() {
        // What another process changed meanwhile stays as that process left it.
        done.into_iter().rev().for_each(|undo| drop(undo.run(fs)));
    }
    result
}

/// Reverses one step.
enum Undo {
    Remove(TreePath),
    MakeAgain { path: TreePath, bytes: Bytes, mode: FileMode },
    PutBack { path: TreePath, written: ContentHash, bytes: Bytes, mode: FileMode },
    MoveBack { from: TreePath, to: TreePath },
}

fn make(fs: &mut dyn Filesystem, step: &Step, done: &mut Vec<Undo>) -> Result<()> {
    match (&step.from, &step.to, &step.before, &step.after) {
        (Some(path), None, Some(before), _) => delete(fs, path, before, done),
        (None, Some(path), _, Some(after)) => create(fs, path, step, after, done),
        (Some(from), Some(to), Some(before), Some(after)) => {
            if from != to {
                relocate(fs, from, to, done)?;
            }
            replace(fs, to, before, step, after, done)
        }
        _ => Ok(()),
    }
}

fn create(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    step: &Step,
    after: &Bytes,
    done: &mut Vec<Undo>,
) -> Result<()> {
    done.extend(missing_parents(fs, path).map(Undo::Remove));
    let mut options = WriteOptions::default().mode(WriteMode::Create);
    options.file_mode = step.mode();
    // The content comes from the patch, which is text.
    ops::write(fs, path, &String::from_utf8_lossy(after), &options)?;
    done.push(Undo::Remove(path.clone()));
    Ok(())
}

fn delete(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    before: &Before,
    done: &mut Vec<Undo>,
) -> Result<()> {
    fs.remove(path, Recursion::OnlyEmpty)?;
    let bytes = before.known.bytes.clone();
    let mode = before.mode;
    done.push(Undo::MakeAgain { path: path.clone(), bytes, mode });
    Ok(())
}

fn relocate(
    fs: &mut dyn Filesystem,
    from: &TreePath,
    to: &TreePath,
    done: &mut Vec<Undo>,
) -> Result<()> {
    done.extend(missing_parents(fs, to).map(Undo::Remove));
    ops::rename(fs, from, to, &MoveOptions::default())?;
    done.push(Undo::MoveBack { from: from.clone(), to: to.clone() });
    Ok(())
}

fn replace(
    fs: &mut dyn Filesystem,
    path: &TreePath,
    before: &Before,
    step: &Step,
    after: &Bytes,
    done: &mut Vec<Undo>,
) -> Result<()> {
    if *after == before.known.bytes && step.mode().is_none() {
        return Ok(());
    }
    let mut staged = Staged::from_bytes(after.clone());
    let mut options = PutOptions::default().condition(PutCondition::Unchanged(before.known.hash));
    options.mode = step.mode();
    fs.put(path, &mut staged, &options)?;
    let bytes = before.known.bytes.clone();
    let mode = before.mode;
    done.push(Undo::PutBack { path: path.clone(), written: staged.hash(), bytes, mode });
    Ok(())
}

/// Returns the directories above a path that are not there, nearest the root first.
fn missing_parents(fs: &dyn Filesystem, path: &TreePath) -> impl Iterator<Item = TreePath> + use<> {
    let missing: Vec<_> = path.ancestors().filter(|above| fs.stat(above).is_err()).collect();
    missing.into_iter()
}

impl Undo {
    fn run(self, fs: &mut dyn Filesystem) -> Result<()> {
        let put = |fs: &mut dyn Filesystem, path: &TreePath, bytes: Bytes, options: PutOptions| {
            fs.put(path, &mut Staged::from_bytes(bytes), &options).map(drop)
        };
        match self {
            Self::Remove(path) => fs.remove(&path, Recursion::OnlyEmpty).map(drop),
            Self::MakeAgain { path, bytes, mode } => {
                let options = PutOptions::default().condition(PutCondition::Absent).mode(mode);
                put(fs, &path, bytes, options)
            }
            Self::PutBack { path, written, bytes, mode } => {
                let condition = PutCondition::Unchanged(written);
                put(fs, &path, bytes, PutOptions::default().condition(condition).mode(mode))
            }
            Self::MoveBack { from, to } => ops::rename(fs, &to, &from, &MoveOptions::default()),
        }
    }
}
