//! The packs of a repository, and their objects.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use flate2::read::ZlibDecoder;

use super::index::Index;
use super::object::{ID_BYTES, ObjectId, ObjectKind};
use super::{PACKS, pack_name};
use crate::error::damaged;
use crate::store::disk::Disk;
use crate::strategy::keeper::Reader;
use crate::strategy::manifest::KeptFile;
use crate::tree::content::{Content, ReadAt};
use crate::tree::streamed::{ReadFrom, streamed};

/// Larger than any table.
const MAX_INDEX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// Larger content is not unpacked in memory.
const WHOLE_BYTES: u64 = 1024 * 1024;

/// The longest head of an object: its kind and 64 bits of size.
const MAX_HEAD_BYTES: usize = 10;

/// How often packs are listed again while another process prunes.
const TRIES: usize = 8;

/// The intact packs, by name.
#[derive(Clone, Default)]
pub(super) struct Packs(BTreeMap<String, Arc<Pack>>);

struct Pack {
    file: Arc<dyn ReadAt>,
    size: u64,
    index: Index,
}

/// The location of an object's compressed bytes, with their checksum.
pub(super) struct Location<'p> {
    /// The name of the pack.
    pub(super) pack: &'p str,
    pub(super) file: &'p dyn ReadAt,
    pub(super) range: Range<u64>,
    pub(super) crc: u32,
}

impl Packs {
    /// Lists the packs; those open already stay open.
    pub(super) fn refresh(&self, disk: &Disk) -> io::Result<Self> {
        for _ in 1..TRIES {
            match self.look(disk) {
                // A prune deleted it; its objects are in another one, which was published before.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                found => return found,
            }
        }
        self.look(disk)
    }

    fn look(&self, disk: &Disk) -> io::Result<Self> {
        let mut packs = BTreeMap::new();
        for name in names(disk)? {
            let known = self.0.get(&name).cloned();
            let pack = known.map_or_else(|| open(disk, &name), |pack| Ok(Some(pack)))?;
            packs.extend(pack.map(|pack| (name, pack)));
        }
        Ok(Self(packs))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the packs with accepted names.
    pub(super) fn only(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let packs = self.0.iter().filter(|(name, _)| is_wanted(name));
        Self(packs.map(|(name, pack)| (name.clone(), pack.clone())).collect())
    }

    /// Returns the packs in which every object is needed, and the names of the others.
    pub(super) fn split(&self, is_needed: impl Fn(&ObjectId) -> bool) -> (Self, Vec<String>) {
        let mut stay = BTreeMap::new();
        let mut others = Vec::new();
        for (name, pack) in &self.0 {
            if pack.index.rows().all(|(id, _)| is_needed(&id)) {
                drop(stay.insert(name.clone(), pack.clone()))
            } else {
                others.push(name.clone())
            }
        }
        (Self(stay), others)
    }

    /// Locates objects; one that is in no pack is damage.
    pub(super) fn locate(
        &self,
        ids: &HashSet<ObjectId>,
    ) -> io::Result<Vec<(ObjectId, Location<'_>)>> {
        let mut found = BTreeMap::new();
        for (name, pack) in &self.0 {
            for (id, location) in pack.locations(name) {
                if ids.contains(&id) && !found.contains_key(&id) && location.is_plain()? {
                    found.insert(id, location);
                }
            }
        }
        match ids.iter().find(|id| !found.contains_key(id)) {
            None => Ok(found.into_iter().collect()),
            Some(id) => Err(lost(id)),
        }
    }

    /// Reads a commit.
    pub(super) fn read_commit(&self, id: &ObjectId) -> io::Result<Vec<u8>> {
        let (pack, offset) = self.find(id).ok_or_else(|| lost(id))?;
        let head = Head::read(&*pack.file, offset)?;
        if head.kind != ObjectKind::Commit.number() {
            return Err(damaged("an object of the repository is damaged"));
        }
        let mut bytes = Vec::new();
        let packed = ReadFrom { source: pack.file.clone(), at: head.body };
        ZlibDecoder::new(packed).take(head.size).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn has_pack(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn contains(&self, id: &ObjectId) -> bool {
        self.find(id).is_some()
    }

    fn find(&self, id: &ObjectId) -> Option<(&Pack, u64)> {
        self.0.values().find_map(|pack| Some((&**pack, pack.index.find(id)?)))
    }
}

/// Returns the names of all packs with a table and a body.
fn names(disk: &Disk) -> io::Result<Vec<String>> {
    let files = disk.names(PACKS)?;
    let name = |file: &String| Some(file.strip_prefix("pack-")?.strip_suffix(".idx")?.to_owned());
    let has_body = |name: &String| files.binary_search(&pack_name(name, "pack")).is_ok();
    Ok(files.iter().filter_map(name).filter(has_body).collect())
}

/// Opens a pack; `None` if its table is damaged.
fn open(disk: &Disk, name: &str) -> io::Result<Option<Arc<Pack>>> {
    let place = |extension| format!("{PACKS}/{}", pack_name(name, extension));
    let index = Index::decode(disk.read(&place("idx"), MAX_INDEX_BYTES)?);
    let file = disk.open(&place("pack"))?;
    let size = file.metadata()?.len();
    let file = Arc::new(file);
    Ok(index.map(|index| Arc::new(Pack { file, size, index })))
}

fn lost(id: &ObjectId) -> io::Error {
    damaged(format!("the repository lost object {}; verify the snapshots", id.to_hex()))
}

impl Pack {
    /// Returns all objects with their locations; each ends where the next one begins.
    fn locations<'p>(
        &'p self,
        name: &'p str,
    ) -> impl Iterator<Item = (ObjectId, Location<'p>)> + 'p {
        let mut rows: Vec<_> = self.index.rows().collect();
        rows.sort_by_key(|(_, row)| row.offset);
        let ends = rows.iter().skip(1).map(|(_, row)| row.offset);
        let ends: Vec<u64> = ends.chain([self.size.saturating_sub(ID_BYTES as u64)]).collect();
        rows.into_iter().zip(ends).map(move |((id, row), end)| {
            let range = row.offset..end;
            (id, Location { pack: name, file: &*self.file, range, crc: row.crc })
        })
    }
}

impl Location<'_> {
    /// Returns whether the object is stored whole, and not as a delta, which git's own tools may write.
    fn is_plain(&self) -> io::Result<bool> {
        let kind = Head::read(self.file, self.range.start)?.kind;
        Ok([ObjectKind::Commit, ObjectKind::Tree, ObjectKind::Blob]
            .iter()
            .any(|it| it.number() == kind))
    }
}

impl Reader for Packs {
    fn open(&self, _: &crate::TreePath, file: &KeptFile) -> io::Result<Content> {
        let id = ObjectId::from_place(&file.place)?;
        let (pack, offset) = self.find(&id).ok_or_else(|| lost(&id))?;
        let size = file.size;
        let start = body(&*pack.file, offset, size)?;
        let source = pack.file.clone();
        let unpack = move || ZlibDecoder::new(ReadFrom { source: source.clone(), at: start });
        if size > WHOLE_BYTES {
            return Ok(streamed(move || Ok(Box::new(unpack())), size));
        }
        let mut bytes = Vec::with_capacity(size as usize);
        unpack().take(WHOLE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes::Bytes::from(bytes).into())
    }
}

/// Returns the start of the compressed bytes; another kind or size is damage.
fn body(pack: &dyn ReadAt, offset: u64, size: u64) -> io::Result<u64> {
    let head = Head::read(pack, offset)?;
    if head.kind == ObjectKind::Blob.number() && head.size == size {
        Ok(head.body)
    } else {
        Err(damaged("an object of the repository is damaged"))
    }
}

/// The head of an object.
struct Head {
    kind: u8,
    size: u64,
    /// The start of the compressed bytes.
    body: u64,
}

impl Head {
    fn read(pack: &dyn ReadAt, offset: u64) -> io::Result<Self> {
        let mut head = [0; MAX_HEAD_BYTES];
        pack.read_at(&mut head, offset)?;
        let mut size = u64::from(head[0] & 15);
        let mut len = 1;
        while head[len - 1] & 0x80 != 0 && len < MAX_HEAD_BYTES {
            size |= u64::from(head[len] & 0x7f) << (4 + 7 * (len - 1)).min(63);
            len += 1;
        }
        Ok(Self { kind: head[0] >> 4 & 7, size, body: offset + len as u64 })
    }
}

impl fmt::Debug for Packs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}
