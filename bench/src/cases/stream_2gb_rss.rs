//! Whether content of any size goes through the host backend in bounded memory.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;
use wink_fs::{ContentHash, Filesystem, HostBackend, PutOptions, Tree, TreePath};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, SEED};
use crate::measure::{Measured, alone, check_equal};
use crate::rng::Rng;

pub(crate) const CASE: Case = Case::new(
    NAME,
    "peak resident memory of 2 GiB streamed into a host file and back",
    1.0,
    measure,
)
.with_child(child);

const NAME: &str = "stream-2gb-rss";
const BUDGET_MB: f64 = 32.0;
/// More than a 32-bit length can say.
const BYTES: u64 = 2 << 30;
const CHUNK: usize = 256 * 1024;

fn measure(context: &Context) -> Result<Outcome> {
    Ok(Outcome {
        peer: Peer::Budget(BUDGET_MB),
        ours: alone(&(), || stream_in_child(context))?,
        unit: "MB",
        place: context.warm(context.scratch())?,
        note: "VmHWM of a fresh process: stage, put, then open and read in chunks, hashes compared"
            .into(),
    })
}

fn stream_in_child(context: &Context) -> Result<Measured<()>> {
    let parent = context.fresh_dir()?;
    let root = parent.path().join("root");
    fs::create_dir(&root)?;
    let root = root.to_str().context("the scratch directory's name is not text")?;
    Ok(Measured { value: context.ask_child(NAME, &[root])?, result: () })
}

fn child(arguments: &[String]) -> Result<Value> {
    let root = arguments.first().context("which directory?")?;
    stream(Path::new(root), BYTES)?;
    Ok(peak_resident_mb()?.into())
}

/// Streams generated content in and out again and compares the hashes.
fn stream(root: &Path, bytes: u64) -> Result<()> {
    let mut backend = HostBackend::open_ambient(root)?;
    let path = TreePath::parse("large.bin")?;
    let mut staging = backend.stage()?;
    let mut source = blake3::Hasher::new();
    generate(bytes, |chunk| {
        source.update(chunk);
        Ok(staging.write_all(chunk)?)
    })?;
    let mut staged = staging.finish()?;
    backend.put(&path, &mut staged, &PutOptions::default())?;

    let content = backend.open(&path)?;
    check_equal(&content.len(), &bytes)?;
    check_equal(&staged.hash(), &ContentHash::from_bytes(source.finalize().into()))?;
    check_equal(&hash(&content)?, &staged.hash())
}

fn generate(bytes: u64, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut rng = Rng::new(SEED, 0);
    let mut chunk = vec![0; CHUNK];
    let mut left = bytes;
    while left > 0 {
        let len = left.min(CHUNK as u64) as usize;
        rng.fill(&mut chunk[..len]);
        take(&chunk[..len])?;
        left -= len as u64;
    }
    Ok(())
}

/// Hashes what is there now; the content's own hash may be one that it was told.
fn hash(content: &wink_fs::Content) -> Result<ContentHash> {
    let mut hasher = blake3::Hasher::new();
    content.for_each_chunk(|chunk| {
        hasher.update(chunk);
        Ok(())
    })?;
    Ok(ContentHash::from_bytes(hasher.finalize().into()))
}

fn peak_resident_mb() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmHWM")?;
    Ok(kib.trim().parse::<f64>()? * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_streamed_in_comes_out() {
        let root = tempfile::tempdir().unwrap();
        stream(root.path(), 3 * CHUNK as u64 + 5).unwrap();
        assert_eq!(
            fs::metadata(root.path().join("large.bin")).unwrap().len(),
            3 * CHUNK as u64 + 5
        );
    }

    #[test]
    fn the_kernel_tells_the_peak() {
        assert!(peak_resident_mb().unwrap() > 0.1);
    }
}
