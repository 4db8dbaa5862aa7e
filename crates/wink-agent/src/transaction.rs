//! A call that changes files: all of it or nothing, and again where somebody else was faster.

use wink_fs::{Error, ErrorKind, Filesystem, Operation, Workspace};

use crate::refusal::Refusal;

/// How often a change starts again because somebody else changed the file meanwhile.
const TRIES: usize = 8;

/// Changes files as one operation, which a refusal takes back.
pub(crate) fn transact<T>(
    workspace: &Workspace,
    name: &str,
    work: impl FnOnce(&mut dyn Filesystem) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let mut refused = None;
    let done = workspace.as_agent(name, |fs| {
        work(fs).map_err(|refusal| {
            let kind = refusal.kind();
            refused = Some(refusal);
            Error::new(Operation::Write, kind)
        })
    });
    done.map_err(|error| refused.unwrap_or_else(|| error.into()))
}

/// Looks again and does it again while another process changes what was looked at.
///
/// What it does must be right for whatever it finds, as an edit is whose text must be there once.
pub(crate) fn retried<T>(mut attempt: impl FnMut() -> Result<T, Refusal>) -> Result<T, Refusal> {
    for _ in 1..TRIES {
        match attempt() {
            Err(refusal) if refusal.kind() == ErrorKind::Conflict => {}
            result => return result,
        }
    }
    attempt()
}
