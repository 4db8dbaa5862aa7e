//! Workspaces with a history, and calls on them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use wink_agent::{ToolContext, ToolResult, Toolset};
use wink_fs::{Clock, MemoryBackend, Store, TreeHash, Workspace};

/// A clock that stands still.
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// Makes a workspace in memory in which it is always 1970.
pub(crate) fn timeless() -> Workspace {
    Workspace::builder(MemoryBackend::new()).clock(Arc::new(Stopped)).build()
}

/// Does the same on each backend.
pub(crate) fn on_each_backend(test: impl Fn(&Workspace)) {
    test(&Workspace::memory());
    let place = tempfile::tempdir().unwrap();
    let (root, store) = (place.path().join("root"), place.path().join("store"));
    std::fs::create_dir(&root).unwrap();
    test(&Workspace::host_with_store(&root, Store::create_ambient(&store).unwrap()).unwrap());
}

pub(crate) fn call(context: &ToolContext, name: &str, arguments: Value) -> ToolResult {
    Toolset::ALL.call(context, name, arguments)
}

/// Calls a tool that must succeed.
pub(crate) fn done(context: &ToolContext, name: &str, arguments: Value) -> ToolResult {
    let result = call(context, name, arguments);
    assert!(result.ok(), "{name}: {}", result.message);
    result
}

/// Returns what tells one state of the files from another.
pub(crate) fn hash(files: &Workspace) -> TreeHash {
    wink_fs::tree_hash(&*files.tree()).unwrap()
}

/// Makes the calls in order and shows each with its answer; ids of snapshots are numbered.
pub(crate) fn transcript(context: &ToolContext, calls: &[(&str, Value)]) -> String {
    let mut text = String::new();
    for (name, arguments) in calls {
        let ToolResult { message, value, .. } = call(context, name, arguments.clone());
        let _ = writeln!(text, "> {name} {arguments}\n{message}\n= {value}\n");
    }
    let snapshots = context.workspace.as_ref().unwrap().snapshots().unwrap();
    for (number, snapshot) in (1..).zip(snapshots) {
        text = text.replace(&snapshot.id.short(), &format!("snapshot{number}"));
        text = text.replace(&snapshot.id.to_string(), &format!("id-of-snapshot-{number}"));
    }
    text
}
