//! Frees the space of objects that no snapshot needs.
//!
//! Packs in which everything is needed stay. Needed objects of the others are copied into a new pack, which is
//! published with its table before the first old one is deleted. Manifests still name the old packs, but nothing is
//! looked up by those names.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write as _};

use super::object::{ID_BYTES, ObjectId, ObjectKind};
use super::pack::PackWriter;
use super::packs::Packs;
use super::{PACKS, REPOSITORY, pack_name};
use crate::error::damaged;
use crate::snapshot::{Reclaimed, Snapshot, SnapshotId};
use crate::store::disk::Disk;
use crate::store::temporary::Temporary;
use crate::strategy::keeper::{Condensed, ManifestOf};
use crate::strategy::manifest::{Directory, Node};
use crate::tree::descend;

/// How many packs may stay even if all their objects are needed.
pub(super) const MANY_PACKS: usize = 64;

/// The file that lists commits whose parents are gone.
const SHALLOW: &str = "shallow";

/// Rewrites packs with unneeded objects.
pub(super) fn condense(
    disk: &Disk,
    packs: &Packs,
    snapshots: &[Snapshot],
    manifest_of: ManifestOf<'_>,
) -> io::Result<Condensed> {
    let mut needed = Needed::default();
    for snapshot in snapshots {
        needed.add(snapshot, &manifest_of(snapshot)?.root)?;
    }
    // Packs without a `.keep` file are not ours to delete or to depend on.
    let ours = packs.only(|name| disk.is_there(&place(name, "keep")));
    let (mut stay, mut old) = ours.split(|id| needed.objects.contains(id));
    if stay.len() > MANY_PACKS {
        (stay, old) = (Packs::default(), ours.names().map(str::to_owned).collect());
    }
    if old.is_empty() {
        return Ok(Condensed::default());
    }
    let missing = needed.objects.iter().filter(|id| !stay.contains(id));
    let new = rewrite(disk, packs, missing.copied().collect())?;
    needed.write_shallow(disk, packs)?;
    old.retain(|name| Some(name) != new.as_ref());
    let names: Vec<&str> = stay.names().chain(new.as_deref()).collect();
    Ok(Condensed { notes: Some(names.join("\n").into_bytes()), new: new.clone(), old })
}

const EXTENSIONS: [&str; 3] = ["idx", "pack", "keep"];

/// Deletes packs, and the remains of packs that a dead process was deleting; no other process may write.
pub(super) fn remove(disk: &Disk, condensed: &Condensed) -> io::Result<Reclaimed> {
    let written = condensed.new.as_ref().map_or(Ok(0), |name| size(disk, name))?;
    let mut gone = 0;
    for name in condensed.old.iter().chain(&without_table(disk)?) {
        gone += size(disk, name)?;
        // The table first, because a pack is found by it.
        for extension in EXTENSIONS {
            disk.remove(&place(name, extension))?;
        }
    }
    if gone > 0 {
        disk.sync_dir(PACKS)?;
    }
    Ok(Reclaimed {
        packs_removed: condensed.old.len() as u64,
        packs_written: condensed.new.iter().count() as u64,
        bytes_freed: gone.saturating_sub(written),
    })
}

fn without_table(disk: &Disk) -> io::Result<Vec<String>> {
    let files = disk.names(PACKS)?.into_iter();
    let name = |file: String| Some(file.strip_prefix("pack-")?.strip_suffix(".keep")?.to_owned());
    Ok(files.filter_map(name).filter(|name| !disk.is_there(&place(name, "idx"))).collect())
}

fn size(disk: &Disk, name: &str) -> io::Result<u64> {
    EXTENSIONS.iter().map(|extension| disk.size(&place(name, extension))).sum()
}

fn place(name: &str, extension: &str) -> String {
    format!("{PACKS}/{}", pack_name(name, extension))
}

/// Copies objects into a new pack.
fn rewrite(disk: &Disk, packs: &Packs, ids: HashSet<ObjectId>) -> io::Result<Option<String>> {
    if ids.is_empty() {
        return Ok(None);
    }
    let mut locations = packs.locate(&ids)?;
    // In the order of their offsets, so that the disk reads sequentially.
    locations.sort_by_key(|(_, it)| (it.pack, it.range.start));
    let writer = PackWriter::new(disk, SnapshotId::random().to_string())?;
    for (id, location) in locations {
        writer.copy(id, &location)?;
    }
    writer.finish().map(Some)
}

/// The objects of all snapshots.
#[derive(Default)]
struct Needed {
    objects: HashSet<ObjectId>,
    commits: BTreeMap<ObjectId, String>,
}

impl Needed {
    fn add(&mut self, snapshot: &Snapshot, root: &Directory) -> io::Result<()> {
        let commit = ObjectId::from_hex(&snapshot.reference);
        let commit = commit.ok_or_else(|| damaged("a snapshot's record names no commit"))?;
        self.commits.insert(commit, snapshot.reference.clone());
        self.objects.insert(commit);
        self.add_directory(root)
    }

    /// Adds a directory; one that was added before is complete.
    fn add_directory(&mut self, directory: &Directory) -> io::Result<()> {
        if !self.objects.insert(ObjectId::from_place(&directory.place)?) {
            return Ok(());
        }
        for (_, node) in &directory.entries {
            match node {
                Node::File(file) => drop(self.objects.insert(ObjectId::from_place(&file.place)?)),
                Node::Link(target) => drop(self.objects.insert(ObjectKind::Blob.id_of(target))),
                Node::Directory(below) => descend(|| self.add_directory(below))?,
            }
        }
        Ok(())
    }

    /// Tells git which commits have missing parents.
    fn write_shallow(&self, disk: &Disk, packs: &Packs) -> io::Result<()> {
        let mut shallow = String::new();
        for (commit, name) in &self.commits {
            let parent = parent_of(&packs.read_commit(commit)?);
            if parent.is_some_and(|parent| !self.commits.contains_key(&parent)) {
                shallow.push_str(name);
                shallow.push('\n');
            }
        }
        if shallow.is_empty() {
            return disk.remove(&format!("{REPOSITORY}/{SHALLOW}")).map(drop);
        }
        let mut file = Temporary::over(disk, REPOSITORY, SHALLOW.to_owned())?;
        file.write_all(shallow.as_bytes())?;
        file.sync()?;
        file.replace()
    }
}

fn parent_of(commit: &[u8]) -> Option<ObjectId> {
    let text = String::from_utf8_lossy(commit);
    let line = text.lines().take_while(|line| !line.is_empty());
    let mut parents = line.filter_map(|line| line.strip_prefix("parent "));
    parents.next().filter(|hex| hex.len() == 2 * ID_BYTES).and_then(ObjectId::from_hex)
}
