//! `git`: the objects of a bare repository outside of the workspace, and nothing else of git.
//!
//! There are no index, ignore rules, filters, hooks or configuration, and no program is run: contents and names are
//! bytes that become blobs and trees. Repositories in the workspace are data like everything else.
//! `docs/decisions/0010-git-objects-are-written-by-ourselves.md` says why no library is used.

mod index;
mod object;
mod pack;
mod packs;
mod prune;

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use self::object::{ID_BYTES, ObjectId, ObjectKind};
use self::pack::PackWriter;
use self::packs::Packs;
use super::keeper::{Condensed, Finished, Keeper, KeptContent, ManifestOf, Reader, Work};
use super::manifest::{Directory, Manifest, Node, Place};
use crate::path::{Name, TreePath};
use crate::snapshot::{Reclaimed, Snapshot, SnapshotId};
use crate::store::disk::Disk;
use crate::store::temporary::{Temporary, is_temporary};
use crate::tree::FileMode;
use crate::tree::content::Content;

const REPOSITORY: &str = "repository";
const PACKS: &str = "repository/objects/pack";
const REFS: &str = "packed-refs";
const MAX_REFS_BYTES: u64 = 64 * 1024 * 1024;

/// The directories of a new repository, each after its parent.
pub(super) const DIRECTORIES: [&str; 5] =
    [REPOSITORY, "repository/objects", PACKS, "repository/refs", "repository/refs/heads"];

const FILES: [(&str, &str); 2] = [
    ("repository/HEAD", "ref: refs/heads/main\n"),
    (
        "repository/config",
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n[gc]\n\tauto = 0\n",
    ),
];

/// Larger content is not read into memory.
const LARGE_BYTES: u64 = 1024 * 1024;

/// Writes the files that make a directory a repository.
pub(super) fn make(disk: &Disk) -> io::Result<()> {
    for (name, text) in FILES {
        let mut file = disk.create(name)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    disk.sync_dir(REPOSITORY)
}

/// Returns whether a directory is a git work tree.
pub(super) fn is_repository(root: &Path) -> bool {
    Disk::new(root).is_there(".git")
}

fn pack_name(name: &str, extension: &str) -> String {
    format!("pack-{name}.{extension}")
}

/// Keeps each snapshot as a commit.
#[derive(Debug)]
pub(super) struct GitKeeper {
    disk: Disk,
    packs: Mutex<Packs>,
}

impl GitKeeper {
    pub(super) fn new(disk: Disk) -> Self {
        Self { disk, packs: Mutex::default() }
    }

    fn open_packs(&self) -> io::Result<Packs> {
        let mut packs = self.packs.lock();
        *packs = packs.refresh(&self.disk)?;
        Ok(packs.clone())
    }
}

impl Keeper for GitKeeper {
    fn begin<'a>(
        &'a self,
        id: &SnapshotId,
        base: Option<&'a Manifest>,
    ) -> io::Result<Box<dyn Work + 'a>> {
        let packs = self.open_packs()?;
        // If a pack that the last snapshot needs is missing, nothing is reused from it.
        let is_whole = |base: &&Manifest| pack_list(base).all(|name| packs.has_pack(name));
        let base = base.filter(is_whole).map(|base| &base.root);
        let writer = PackWriter::new(&self.disk, id.to_string())?;
        Ok(Box::new(Committing { disk: &self.disk, packs, base, writer }))
    }

    fn is_incremental(&self) -> bool {
        true
    }

    fn reader(&self, _: &SnapshotId) -> io::Result<Arc<dyn Reader>> {
        Ok(Arc::new(self.open_packs()?))
    }

    /// Returns nothing, because objects do not belong to one snapshot.
    fn held(&self) -> io::Result<Vec<String>> {
        let names = self.disk.names(PACKS)?.into_iter();
        let unfinished = names.filter(|name| is_temporary(name));
        let id = |name: String| name.trim_start_matches('.').trim_end_matches(".tmp").to_owned();
        Ok(unfinished.map(id).collect())
    }

    fn forget(&self, id: &str) -> io::Result<()> {
        self.disk.remove(&format!("{PACKS}/.{id}.tmp")).map(drop)
    }

    fn packs(&self) -> io::Result<u64> {
        Ok(self.open_packs()?.len() as u64)
    }

    fn is_fragmented(&self) -> io::Result<bool> {
        Ok(self.open_packs()?.len() > prune::MANY_PACKS)
    }

    fn condense(
        &self,
        snapshots: &[Snapshot],
        manifest_of: ManifestOf<'_>,
    ) -> io::Result<Condensed> {
        prune::condense(&self.disk, &self.open_packs()?, snapshots, manifest_of)
    }

    fn remove_condensed(&self, condensed: &Condensed) -> io::Result<Reclaimed> {
        prune::remove(&self.disk, condensed)
    }

    /// Writes references, with which git's own tools find every snapshot.
    fn announce(&self, snapshots: &[Snapshot]) -> io::Result<()> {
        let mut refs: Vec<String> = (snapshots.iter())
            .filter(|it| it.reference.len() == 2 * ID_BYTES)
            .map(|it| format!("{} refs/snapshots/{}\n", it.reference, it.id))
            .collect();
        // Sorted by name, as the header of the file promises; all commit ids have the same length.
        refs.sort_by(|a, b| a[2 * ID_BYTES..].cmp(&b[2 * ID_BYTES..]));
        let mut file = Temporary::over(&self.disk, REPOSITORY, REFS.to_owned())?;
        writeln!(file, "# pack-refs with: peeled fully-peeled sorted ")?;
        if let Some(last) = snapshots.last() {
            writeln!(file, "{} refs/heads/main", last.reference)?;
        }
        refs.iter().try_for_each(|line| file.write_all(line.as_bytes()))?;
        file.sync()?;
        file.rename()?;
        file.keep();
        Ok(())
    }
}

/// Returns the packs that a snapshot needs.
fn pack_list(manifest: &Manifest) -> impl Iterator<Item = &str> {
    std::str::from_utf8(&manifest.notes).unwrap_or_default().lines()
}

struct Committing<'a> {
    disk: &'a Disk,
    packs: Packs,
    base: Option<&'a Arc<Directory>>,
    writer: PackWriter<'a>,
}

impl Committing<'_> {
    fn has(&self, id: &ObjectId) -> bool {
        self.packs.contains(id) || self.writer.contains(id)
    }

    fn add(&self, kind: ObjectKind, bytes: &[u8]) -> io::Result<ObjectId> {
        let id = kind.id_of(bytes);
        if !self.has(&id) {
            self.writer.add(kind, id, bytes)?;
        }
        Ok(id)
    }

    /// Returns the commit of the parent snapshot, if it still exists.
    fn parent(&self, snapshot: &Snapshot) -> io::Result<Option<String>> {
        let Some(parent) = snapshot.parent else { return Ok(None) };
        let refs = match self.disk.read(&format!("{REPOSITORY}/{REFS}"), MAX_REFS_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            refs => refs?,
        };
        let name = format!(" refs/snapshots/{parent}");
        let refs = String::from_utf8_lossy(&refs);
        Ok(refs.lines().find_map(|line| line.strip_suffix(&name)).map(str::to_owned))
    }
}

impl Work for Committing<'_> {
    fn base(&self) -> Option<&Arc<Directory>> {
        self.base
    }

    fn file(&self, _: &TreePath, _: FileMode, content: &Content) -> io::Result<KeptContent> {
        let size = content.len();
        if size <= LARGE_BYTES {
            let bytes = content.read_all()?;
            let hash = crate::ContentHash::of(&bytes);
            let place = self.add(ObjectKind::Blob, &bytes)?.0.to_vec();
            return Ok(KeptContent { hash, size: bytes.len() as u64, place });
        }
        let (id, hash) = object::identify(content)?;
        if !self.has(&id) {
            self.writer.add_large(id, content)?;
        }
        Ok(KeptContent { hash, size, place: id.0.to_vec() })
    }

    fn link(&self, _: &TreePath, target: &[u8]) -> io::Result<()> {
        self.add(ObjectKind::Blob, target).map(drop)
    }

    fn leave(&self, entries: &[(Name, Node)]) -> io::Result<Place> {
        Ok(self.add(ObjectKind::Tree, &object::tree(entries))?.0.to_vec())
    }

    fn finish(self: Box<Self>, snapshot: &Snapshot, root: &Directory) -> io::Result<Finished> {
        let parent = self.parent(snapshot)?;
        let tree = ObjectId::from_place(&root.place)?;
        let commit = object::commit(snapshot, tree, parent);
        let reference = self.add(ObjectKind::Commit, &commit)?.to_hex();
        let Self { packs, writer, .. } = *self;
        let pack = writer.finish()?;
        let names: Vec<&str> = packs.names().chain([&*pack]).collect();
        Ok(Finished { reference, notes: names.join("\n").into_bytes() })
    }
}
