//! Small files read on the host, against `std::fs::read`.

use std::fs;
use std::hint::black_box;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use wink_fs::{HostBackend, Tree, TreePath};

use crate::case::{Case, Outcome, Peer};
use crate::context::{Context, SEED};
use crate::digest::files_below;
use crate::measure::{Measured, side_by_side, timed_ms};
use crate::rng::Rng;

pub(crate) const CASE: Case =
    Case::new("read-host-vs-std", "10,000 small files read", 0.8, measure);

const READS: usize = 10_000;
const SMALL: u64 = 64 * 1024;

/// A file to be read, its path in both forms.
struct Target {
    path: TreePath,
    host: PathBuf,
}

fn measure(context: &Context) -> Result<Outcome> {
    let root = context.tree()?;
    let targets = targets(root)?;
    compare(root, &targets)?;
    let (ours, theirs) = side_by_side(|| read_ours(root, &targets), || read_theirs(&targets))?;
    Ok(Outcome {
        peer: Peer::Measured { name: "std", command: "std::fs::read".into(), samples: theirs },
        ours,
        unit: "ms",
        place: context.warm(root)?,
        note: "open and read_all; files of the tree up to 64 KiB, in random order".into(),
    })
}

/// Returns as many reads as are wanted; a tree with fewer files is read several times over.
fn targets(root: &Path) -> Result<Vec<Target>> {
    let mut files = files_below(root)?;
    Rng::new(SEED, 0).draw(&mut files, usize::MAX);
    let mut small = Vec::new();
    for host in files {
        if fs::symlink_metadata(&host)?.len() <= SMALL {
            small.push(host);
        }
    }
    ensure!(!small.is_empty(), "{} has no small files", root.display());
    small.into_iter().cycle().take(READS).map(|host| target(root, host)).collect()
}

fn target(root: &Path, host: PathBuf) -> Result<Target> {
    let path = TreePath::from_disk(host.strip_prefix(root)?.as_os_str().as_bytes())?;
    Ok(Target { path, host })
}

fn compare(root: &Path, targets: &[Target]) -> Result<()> {
    let tree = HostBackend::open_ambient(root)?;
    for target in targets {
        let equal = tree.open(&target.path)?.read_all()? == fs::read(&target.host)?;
        ensure!(equal, "{} reads differently", target.path);
    }
    Ok(())
}

fn read_ours(root: &Path, targets: &[Target]) -> Result<Measured<usize>> {
    let backend = HostBackend::open_ambient(root)?;
    let tree: &dyn Tree = &backend;
    timed_ms(|| {
        let mut bytes = 0;
        for target in targets {
            bytes += black_box(tree.open(&target.path)?.read_all()?).len();
        }
        Ok(bytes)
    })
}

fn read_theirs(targets: &[Target]) -> Result<Measured<usize>> {
    timed_ms(|| {
        let mut bytes = 0;
        for target in targets {
            bytes += black_box(fs::read(&target.host)?).len();
        }
        Ok(bytes)
    })
}
