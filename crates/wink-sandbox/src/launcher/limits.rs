//! Resource limits of every program.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::SandboxError;

/// The most that a process may have of a resource; where the caller has less, that stays.
const LIMITS: [(Resource, u64); 4] = [
    // A core may hold what no file should.
    (Resource::Core, 0),
    (Resource::Fsize, 16 << 30),
    (Resource::Nofile, 65_536),
    // Of the user as a whole: a fork bomb leaves the user's own processes some room.
    (Resource::Nproc, 8_192),
];

/// How much sooner than others a program is killed when memory runs out.
const OOM_SCORE: &str = "500";

/// Applies the limits to this process, for the program to inherit.
#[allow(clippy::disallowed_methods, reason = "the file is the kernel's")]
pub(super) fn apply() -> Result<(), SandboxError> {
    for (resource, most) in LIMITS {
        let now = getrlimit(resource);
        let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        let limit = Rlimit { current: least(now.current), maximum: least(now.maximum) };
        setrlimit(resource, limit)
            .map_err(|error| SandboxError::failed("limit its resources", error))?;
    }
    // A kindness to the rest of the machine, which some containers do not allow.
    let _ = fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    Ok(())
}
