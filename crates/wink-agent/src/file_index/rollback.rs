//! Changes of calls that failed.

use wink_fs::{OperationCause, OperationRecord, TreePath, Workspace};

use crate::session::FileChange;

/// The paths of calls that were then rolled back.
#[derive(Debug, Default)]
pub(super) struct TakenBack {
    touched: Vec<TreePath>,
    /// What calls changed that went well.
    recorded: Vec<TreePath>,
}

impl TakenBack {
    /// Compares the reported changes with the operations after a number, if they are kept.
    pub(super) fn of<'a>(
        heard: impl Iterator<Item = &'a FileChange>,
        workspace: &Workspace,
        after: u64,
    ) -> Self {
        let touched: Vec<_> = heard.flat_map(paths).cloned().collect();
        let operations =
            if touched.is_empty() { return Self::default() } else { workspace.operations() };
        // A workspace without an operation log rolls nothing back.
        let Ok(operations) = operations else { return Self::default() };
        // What took a call back is recorded too, and changed nothing that was there before the call.
        let is_call = |it: &OperationRecord| it.cause != OperationCause::Recovery;
        let new = operations.into_iter().filter(|it| it.sequence > after && is_call(it));
        let recorded = new.flat_map(|operation| operation.changes).map(|change| change.path);
        Self { touched, recorded: recorded.collect() }
    }

    pub(super) fn has(&self, path: &TreePath) -> bool {
        let is_below = |paths: &[TreePath]| paths.iter().any(|other| path.starts_with(other));
        is_below(&self.touched) && !is_below(&self.recorded)
    }
}

/// Returns the paths that a change is about.
pub(super) fn paths(change: &FileChange) -> Vec<&TreePath> {
    match change {
        FileChange::Written { path, .. } | FileChange::Removed { path } => vec![path],
        FileChange::Renamed { from, to } => vec![from, to],
    }
}

/// Returns the number of the last recorded operation.
pub(super) fn last_operation(workspace: &Workspace) -> u64 {
    let operations = workspace.operations().unwrap_or_default();
    operations.last().map_or(0, |operation| operation.sequence)
}
