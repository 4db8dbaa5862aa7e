//! The object index: finds objects in all packs of a store.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;

use super::cache::BlockCache;
use super::manifest::Trust;
use super::object::{KEY_BYTES, ObjectId, ObjectKind};
use super::pack::{self, ObjectRow, Pack};
use crate::error::{damaged, worded};
use crate::hash::ContentHash;
use crate::store::disk::Disk;

/// How often the packs are listed again because one was deleted meanwhile.
const LOOKS: usize = 3;

const FILE_KINDS: [ObjectKind; 2] = [ObjectKind::Blob, ObjectKind::List];

/// The packs of one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackSet {
    packs: Vec<Arc<Pack>>,
    /// The ids of unusable packs, with the reasons.
    pub(crate) unusable: Vec<(String, String)>,
    /// The ids of packs whose directories and lists may refer to objects that are gone.
    contents_only: HashSet<String>,
}

/// The location of an object.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pack: Arc<Pack>,
    pub(crate) row: ObjectRow,
}

impl Located {
    pub(crate) fn new(pack: &Arc<Pack>, row: ObjectRow) -> Self {
        Self { pack: Arc::clone(pack), row }
    }

    pub(crate) fn pack(&self) -> &Arc<Pack> {
        &self.pack
    }
}

impl PackSet {
    /// Returns the packs that a snapshot may refer to, given those that must exist.
    pub(crate) fn relied_on(&self, expected: &BTreeMap<String, Trust>) -> Self {
        let is_expected = |pack: &&Arc<Pack>| expected.contains_key(&pack.id);
        let contents_only = expected.iter().filter(|(_, trust)| **trust == Trust::Contents);
        Self {
            packs: self.packs.iter().filter(is_expected).cloned().collect(),
            unusable: self.unusable.clone(),
            contents_only: contents_only.map(|(id, _)| id.clone()).collect(),
        }
    }

    pub(crate) fn packs(&self) -> &[Arc<Pack>] {
        &self.packs
    }

    pub(crate) fn has_pack(&self, id: &str) -> bool {
        self.packs.iter().any(|pack| pack.id == id)
    }

    pub(crate) fn contains(&self, id: &ObjectId) -> bool {
        self.find(&id.key, &[id.kind]).is_some_and(|found| found.is_ok())
    }

    /// Finds a file's content, as one object or a list of parts.
    pub(crate) fn find_file(&self, hash: &ContentHash) -> Option<io::Result<Located>> {
        self.find(hash.as_bytes(), &FILE_KINDS)
    }

    fn find(&self, key: &[u8; KEY_BYTES], kinds: &[ObjectKind]) -> Option<io::Result<Located>> {
        self.packs.iter().find_map(|pack| {
            let found = pack.find(key, kinds)?;
            let is_usable = |row: &ObjectRow| {
                // In a pack kept for its contents, directories and lists may refer to deleted objects.
                !row.id.kind.names_others() || !self.contents_only.contains(&pack.id)
            };
            Some(found.map(|row| Located::new(pack, row)))
                .filter(|found| found.as_ref().map_or(true, |located| is_usable(&located.row)))
        })
    }
}

/// Reads objects of a store; the tables of packs are loaded on first use.
#[derive(Debug)]
pub(crate) struct ObjectIndex {
    pub(crate) disk: Disk,
    packs: RwLock<Option<Arc<PackSet>>>,
    cache: BlockCache,
}

impl ObjectIndex {
    pub(crate) fn new(disk: Disk) -> Self {
        Self { disk, packs: RwLock::default(), cache: BlockCache::default() }
    }

    /// Lists the packs again.
    pub(crate) fn refresh(&self) -> io::Result<Arc<PackSet>> {
        let known = self.known().unwrap_or_default();
        let mut packs = self.list_packs(&known)?;
        // A prune may have deleted a pack after its name was listed.
        for _ in 0..LOOKS {
            // self.are_there(&packs.unusable)? {||A deleted pack is not a damaged one.
            if packs.unusable.is_empty() || self.are_there(&packs.unusable)? {
                break;
            } else {
                packs = self.list_packs(&packs)?
            }
        }
        let packs = Arc::new(packs);
        *self.packs.write() = Some(Arc::clone(&packs));
        Ok(packs)
    }

    /// Returns the packs of the last listing.
    fn packs(&self) -> io::Result<Arc<PackSet>> {
        self.known().map_or_else(|| self.refresh(), Ok)
    }

    fn known(&self) -> Option<Arc<PackSet>> {
        self.packs.read().clone()
    }

    fn list_packs(&self, known: &PackSet) -> io::Result<PackSet> {
        let mut packs = PackSet::default();
        for id in self.pack_ids()? {
            match known.packs.iter().find(|pack| pack.id == id) {
                Some(pack) => packs.packs.push(Arc::clone(pack)),
                None => self.open_pack(&mut packs, id)?,
            }
        }
        Ok(packs)
    }

    fn are_there(&self, packs: &[(String, String)]) -> io::Result<bool> {
        let ids = self.pack_ids()?;
        Ok(packs.iter().all(|(id, _)| ids.contains(id)))
    }

    /// Returns the ids of all packs, sorted.
    pub(crate) fn pack_ids(&self) -> io::Result<Vec<String>> {
        let names = self.disk.names(pack::DIRECTORY)?;
        let ids = names.iter().filter(|name| !crate::store::temporary::is_temporary(name));
        Ok(ids.filter_map(|name| pack::id_of(name)).map(String::from).collect())
    }

    /// Opens a pack; a damaged one does not prevent the use of the others.
    fn open_pack(&self, packs: &mut PackSet, id: String) -> io::Result<()> {
        match Pack::open(&self.disk, &id) {
            Ok(pack) => packs.packs.push(Arc::new(pack)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                packs.unusable.push((id, error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Finds a file's content, as one object or a list of parts.
    pub(crate) fn locate_file(&self, hash: &ContentHash) -> io::Result<Located> {
        self.locate(&ObjectId::blob(hash), &FILE_KINDS)
    }

    /// Finds an object, even one that another process added a moment ago.
    fn locate(&self, id: &ObjectId, kinds: &[ObjectKind]) -> io::Result<Located> {
        let found = self.packs()?.find(&id.key, kinds);
        let found = match found {
            None => self.refresh()?.find(&id.key, kinds),
            found => found,
        };
        found.unwrap_or_else(|| Err(damaged(format!("the {id} is missing; verify the store"))))
    }

    /// Returns the size of the file that an object stands for.
    pub(crate) fn size(&self, id: &ObjectId) -> io::Result<u64> {
        Ok(self.locate(id, &[id.kind])?.row.size)
    }

    /// Returns the checked bytes of an object.
    pub(crate) fn get(&self, id: &ObjectId) -> io::Result<Bytes> {
        self.read(&self.locate(id, &[id.kind])?)
    }

    /// Returns the checked bytes of a located object, even if a prune moved it since.
    pub(crate) fn read(&self, located: &Located) -> io::Result<Bytes> {
        let failure = match self.read_there(located) {
            Err(failure) => failure,
            read => return read,
        };
        if self.pack_ids()?.contains(&located.pack.id) {
            return Err(failure);
        }
        let id = located.row.id;
        match self.refresh()?.find(&id.key, &[id.kind]) {
            Some(moved) => self.read_there(&moved?),
            None => Err(failure),
        }
    }

    fn read_there(&self, located: &Located) -> io::Result<Bytes> {
        let Located { pack, row } = located;
        let read = || pack.read_block(&self.disk, row.block);
        let block = self.cache.get(pack, row.block, read).map_err(|error| naming(row, error))?;
        check(row, cut(row, &block))
    }
}

/// Cuts an object out of its block; `None` if it is out of range.
pub(crate) fn cut(row: &ObjectRow, block: &Bytes) -> Option<Bytes> {
    let start = row.offset as usize;
    let end = start.checked_add(row.length as usize)?;
    let bytes = block.get(start..end)?;
    // A small slice must not keep the whole block in memory.
    Some(if bytes.len() > block.len() / 2 {
        block.slice(start..end)
    } else {
        Bytes::copy_from_slice(bytes)
    })
}

/// Checks the bytes of an object against its hash.
pub(crate) fn check(row: &ObjectRow, bytes: Option<Bytes>) -> io::Result<Bytes> {
    bytes.filter(|bytes| row.id.names(bytes)).ok_or_else(|| {
        damaged(format!("the bytes of the {} are damaged; verify the store", row.id))
    })
}

/// Adds the object's name to an error.
fn naming(row: &ObjectRow, error: io::Error) -> io::Error {
    let kind = match error.kind() {
        kind @ (io::ErrorKind::InvalidData | io::ErrorKind::NotFound) => kind,
        _ => io::ErrorKind::Other,
    };
    worded(kind, format!("the {} cannot be read: {error}; verify the store", row.id))
}
