//! The least that finding changes takes: one look at every entry, by all cores.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::Command;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context as _, Result};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};

use super::FILES;
use super::keeper::{Keeper, run_all, traced};
use super::ours;
use super::rounds::{Side, noted};
use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::measure::{Measured, side_by_side, timed_ms};

const NAME: &str = "snapshot-unchanged-vs-walk";

pub(crate) const UNCHANGED_VS_WALK: Case =
    Case::new(NAME, "nothing changed since the last one", 0.67, measure).with_child(super::child);

fn measure(context: &Context) -> Result<Outcome> {
    let side = Side::new(context, &context.source_tree(FILES)?)?;
    let ours = ours::make(context, side.place.clone())?;
    ours.prepare()?;
    run_all(ours.snapshot())?;
    let walk = || command(&side.place.root);
    let (our_times, their_times) = side_by_side(
        || {
            let timed = timed(context, || only(&*ours))?;
            let held = ours.kept()?.files;
            Ok(timed.with_result(held))
        },
        || timed(context, walk),
    )?;
    let traced = traced(context, NAME, ours.snapshot(), vec![walk()?])?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "walk",
            command: format!("wink-bench child {NAME} walk ROOT"),
            samples: their_times,
        },
        ours: our_times,
        unit: "ms",
        place: context.warm(&side.place.root)?,
        note: noted(&[
            traced,
            "theirs lists every directory and looks at every entry without following links, \
             with a thread on each core, and writes nothing"
                .into(),
        ]),
    })
}

fn only(keeper: &dyn Keeper) -> Result<Command> {
    keeper.snapshot().pop().context("no command")
}

/// Times a command that prints the number of files.
fn timed(context: &Context, command: impl Fn() -> Result<Command>) -> Result<Measured<u64>> {
    context.settle()?;
    let mut command = command()?;
    let timed = timed_ms(|| output_of(&mut command))?;
    let files = serde_json::from_slice(&timed.result)?;
    Ok(timed.with_result(files))
}

fn command(root: &Path) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["child", NAME, "walk"]).arg(root);
    Ok(command)
}

/// Directories that are still to be looked at, and how many threads may yet add to them.
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    pending: Vec<Vec<u8>>,
    busy: usize,
}

/// Looks at every entry below a directory and counts those that are none.
pub(super) fn files_below(root: &Path) -> Result<u64> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat(CWD, root, flags, Mode::empty())?;
    let queue = Queue {
        state: Mutex::new(State { pending: vec![b".".to_vec()], busy: 0 }),
        changed: Condvar::new(),
    };
    let threads = thread::available_parallelism()?.get();
    thread::scope(|scope| {
        let work = || walk(root.as_fd(), &queue);
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut files = walk(root.as_fd(), &queue);
        for other in others {
            let more = other.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
            files = files.and_then(|files| Ok(files + more?));
        }
        files
    })
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a directory; waits while there is none and another thread may yet find one.
    fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        loop {
            if let Some(directory) = state.pending.pop() {
                state.busy += 1;
                return Some(directory);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self, found: Vec<Vec<u8>>) {
        let mut state = self.state();
        state.pending.extend(found);
        state.busy -= 1;
        drop(state);
        self.changed.notify_all();
    }
}

fn walk(root: BorrowedFd<'_>, queue: &Queue) -> Result<u64> {
    let mut files = 0;
    while let Some(directory) = queue.take() {
        let mut found = Vec::new();
        let looked = look(root, &directory, &mut found);
        queue.done(found);
        files += looked?;
    }
    Ok(files)
}

fn look(root: BorrowedFd<'_>, directory: &[u8], found: &mut Vec<Vec<u8>>) -> Result<u64> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(root, directory, flags, Mode::empty())?;
    let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(&handle, &mut buffer);
    let mut files = 0;
    while let Some(entry) = entries.next() {
        let name: &CStr = entry.as_ref().map_err(|errno| *errno)?.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => found.push([directory, b"/", name.to_bytes()].concat()),
            _ => files += 1,
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_file_is_counted_once() {
        let root = tempfile::tempdir().unwrap();
        for directory in ["a", "a/b", "c"] {
            fs::create_dir(root.path().join(directory)).unwrap();
            fs::write(root.path().join(directory).join("file"), "").unwrap();
        }
        std::os::unix::fs::symlink("a", root.path().join("link")).unwrap();
        assert_eq!(files_below(root.path()).unwrap(), 4);
    }
}
