//! Everything into place: written down first, so that a process that dies is finished by the next.

use std::io;

use rustix::io::Errno;

use super::journal::Journal;
use super::stage::Staged;
use super::step::{Move, Places, Step};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::host::capture::tree::Captured;
use crate::host::staging::Area;
use crate::host::{Host, failure};
use crate::path::TreePath;

/// Renames everything into place; when one rename fails, those before it are undone.
pub(super) fn apply(
    host: &Host,
    area: &Area,
    before: &Captured,
    staged: &mut [Staged],
) -> Result<()> {
    if staged.is_empty() {
        return Ok(());
    }
    let failed = |errno| Error::system(Operation::Replace, errno);
    let places = Places { root: &host.root, staging: area.directory() };
    let _alone = host.root.lock().map_err(failed)?;
    let steps = staged.iter().map(|staged| step(&places, before, staged));
    let steps: Vec<Step> = steps.collect::<Result<_>>()?;
    if host.is_temporary() {
        return run(&places, &steps, staged);
    }
    write_down(host, area, &steps).map_err(|error| Error::system(Operation::Replace, error))?;
    let applied = run(&places, &steps, staged);
    if staged.iter().all(|staged| !staged.stuck) {
        area.remove_journal();
    }
    applied
}

/// Writes down what is about to be done with what is staged and durable.
fn write_down(host: &Host, area: &Area, steps: &[Step]) -> io::Result<()> {
    let journal = Journal { root: host.root.identity()?, steps: steps.to_vec() };
    area.write_journal(&journal.encode())
}

/// Says what a change will do, after a look at both places.
fn step(places: &Places<'_>, before: &Captured, staged: &Staged) -> Result<Step> {
    let Staged { path, name, action, .. } = staged;
    let looked = places.look(path, name);
    let (standing, waiting) =
        looked.map_err(|errno| failure::any(Operation::Replace, path, errno))?;
    let what = Move::of(*action);
    let captured = before.find_stamp(path);
    let changed = match what {
        Move::In => standing.is_some(),
        Move::Out | Move::Exchange => {
            standing.is_none() || (captured.is_some() && captured != standing)
        }
    };
    match changed {
        true => Err(changed_meanwhile(path)),
        false => Ok(Step { what, path: path.clone(), name: name.clone(), standing, waiting }),
    }
}

fn changed_meanwhile(path: &TreePath) -> Error {
    Error::new(Operation::Replace, ErrorKind::Conflict)
        .with_path(path)
        .with_detail("somebody changed it meanwhile; nothing was replaced, try again")
}

fn run(places: &Places<'_>, steps: &[Step], staged: &mut [Staged]) -> Result<()> {
    for (done, step) in steps.iter().enumerate() {
        if let Err(errno) = places.forward(step) {
            for (step, staged) in steps[..done].iter().zip(&mut staged[..done]).rev() {
                // What cannot be undone stays in the staging directory, and the next process goes on.
                staged.stuck = places.back(step).is_err();
            }
            return Err(match errno {
                Errno::STALE => changed_meanwhile(&step.path),
                _ => failure::any(Operation::Replace, &step.path, errno),
            });
        }
    }
    Ok(())
}
