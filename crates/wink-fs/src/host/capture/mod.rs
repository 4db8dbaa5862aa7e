//! The files of a directory at one moment, without copying them.
//!
//! A walk looks at every entry and reads none. It started at some moment; an entry whose stamp is
//! older than that was the same then, so when all stamps are, the walk saw the files of that moment.
//! Otherwise another process is writing, and the walk is done again.

pub(super) mod bytes;
pub(super) mod index;
pub(crate) mod index_file;
mod learn;
pub(super) mod stamp;
pub(super) mod tree;
mod visit;
mod walk;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use self::index::Index;
use self::stamp::Moment;
use self::tree::Captured;
use self::visit::Visitor;
use self::walk::{Walked, walk};
use super::HostTree;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::capture::Capture;
use crate::tree::scope::Scope;

/// How often a walk is done again because another process writes meanwhile.
const TRIES: usize = 4;

/// The kernel's clock of stamps goes on every one to ten milliseconds.
const TICK: Duration = Duration::from_millis(1);
const TICKS: usize = 12;

/// Captures what is in scope, and the directories above it.
pub(super) fn capture(host: &Arc<HostTree>, scope: &Scope) -> Result<Capture> {
    let index = host.index();
    let mut previous: Option<Walked> = None;
    let is_with = index.is_with(scope.excluded(), &host.mounting);
    let unsettled = if is_with { None } else { index.unsettled_from() };
    let mut trusting = scope.starts().is_empty() && is_with;
    for _ in 0..TRIES {
        let after = previous.as_ref().map_or(host.last_change(), |walked| walked.newest);
        let moment = wait_until_after(after);
        let walked = match walk(&Visitor { host, index: &index, scope, trusting, unsettled }) {
            // Something went while it was looked at, or lies below another file system now.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                (previous, trusting) = (None, false);
                continue;
            }
            walked => walked?,
        };
        let same = previous.is_some_and(|previous| walked.is_same_as(&previous));
        if walked.newest < moment || same {
            let mut capture = finish(host, index, scope, walked, moment);
            // Else what is true by now would never be written down.
            capture.unlearnt = capture.unlearnt.max(u64::from(!is_with));
            return Ok(capture);
        }
        previous = Some(walked);
    }
    Err(Error::new(Operation::Capture, ErrorKind::Conflict).with_detail(
        "files change all the time while they are captured; \
         stop what writes to them, or exclude them, and try again",
    ))
}

/// Waits, but not for long, for the clock to pass a stamp; returns the moment it is then.
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
    let Walked { directories, totals, not_captured, .. } = walked;
    let unlearnt = directories.iter().filter(|directory| directory.hash.is_none()).count();
    let (host, excluded) = (host.clone(), scope.excluded().clone());
    let open_for_writing = Mutex::default();
    let captured = Captured { host, directories, index, excluded, moment, open_for_writing };
    let mut capture = Capture::new(Arc::new(captured), totals);
    capture.not_captured = not_captured;
    capture.unlearnt = unlearnt as u64;
    capture
}
