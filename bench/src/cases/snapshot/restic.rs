//! restic, with a repository on the same disk and its cache warm.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::keeper::{Keeper, Place, run_all};
use super::listing::{Lister, Listing};
use crate::context::{Context, output_of};
use crate::measure::timed_ms;

struct Restic {
    place: Place,
    cache: PathBuf,
}

pub(super) fn make(_: &Context, place: Place) -> Result<Box<dyn Keeper>> {
    let cache = place.store.with_extension("cache");
    Ok(Box::new(Restic { place, cache }))
}

impl Restic {
    fn restic(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("restic");
        command.env("RESTIC_PASSWORD", "bench").env("RESTIC_CACHE_DIR", &self.cache);
        command.current_dir(&self.place.root).arg("-q").arg("-r").arg(&self.place.store);
        command.args(arguments);
        command
    }
}

impl Keeper for Restic {
    fn name(&self) -> &'static str {
        "restic"
    }

    fn described(&self) -> String {
        "restic -q -r STORE backup .".to_owned()
    }

    fn prepare(&self) -> Result<()> {
        run_all(vec![self.restic(&["init"])])
    }

    fn snapshot(&self) -> Vec<Command> {
        vec![self.restic(&["backup", "."])]
    }

    fn kept(&self) -> Result<Listing> {
        let listed = output_of(&mut self.restic(&["ls", "--json", "latest"]))?;
        let mut lister = Lister::default();
        // The first line describes the snapshot.
        for line in String::from_utf8(listed)?.lines().skip(1) {
            let node: Node = serde_json::from_str(line)?;
            if node.kind == "file" {
                let path = node.path.strip_prefix('/').context("a path without its root")?;
                lister.add(path.as_bytes(), node.size);
            }
        }
        Ok(lister.finish())
    }

    fn remark(&self) -> Result<Option<String>> {
        let opened = timed_ms(|| run_all(vec![self.restic(&["cat", "config"])]))?;
        let why = "of which restic needs for its key and the repository's opening";
        Ok(Some(format!("{why} (`restic cat config`) {:.0} ms", opened.value)))
    }
}

/// A line that `restic ls --json` prints of an entry.
#[derive(Deserialize)]
struct Node {
    path: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    size: u64,
}
