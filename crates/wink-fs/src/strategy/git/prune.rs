//! Gives back the space of objects that no snapshot needs any more.
//!
//! Packs in which all is needed stay. What is needed of the others goes into a new one, which is there with its
//! table before the first of them goes. Their names stay in the manifests of snapshots; nothing is found by them.

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
use crate::tree::descend::descend;

/// So many packs may stay although nothing in them is to go.
pub(super) const MANY_PACKS: usize = 64;

/// The file that tells git which commits have a parent that is gone.
const SHALLOW: &str = "shallow";

/// Makes what goes superfluous.
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
    // What others put there is not ours to remove, or to rely on.
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

/// Removes packs, and what is left of packs that a dead process was removing; no process writes meanwhile.
pub(super) fn remove(disk: &Disk, condensed: &Condensed) -> io::Result<Reclaimed> {
    let written = condensed.new.as_ref().map_or(Ok(0), |name| size(disk, name))?;
    let mut gone = 0;
    for name in condensed.old.iter().chain(&without_table(disk)?) {
        gone += size(disk, name)?;
        // The table first, because it is what a pack is found by.
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

/// Writes a pack of objects, each as it is in the pack that it is in.
fn rewrite(disk: &Disk, packs: &Packs, ids: HashSet<ObjectId>) -> io::Result<Option<String>> {
    if ids.is_empty() {
        return Ok(None);
    }
    let mut locations = packs.locate(&ids)?;
    // In their order, so that the disk reads on.
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

    /// Adds a directory; with one that is in already, all below it is.
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

    /// Tells git which commits it must not look for the parents of.
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
