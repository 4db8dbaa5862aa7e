//! Progress of long work, and the threads that parallel work runs on.

pub(crate) mod parallel;
pub(crate) mod progress;
