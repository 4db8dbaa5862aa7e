//! Workspaces whose programs run in a container, against Podman's own commands and plain directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tempfile::TempDir;
use wink_agent::exec::Executor as _;
use wink_agent::{ToolContext, find};
use wink_fs::{HostBackend, SnapshotOptions, Store, Tree as _, TreePath, Workspace};
use wink_podman::{PodmanExecutor, PodmanOptions};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, SEED, output_of};
use crate::measure::{Measured, alone, side_by_side, timed_ms};
use crate::source_tree::{self, Shape};

pub(super) const READ_VS_EXEC: Case =
    Case::new("podman-read-vs-exec", "a file of a container workspace read", 500.0, read_vs_exec);

pub(super) const READ_VS_HOST: Case = Case::new(
    "podman-read-vs-host",
    "2,000 reads of a file of a container workspace",
    0.8,
    read_vs_host,
);

pub(super) const SHELL_VS_EXEC: Case = Case::new(
    "podman-shell-vs-exec",
    "`true` by shell_execute at 1,000 files, changes found and recorded",
    10.0,
    shell_vs_exec,
);

pub(super) const SHELL_RAW: Case =
    Case::new("podman-shell-raw", "`true` by shell_execute without a history", 1.0, shell_raw);

pub(super) const SNAPSHOT_VS_HOST: Case = Case::new(
    "podman-snapshot-vs-host",
    "an unchanged container workspace of 30,000 files",
    0.8,
    snapshot_vs_host,
);

pub(super) const START: Case =
    Case::new("podman-start", "from nothing to the first command's answer", 0.7, start);

const IMAGE: &str = "localhost/wink-bench-busybox:1";

const BUDGET_MS: f64 = 3.0;

const READS: usize = 2_000;

/// A directory, and what runs programs in it.
struct Scene {
    // Before the directory, which the container has mounted.
    executor: Arc<PodmanExecutor>,
    place: TempDir,
}

impl Scene {
    fn new(context: &Context, files: usize) -> Result<Self> {
        make_image()?;
        let place = context.fresh_dir()?;
        let root = place.path().join("root");
        if files == 0 {
            fs::create_dir(&root)?;
        } else {
            source_tree::generate(&root, Shape { files, seed: SEED })?;
        }
        fs::write(root.join("one.txt"), "one\n")?;
        Ok(Self { executor: Arc::new(executor()?), place })
    }

    fn root(&self) -> std::path::PathBuf {
        self.place.path().join("root")
    }

    /// Starts the container, and returns its name.
    fn container(&self) -> Result<String> {
        self.executor.start(&self.root()).map_err(|problem| anyhow::anyhow!("{problem}"))?;
        self.executor.container_name().context("each command has a container of its own here")
    }

    fn backend(&self) -> Result<HostBackend> {
        let root = self.root();
        Ok(HostBackend::open_ambient_with(&root, &wink_podman::host_options(&root))?)
    }
}

fn executor() -> Result<PodmanExecutor> {
    let options = PodmanOptions::default().allow_image(IMAGE)?.image(IMAGE)?;
    Ok(PodmanExecutor::new(options)?)
}

/// Makes an image of static busybox, unless it is there from an earlier run.
fn make_image() -> Result<()> {
    if podman(&["image", "exists", IMAGE]).status()?.success() {
        return Ok(());
    }
    let root = tempfile::tempdir()?;
    fs::create_dir(root.path().join("bin"))?;
    fs::copy("/bin/busybox", root.path().join("bin/busybox"))
        .context("busybox-static is missing")?;
    for applet in ["sh", "true", "cat"] {
        symlink("busybox", root.path().join("bin").join(applet))?;
    }
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(root.path()).args(["-cf", "-", "."]).stdout(Stdio::piped());
    let tar = tar.spawn()?.stdout.context("tar has an output")?;
    output_of(podman(&["import", "-", IMAGE]).stdin(tar))?;
    Ok(())
}

fn podman(args: &[&str]) -> Command {
    let mut command = Command::new("podman");
    command.args(args);
    command
}

fn exec(container: &str, command: &[&str]) -> Result<Measured<Vec<u8>>> {
    let mut command_line = podman(&["exec", container]);
    command_line.args(command);
    timed_ms(|| output_of(&mut command_line))
}

fn read_vs_exec(context: &Context) -> Result<Outcome> {
    let scene = Scene::new(context, 0)?;
    let container = scene.container()?;
    let path = TreePath::parse("one.txt")?;
    let (ours, theirs) = side_by_side(
        || {
            let backend = scene.backend()?;
            timed_ms(|| Ok(backend.open(&path)?.read_all()?.to_vec()))
        },
        || exec(&container, &["cat", "/workspace/one.txt"]),
    )?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "podman",
            command: "podman exec CTR cat FILE".into(),
            samples: theirs,
        },
        ours,
        unit: "ms",
        place: context.warm(&scene.root())?,
        note: "one file of four bytes".into(),
    })
}

fn reads(backend: &HostBackend) -> Result<Measured<usize>> {
    let path = TreePath::parse("one.txt")?;
    timed_ms(|| {
        let mut bytes = 0;
        for _ in 0..READS {
            bytes += backend.open(&path)?.read_all()?.len();
        }
        Ok(bytes)
    })
}

fn read_vs_host(context: &Context) -> Result<Outcome> {
    let scene = Scene::new(context, 0)?;
    scene.container()?;
    let (ours, theirs) = side_by_side(
        || reads(&scene.backend()?),
        || reads(&HostBackend::open_ambient(scene.root())?),
    )?;
    Ok(Outcome {
        peer: Peer::Measured { name: "host", command: "the host backend".into(), samples: theirs },
        ours,
        unit: "ms",
        place: context.warm(&scene.root())?,
        note: "open and read_all, while the container is there".into(),
    })
}

/// Runs `true` by the tool, from JSON to the message.
fn run_true(context: &ToolContext) -> Result<Measured<Vec<u8>>> {
    let tool = find("shell_execute").context("there is no such tool")?;
    let ran = timed_ms(|| Ok(tool.call(context, json!({"command": "true"}))))?;
    ensure!(ran.result.message.contains("exit code 0"), "{}", ran.result.message);
    Ok(ran.with_result(Vec::new()))
}

fn shell_vs_exec(context: &Context) -> Result<Outcome> {
    let scene = Scene::new(context, 1_000)?;
    let container = scene.container()?;
    let store = Store::create_ambient(scene.place.path().join("store"))?;
    let files = wink_podman::builder(scene.root(), store)?.build();
    let tools = ToolContext::over(&files).executor(scene.executor.clone());
    let (ours, theirs) = side_by_side(|| run_true(&tools), || exec(&container, &["true"]))?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "podman",
            command: "podman exec CTR true".into(),
            samples: theirs,
        },
        ours,
        unit: "ms",
        place: context.warm(&scene.root())?,
        note: "two captures of the files and an operation in the history are ours alone".into(),
    })
}

fn shell_raw(context: &Context) -> Result<Outcome> {
    let scene = Scene::new(context, 1_000)?;
    scene.container()?;
    let files = Workspace::builder(scene.backend()?).build();
    let tools = ToolContext::over(&files).executor(scene.executor.clone());
    let ours = alone(&Vec::new(), || run_true(&tools))?;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours,
        unit: "ms",
        place: context.warm(&scene.root())?,
        note: "warm, by the supervisor".into(),
    })
}

fn snapshot(files: &Workspace) -> Result<Measured<u64>> {
    let taken = timed_ms(|| Ok(files.snapshot_with(&SnapshotOptions::default())?))?;
    let count = taken.result.file_count;
    Ok(taken.with_result(count))
}

fn snapshot_vs_host(context: &Context) -> Result<Outcome> {
    let scene = Scene::new(context, 30_000)?;
    scene.container()?;
    let store = |name: &str| Store::create_ambient(scene.place.path().join(name));
    let ours = wink_podman::builder(scene.root(), store("ours")?)?.build();
    let theirs = Workspace::host_with_store(scene.root(), store("theirs")?)?;
    context.settle()?;
    let (ours, theirs) = side_by_side(|| snapshot(&ours), || snapshot(&theirs))?;
    Ok(Outcome {
        peer: Peer::Measured { name: "host", command: "a host workspace".into(), samples: theirs },
        ours,
        unit: "ms",
        place: context.warm(&scene.root())?,
        note: "in one process, the container there".into(),
    })
}

fn start(context: &Context) -> Result<Outcome> {
    let scene = Scene::new(context, 0)?;
    let root = scene.root();
    let (ours, theirs) = side_by_side(
        || first_answer(&root),
        || {
            let mut run = podman(&["run", "--rm", "--network=none", IMAGE, "/bin/true"]);
            let ran = timed_ms(|| output_of(&mut run))?;
            Ok(ran.with_result(()))
        },
    )?;
    Ok(Outcome {
        peer: Peer::Measured {
            name: "podman",
            command: "podman run --rm --network=none IMAGE true".into(),
            samples: theirs,
        },
        ours,
        unit: "ms",
        place: context.warm(&root)?,
        note: "the container is removed after the measurement; Podman's own is removed within it"
            .into(),
    })
}

fn first_answer(root: &Path) -> Result<Measured<()>> {
    let executor = Arc::new(executor()?);
    let backend = HostBackend::open_ambient_with(root, &wink_podman::host_options(root))?;
    let files = Workspace::builder(backend).build();
    let tools = ToolContext::over(&files).executor(executor.clone());
    let ran = run_true(&tools)?;
    executor.stop();
    Ok(ran.with_result(()))
}
