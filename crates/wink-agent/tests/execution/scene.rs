//! Workspaces with an executor, and commands in them.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use wink_agent::exec::{Executed, HostExecutor, ScriptedExecutor};
use wink_agent::{ToolContext, ToolError, ToolResult, Toolset};
use wink_fs::{
    Exclusions, ExecutionPlace, Store, TreeHash, TreePath, Workspace, WriteOptions, ops,
};

/// A directory with a history, and programs that can be run in it.
pub(crate) struct Scene {
    pub(crate) files: Workspace,
    pub(crate) root: PathBuf,
    pub(crate) executor: Arc<HostExecutor>,
    pub(crate) context: ToolContext,
    _place: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::excluding([])
    }

    pub(crate) fn excluding<const N: usize>(patterns: [&str; N]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let (root, store) = (place.path().join("root"), place.path().join("store"));
        std::fs::create_dir(&root).unwrap();
        let store = Store::create_ambient(&store).unwrap();
        let exclusions = Exclusions::parse(patterns).unwrap();
        let files = Workspace::host_builder(&root, store).unwrap().exclude(exclusions).build();
        let executor = Arc::new(HostExecutor::unsafe_on_this_machine().unwrap());
        let context = ToolContext::over(&files).executor(executor.clone());
        Self { files, root, executor, context, _place: place }
    }

    /// Runs a command that must be run, however it ends.
    pub(crate) fn run(&self, command: &str) -> ToolResult {
        self.run_with(json!({ "command": command }))
    }

    pub(crate) fn run_with(&self, arguments: Value) -> ToolResult {
        let result = shell(&self.context, arguments);
        assert!(result.ok(), "{}", result.message);
        result
    }
}

pub(crate) fn shell(context: &ToolContext, arguments: Value) -> ToolResult {
    Toolset::ALL.call(context, "shell_execute", arguments)
}

/// Returns what tells one state of the files from another.
pub(crate) fn hash(files: &Workspace) -> TreeHash {
    wink_fs::tree_hash(&*files.tree()).unwrap()
}

/// Changes files as a program would, and then ends as it is told.
pub(crate) fn changing(
    end: impl Fn() -> Result<Executed, ToolError> + Send + Sync + 'static,
) -> ScriptedExecutor {
    ScriptedExecutor::new(move |_, place| {
        change(place)?;
        end()
    })
}

fn change(place: &mut ExecutionPlace<'_>) -> wink_fs::Result<()> {
    let options = WriteOptions::default();
    ops::write(place.files, &TreePath::parse("new/file.txt")?, "new", &options)?;
    ops::write(place.files, &TreePath::parse("kept.txt")?, "changed", &options)?;
    Ok(())
}

/// Does the same on each backend, with a history.
pub(crate) fn on_each_backend(test: impl Fn(&Workspace)) {
    test(&Workspace::memory());
    test(&Scene::new().files);
}
