//! Small files read from memory, against a budget.

use std::hint::black_box;

use anyhow::Result;
use wink_fs::Workspace;

use crate::case::{Case, Outcome, Peer};
use crate::context::Context;
use crate::measure::{Measured, alone, check_equal, timed_ms};
use crate::small_files::{self, SmallFile};

pub(crate) const CASE: Case =
    Case::new("memory-read", "10,000 files of 1 KiB read from memory", 1.0, measure);

const BUDGET_MS: f64 = 20.0;

fn measure(_: &Context) -> Result<Outcome> {
    let files = small_files::files()?;
    let bytes: usize = files.iter().map(|file| file.content.len()).sum();
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MS),
        ours: alone(&bytes, || read(&files))?,
        unit: "ms",
        place: "memory".into(),
        note: "Workspace::read, a page of text with its number of lines".into(),
    })
}

fn read(files: &[SmallFile]) -> Result<Measured<usize>> {
    let workspace = Workspace::memory();
    for file in files {
        workspace.write(&file.name, &file.content)?;
        check_equal(&workspace.read(&file.name)?.content, &file.content)?;
    }
    timed_ms(|| {
        let mut bytes = 0;
        for file in files {
            bytes += black_box(workspace.read(&file.name)?).content.len();
        }
        Ok(bytes)
    })
}
