//! A write into a new directory must not cost more because its parent has many other entries.

use std::fs;

use anyhow::{Result, ensure};
use wink_fs::{Store, Workspace};

use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::measure::{alone, timed_ms};

pub(crate) const WRITE_NEW_DIRECTORY: Case = Case::new(
    "write-new-directory",
    "a write with a store into a new directory beside 20,000 files",
    1.0,
    measure,
);

const SIBLINGS: usize = 20_000;
const BUDGET_MS: f64 = 10.0;

fn measure(context: &Context) -> Result<Outcome> {
    let directory = context.fresh_dir()?;
    let root = directory.path().join("root");
    fs::create_dir(&root)?;
    for number in 0..SIBLINGS {
        fs::write(root.join(number.to_string()), b"")?;
    }
    let files =
        Workspace::host_with_store(&root, Store::create_ambient(directory.path().join("store"))?)?;
    let mut writes = 0;
    let ours = alone(&(), || {
        context.settle()?;
        writes += 1;
        let path = format!("new{writes}/file");
        let measured = timed_ms(|| {
            files.write(&path, "content")?;
            Ok(())
        })?;
        files.undo()?;
        ensure!(!files.exists(&format!("new{writes}")), "the undo left the directory");
        Ok(measured)
    })?;
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours,
        unit: "ms",
        place: context.warm(context.scratch())?,
        note: "the write is undone after each repetition".to_owned(),
    })
}
