//! Captures the files of a directory at one moment, without copying them.
//!
//! A walk stats every entry and reads none. An entry whose stamp is older than the start of the walk was the same at
//! that start, so if all stamps are older, the walk saw the files of one moment. Otherwise another process is writing,
//! and the walk is repeated.

pub(super) mod index;
pub(crate) mod index_file;
mod learn;
pub(super) mod stamp;
pub(super) mod tree;
mod visit;
mod walk;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use self::index::Index;
use self::stamp::Moment;
use self::tree::Captured;
use self::visit::Visitor;
use self::walk::{Walked, walk};
use super::HostTree;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::tree::scope::Scope;

/// How many walks are tried while other processes write.
const TRIES: usize = 4;

/// The kernel's file clock ticks every one to ten milliseconds.
const TICK: Duration = Duration::from_millis(1);
const TICKS: usize = 12;

/// Captures everything in scope, and the directories above it.
pub(super) fn capture(host: &Arc<HostTree>, scope: &Scope) -> Result<Capture> {
    let index = host.index();
    let mut previous: Option<Walked> = None;
    let matches_scope = index.matches_scope(scope.excluded(), &host.mount_id);
    let unsettled = if matches_scope { None } else { index.unsettled_from() };
    let mut last_error = None;
    let mut trusting = scope.starts().is_empty() && matches_scope;
    for turn in 1..=TRIES {
        let after = previous.as_ref().map_or(host.last_change(), |walked| walked.newest);
        // A capture right after our own write would find its stamp as new as the walk, and repeat every walk.
        let moment = wait_until_after(after);
        let mut walked = match walk(&Visitor { host, index: &index, scope, trusting, unsettled }) {
            // An entry disappeared during the walk, or something was mounted over it, which no directory's stamp shows:
            // read every directory this time.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                (previous, trusting) = (None, false);
                last_error = Some(error);
                continue;
            }
            walked => walked?,
        };
        let same = previous.as_ref().is_some_and(|previous| walked.is_same_as(previous));
        // Strictly older: a change in the tick in which the walk began has the same time as its start.
        let mut is_settled = walked.newest < moment || same;
        if let Some(previous) = previous.as_ref().filter(|_| !is_settled && turn == TRIES) {
            walked.keep_settled(previous, &index);
            is_settled = true;
        }
        if is_settled {
            let mut capture = finish(host, index, scope, walked, moment);
            // With other exclusions or after a reboot, nothing counts as new, and the index would keep its old scope
            // hash for ever.
            capture.unlearnt = capture.unlearnt.max(u64::from(!matches_scope));
            return Ok(capture);
        }
        previous = Some(walked);
    }
    Err(last_error.unwrap_or_else(|| {
        Error::new(Operation::Capture, ErrorKind::Conflict).with_detail(
            "files change all the time while they are captured; \
             stop what writes to them, or exclude them, and try again",
        )
    }))
}

/// Waits briefly until the clock has passed a stamp, and returns the time.
fn wait_until_after(stamp: Moment) -> Moment {
    for _ in 0..TICKS {
        if Moment::now() > stamp {
            break;
        }
        thread::sleep(TICK);
    }
    Moment::now()
}

fn finish(
    host: &Arc<HostTree>,
    index: Arc<Index>,
    scope: &Scope,
    walked: Walked,
    moment: Moment,
) -> Capture {
    let Walked { directories, totals, not_captured, is_settled, .. } = walked;
    let unlearnt = directories.iter().filter(|directory| directory.hash.is_none()).count();
    let host = host.clone();
    let excluded = scope.excluded().clone();
    let open_for_writing = Mutex::default();
    let captured = Captured { host, directories, index, excluded, moment, open_for_writing };
    let mut capture = Capture::new(Arc::new(captured), totals);
    capture.not_captured = not_captured;
    capture.point_in_time = is_settled;
    capture.unlearnt = unlearnt as u64;
    capture
}
