//! Small files read and written by tools on the host, against the plain system calls.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use wink_agent::ToolContext;
use wink_agent::session::Session;
use wink_fs::{Store, Workspace};

use super::{call, tool};
use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::measure::{Measured, side_by_side, timed_ms};
use crate::small_files::{self, SmallFile};

pub(crate) const READ: Case =
    Case::new("tool-read-host", "10,000 small files by read_file", 0.33, |context| {
        let (files, root) = (small_files::files()?, context.fresh_dir()?);
        let root = prepared(root.path())?;
        files.iter().try_for_each(|file| fs::write(root.join(&file.name), &file.content))?;
        let (ours, theirs) =
            side_by_side(|| read_ours(&root, &files), || read_theirs(&root, &files))?;
        outcome(context, "std::fs::read", ours, theirs)
    });

pub(crate) const WRITE: Case =
    Case::new("tool-write-host", "10,000 small new files by write_file", 0.33, |context| {
        let files = small_files::files()?;
        let (ours, theirs) = side_by_side(
            || in_fresh_root(context, |root| write_ours(root, &files)),
            || in_fresh_root(context, |root| write_theirs(root, &files)),
        )?;
        outcome(context, "std::fs::write to a temporary name, std::fs::rename", ours, theirs)
    });

pub(crate) const OVERWRITE: Case = Case::new(
    "tool-overwrite-host",
    "10,000 small files replaced by write_file",
    0.33,
    |context| {
        let files = small_files::files()?;
        let (ours, theirs) = side_by_side(
            || in_fresh_root(context, |root| overwrite_ours(root, &files)),
            || in_fresh_root(context, |root| overwrite_theirs(root, &files)),
        )?;
        outcome(context, "std::fs::write to a temporary name, std::fs::rename", ours, theirs)
    },
);

fn outcome(
    context: &Context,
    command: &str,
    ours: crate::stats::Samples,
    theirs: crate::stats::Samples,
) -> Result<Outcome> {
    Ok(Outcome {
        peer: Peer::Measured { name: "std", command: command.into(), samples: theirs },
        ours,
        unit: "ms",
        place: context.warm(context.scratch())?,
        note: "arguments as JSON values to the text for the model; files of 1 KiB, not synced"
            .into(),
    })
}

/// Makes the directories of the files; a parent of the root is its own, for what is staged beside it.
fn prepared(parent: &Path) -> Result<std::path::PathBuf> {
    let root = parent.join("root");
    for directory in small_files::directories() {
        fs::create_dir_all(root.join(directory))?;
    }
    Ok(root)
}

fn in_fresh_root(
    context: &Context,
    write: impl FnOnce(&Path) -> Result<Measured<()>>,
) -> Result<Measured<()>> {
    let parent = context.fresh_dir()?;
    let root = prepared(parent.path())?;
    context.settle()?;
    write(&root)
}

fn arguments(files: &[SmallFile], make: impl Fn(&SmallFile) -> Value) -> Vec<Value> {
    files.iter().map(make).collect()
}

fn read_ours(root: &Path, files: &[SmallFile]) -> Result<Measured<usize>> {
    let (tool, context) = (tool("read_file")?, ToolContext::over(&Workspace::host(root)?));
    let calls = arguments(files, |file| json!({ "path": file.name }));
    let read = timed_ms(|| {
        calls.into_iter().try_for_each(|arguments| call(tool, &context, arguments).map(drop))
    })?;
    Ok(read.with_result(files.len()))
}

fn read_theirs(root: &Path, files: &[SmallFile]) -> Result<Measured<usize>> {
    let paths: Vec<_> = files.iter().map(|file| root.join(&file.name)).collect();
    timed_ms(|| {
        let mut count = 0;
        for path in &paths {
            std::hint::black_box(fs::read(path)?);
            count += 1;
        }
        Ok(count)
    })
}

fn write_ours(root: &Path, files: &[SmallFile]) -> Result<Measured<()>> {
    let (tool, context) = (tool("write_file")?, ToolContext::over(&Workspace::host(root)?));
    let calls = arguments(files, |file| json!({"path": file.name, "content": file.content}));
    timed_ms(|| {
        calls.into_iter().try_for_each(|arguments| call(tool, &context, arguments).map(drop))
    })
}

/// Writes each file twice in one session, which knows the first version, and measures the second time. A history
/// keeps what is replaced.
fn overwrite_ours(root: &Path, files: &[SmallFile]) -> Result<Measured<()>> {
    let (tool, session) = (tool("write_file")?, Session::new());
    let store = Store::create_ambient(root.with_file_name("store"))?;
    let context = ToolContext::over(&Workspace::host_with_store(root, store)?).session(&session);
    let first = arguments(files, |file| json!({"path": file.name, "content": "first\n"}));
    first.into_iter().try_for_each(|arguments| call(tool, &context, arguments).map(drop))?;
    let calls = arguments(files, |file| json!({"path": file.name, "content": file.content}));
    timed_ms(|| {
        calls.into_iter().try_for_each(|arguments| call(tool, &context, arguments).map(drop))
    })
}

fn overwrite_theirs(root: &Path, files: &[SmallFile]) -> Result<Measured<()>> {
    files.iter().try_for_each(|file| fs::write(root.join(&file.name), "first\n"))?;
    write_theirs(root, files)
}

fn write_theirs(root: &Path, files: &[SmallFile]) -> Result<Measured<()>> {
    let jobs: Vec<_> = files.iter().map(|file| (root.join(&file.name), &file.content)).collect();
    timed_ms(|| {
        for (target, content) in &jobs {
            let temporary = target.with_extension("tmp");
            fs::write(&temporary, content)?;
            fs::rename(&temporary, target)?;
        }
        Ok(())
    })
}
