//! A workspace on every backend, and calls on it.

use serde_json::Value;
use wink_agent::{ToolContext, ToolResult, call};
use wink_fs::{Store, TreeHash, Workspace};

/// Does the same on each backend.
pub(crate) fn on_each_backend(test: impl Fn(&Workspace)) {
    test(&Workspace::memory());
    let place = tempfile::tempdir().unwrap();
    let (root, store) = (place.path().join("root"), place.path().join("store"));
    std::fs::create_dir(&root).unwrap();
    test(&Workspace::host_with_store(&root, Store::create_ambient(&store).unwrap()).unwrap());
}

/// Calls a tool that must succeed.
pub(crate) fn done(context: &ToolContext, name: &str, arguments: Value) -> ToolResult {
    let result = call(context, name, arguments);
    assert!(result.ok(), "{name}: {}", result.message);
    result
}

/// Calls a tool that must be refused, and returns the code.
pub(crate) fn refused(context: &ToolContext, name: &str, arguments: Value) -> &'static str {
    let result = call(context, name, arguments);
    result.code().unwrap_or_else(|| panic!("{name} did it: {}", result.message))
}

/// Returns what tells one state of the files from another.
pub(crate) fn hash(files: &Workspace) -> TreeHash {
    wink_fs::tree_hash(&*files.tree()).unwrap()
}
