//! What the tools of the history share: states and forks by name, lists of changes, paths that no state has.

pub(crate) mod archive_filter;
pub(crate) mod changes;
pub(crate) mod forks;
pub(crate) mod missing_path;
pub(crate) mod state;
