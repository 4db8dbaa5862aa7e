//! Workspaces whose programs run in containers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use wink_agent::{ToolContext, ToolResult, Toolset};
use wink_fs::{Store, Workspace};
use wink_podman::{PodmanExecutor, PodmanOptions};

pub(crate) use crate::images::{BUSYBOX, PYTHON, make_image, podman, podman_in, script};

/// A directory with a history whose programs run in a container.
pub(crate) struct Scene {
    // Before the place, which has Podman in it.
    pub(crate) context: ToolContext,
    pub(crate) executor: Arc<PodmanExecutor>,
    pub(crate) files: Workspace,
    pub(crate) root: PathBuf,
    pub(crate) podman: PathBuf,
    pub(crate) place: PathBuf,
    _place: Option<TempDir>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(BUSYBOX, |options| options)
    }

    pub(crate) fn with(image: &str, set: impl FnOnce(PodmanOptions) -> PodmanOptions) -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut scene = Self::in_place(place.path(), image, set);
        scene._place = Some(place);
        scene
    }

    /// Opens the workspace of a place, which is made if it is not there.
    pub(crate) fn in_place(
        place: &Path,
        image: &str,
        set: impl FnOnce(PodmanOptions) -> PodmanOptions,
    ) -> Self {
        let (root, store) = (place.join("root"), place.join("store"));
        fs::create_dir_all(&root).unwrap();
        let store = Store::create_ambient(&store).or_else(|_| Store::open_ambient(&store)).unwrap();
        let podman = podman_in(place);
        make_image(&podman, image);
        let options = PodmanOptions::default().allow_image(image).unwrap().image(image).unwrap();
        let options = set(options.program(&podman));
        let files = wink_podman::builder(&root, store).unwrap().build();
        let executor = Arc::new(PodmanExecutor::new(options).unwrap());
        let context = ToolContext::over(&files).executor(executor.clone());
        Self { context, executor, files, root, podman, place: place.to_owned(), _place: None }
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        Toolset::ALL.call(&self.context, tool, arguments)
    }

    /// Runs a command that must be run, however it ends.
    pub(crate) fn run(&self, command: &str) -> ToolResult {
        let result = self.call("shell_execute", json!({ "command": command }));
        assert!(result.ok(), "{}", result.message);
        result
    }

    /// Returns the ids of all processes of the container, as the host sees them.
    pub(crate) fn processes(&self) -> Vec<String> {
        let name = self.executor.container_name().expect("a container");
        let listed = podman(&self.podman, &["top", &name, "hpid"]);
        listed.lines().skip(1).map(|line| line.trim().to_owned()).collect()
    }
}

/// Returns what a command printed.
pub(crate) fn stdout(result: &ToolResult) -> &str {
    let message = &result.message;
    let after = message.split_once("\nstdout, ").map_or("", |(_, after)| after);
    let text = after.split_once(":\n").map_or("", |(_, text)| text);
    text.split("\nstderr").next().unwrap_or_default()
}
