//! What coding agents wait for: hooks, and programs in the sandbox.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tempfile::TempDir;

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, output_of};
use crate::measure::{Measured, alone, side_by_side, timed_ms};

/// Files of the workspace.
const FILES: usize = 30_000;

/// Hooks whose 95th percentile is one repetition.
const HOOKS: usize = 50;

const PROMPT_BUDGET_MS: f64 = 80.0;
const CALL_BUDGET_MS: f64 = 15.0;
const RUN_BUDGET_MS: f64 = 150.0;

pub(super) const HOOK_PROMPT: Case =
    Case::new("hook-prompt", "`wink hook` at a prompt, nothing changed", 1.0, |context| {
        hook(context, "UserPromptSubmit", PROMPT_BUDGET_MS)
    });

pub(super) const HOOK_CALL: Case =
    Case::new("hook-call", "`wink hook` after a call, until it ends", 1.0, |context| {
        hook(context, "PostToolUse", CALL_BUDGET_MS)
    });

pub(super) const RUN_VS_BWRAP: Case =
    Case::new("run-vs-bwrap", "`wink run --no-snapshot -- true`", 1.0, run_vs_bwrap);

pub(super) const RUN_VS_PLAIN: Case =
    Case::new("run-vs-plain", "`wink run -- true`, less `true` alone", 1.0, run_vs_plain);

/// A workspace with a history of its own.
struct Scene {
    root: PathBuf,
    data: TempDir,
    program: PathBuf,
}

impl Scene {
    fn new(context: &Context) -> Result<Self> {
        let program = std::env::current_exe()?.with_file_name("wink");
        let scene = Self { root: context.source_tree(FILES)?, data: context.fresh_dir()?, program };
        output_of(scene.wink().arg("init"))?;
        output_of(scene.wink().arg("snapshot"))?;
        Ok(scene)
    }

    fn wink(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.root).env("XDG_DATA_HOME", self.data.path());
        command
    }
}

fn hook(context: &Context, event: &str, budget: f64) -> Result<Outcome> {
    let scene = Scene::new(context)?;
    let mut number = 0_u64;
    let ours = alone(&(), || {
        let mut times = Vec::with_capacity(HOOKS);
        for _ in 0..HOOKS {
            number += 1;
            let id = number.to_string();
            let payload = json!({
                "hook_event_name": event, "session_id": "bench", "cwd": scene.root, "prompt_id": id, "tool_use_id": id,
                "tool_name": "Bash", "tool_input": {"command": "true"},
            });
            times.push(timed_ms(|| fire(&scene, &payload.to_string()))?.value);
        }
        times.sort_by(f64::total_cmp);
        Ok(Measured { value: times[HOOKS * 95 / 100], result: () })
    })?;
    Ok(Outcome {
        peer: Peer::Budget(budget),
        ours,
        unit: "ms",
        place: context.warm(&scene.root)?,
        note: format!("95th percentile of {HOOKS}, {FILES} files"),
    })
}

fn fire(scene: &Scene, payload: &str) -> Result<()> {
    let mut command = scene.wink();
    let mut child = command.arg("hook").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    child.stdin.take().context("a pipe")?.write_all(payload.as_bytes())?;
    ensure!(child.wait()?.success(), "the hook failed");
    Ok(())
}

fn run_vs_plain(context: &Context) -> Result<Outcome> {
    let scene = Scene::new(context)?;
    let ours = alone(&(), || {
        let plain = timed_ms(|| output_of(Command::new("true").current_dir(&scene.root)))?.value;
        let run = timed_ms(|| output_of(scene.wink().args(["run", "--", "true"])))?.value;
        Ok(Measured { value: run - plain, result: () })
    })?;
    Ok(Outcome {
        peer: Peer::Budget(RUN_BUDGET_MS),
        ours,
        unit: "ms",
        place: context.warm(&scene.root)?,
        note: format!("snapshot and comparison of {FILES} files included"),
    })
}

fn run_vs_bwrap(context: &Context) -> Result<Outcome> {
    let scene = Scene::new(context)?;
    let (ours, theirs) = side_by_side(
        || {
            timed_ms(|| {
                output_of(scene.wink().args(["run", "--no-snapshot", "--", "true"])).map(drop)
            })
        },
        || timed_ms(|| output_of(&mut bwrap(&scene.root)).map(drop)),
    )?;
    let command = "bwrap --ro-bind / / --bind ROOT ROOT --dev /dev --proc /proc --tmpfs /tmp --unshare-all \
                   --new-session --die-with-parent true";
    Ok(Outcome {
        peer: Peer::Measured { name: "bwrap", command: command.to_owned(), samples: theirs },
        ours,
        unit: "ms",
        place: context.warm(&scene.root)?,
        note: "bwrap hides nothing that can be read, and has no filter of system calls".to_owned(),
    })
}

fn bwrap(root: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--ro-bind", "/", "/", "--tmpfs", "/tmp", "--bind"]).arg(root).arg(root);
    command.args(["--dev", "/dev", "--proc", "/proc", "--unshare-all", "--new-session"]);
    command.args(["--die-with-parent", "true"]).current_dir("/");
    command
}
