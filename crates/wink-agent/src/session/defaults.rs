//! What every session does from its beginning.

use super::dispatch::Rules;
use super::files::listing::{VirtualFileSystem, follow};
use super::files::snapshot_ref::FilesystemSnapshotRef;
use super::reducers::append_all;
use super::tool_invoked::ToolInvoked;

/// Returns the reducers of the slices that this crate itself fills.
pub(super) fn rules() -> Rules {
    let mut rules = Rules::default();
    rules.add_own(append_all::<ToolInvoked>);
    rules.add_own(append_all::<FilesystemSnapshotRef>);
    rules.add_own::<VirtualFileSystem, _, _>(follow);
    rules
}
