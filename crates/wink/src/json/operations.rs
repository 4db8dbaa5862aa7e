//! What `wink undo` and `wink redo` print as JSON.

use serde::Serialize;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Stepped {
    /// `undo`, `redo` or `skip`.
    pub(crate) action: &'static str,
    /// The operation that was taken back or done again; of several the last.
    pub(crate) operation: OperationEntry,
    /// All of them, in the order in which it was done.
    pub(crate) operations: Vec<OperationEntry>,
    /// How many were asked for.
    pub(crate) asked: u64,
    /// What is as it was.
    pub(crate) paths: Vec<String>,
    /// The paths that were left alone, because they have changed since.
    pub(crate) conflicts: Vec<String>,
    /// Why it went no further, where fewer were done than were asked for.
    pub(crate) stopped: Option<String>,
    /// The numbers of damaged operations that were passed over: one of them may have been meant.
    pub(crate) passed_over: Vec<u64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OperationEntry {
    pub(crate) sequence: u64,
    pub(crate) name: String,
    pub(crate) at: String,
}
