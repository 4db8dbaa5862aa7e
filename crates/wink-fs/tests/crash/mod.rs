//! A process is killed at every system call it makes; the next one that opens the workspace finds the old
//! state or the new one, whole snapshots, and nothing of ours in view.
//!
//! By default some calls of each kind of work are tried. With `WINK_CRASH_ALL` in the environment, as
//! `scripts/crash` sets it, all of them are.

mod errors;
mod git_prune;
mod going_on;
mod kills;
mod locks;
mod meanwhile;
mod mounted;
mod person;
mod prune;
mod recovery;
mod scene;
