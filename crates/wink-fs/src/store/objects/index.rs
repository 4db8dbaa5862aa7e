//! All objects of a store, in whatever pack they are.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;

use super::cache::BlockCache;
use super::manifest::Trust;
use super::object::{KEY_BYTES, ObjectId, ObjectKind};
use super::pack::{self, ObjectRow, Pack};
use crate::error::{damaged, worded};
use crate::hash::ContentHash;
use crate::store::disk::Disk;

/// How often the packs are looked at again because one of them went meanwhile.
const LOOKS: usize = 3;

const FILE_KINDS: [ObjectKind; 2] = [ObjectKind::Blob, ObjectKind::List];

/// Holds the packs that were there at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackSet {
    packs: Vec<Arc<Pack>>,
    /// The ids of packs that cannot be used, and why.
    pub(crate) unusable: Vec<(String, String)>,
    /// The ids of packs whose directories and lists say nothing of what they name.
    contents_only: HashSet<String>,
}

/// Says where an object is.
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
    /// Returns what a snapshot may rely on, by the packs that are expected to be there.
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

    /// Finds a file's content, as one object or as a list of parts.
    pub(crate) fn find_file(&self, hash: &ContentHash) -> Option<io::Result<Located>> {
        self.find(hash.as_bytes(), &FILE_KINDS)
    }

    fn find(&self, key: &[u8; KEY_BYTES], kinds: &[ObjectKind]) -> Option<io::Result<Located>> {
        self.packs.iter().find_map(|pack| {
            let found = pack.find(key, kinds)?;
            let is_usable = |row: &ObjectRow| {
                !row.id.kind.names_others() || !self.contents_only.contains(&pack.id)
            };
            Some(found.map(|row| Located::new(pack, row)))
                .filter(|found| found.as_ref().map_or(true, |located| is_usable(&located.row)))
        })
    }
}

/// Reads objects of a store; tables of packs are read when the first object is asked for.
#[derive(Debug)]
pub(crate) struct ObjectIndex {
    pub(crate) disk: Disk,
    packs_there: RwLock<Option<Arc<PackSet>>>,
    cache: BlockCache,
}

impl ObjectIndex {
    pub(crate) fn new(disk: Disk) -> Self {
        Self { disk, packs_there: RwLock::default(), cache: BlockCache::default() }
    }

    /// Returns the packs that are there by now.
    pub(crate) fn refresh(&self) -> io::Result<Arc<PackSet>> {
        let known = self.known().unwrap_or_default();
        let mut packs_there = self.read_shelf(&known)?;
        // A prune may have taken one away after its name was read.
        for _ in 0..LOOKS {
            if packs_there.unusable.is_empty() || self.are_there(&packs_there.unusable)? {
                break;
            } else {
                packs_there = self.read_shelf(&packs_there)?
            }
        }
        let packs_there = Arc::new(packs_there);
        *self.packs_there.write().unwrap_or_else(PoisonError::into_inner) =
            Some(Arc::clone(&packs_there));
        Ok(packs_there)
    }

    /// Returns the packs as they were when they were last looked at.
    fn packs_there(&self) -> io::Result<Arc<PackSet>> {
        self.known().map_or_else(|| self.refresh(), Ok)
    }

    fn known(&self) -> Option<Arc<PackSet>> {
        self.packs_there.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn read_shelf(&self, known: &PackSet) -> io::Result<PackSet> {
        let mut packs_there = PackSet::default();
        for id in self.pack_ids()? {
            match known.packs.iter().find(|pack| pack.id == id) {
                Some(pack) => packs_there.packs.push(Arc::clone(pack)),
                None => self.open_pack(&mut packs_there, id)?,
            }
        }
        Ok(packs_there)
    }

    fn are_there(&self, packs: &[(String, String)]) -> io::Result<bool> {
        let ids = self.pack_ids()?;
        Ok(packs.iter().all(|(id, _)| ids.contains(id)))
    }

    /// Returns the ids of the packs that are there, sorted.
    pub(crate) fn pack_ids(&self) -> io::Result<Vec<String>> {
        let names = self.disk.names(pack::DIRECTORY)?;
        let ids = names.iter().filter(|name| !crate::store::temporary::is_temporary(name));
        Ok(ids.filter_map(|name| pack::id_of(name)).map(String::from).collect())
    }

    /// Opens a pack; one that is damaged does not keep the others from being used.
    fn open_pack(&self, packs_there: &mut PackSet, id: String) -> io::Result<()> {
        match Pack::open(&self.disk, &id) {
            Ok(pack) => packs_there.packs.push(Arc::new(pack)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                packs_there.unusable.push((id, error.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Finds a file's content, as one object or as a list of parts.
    pub(crate) fn locate_file(&self, hash: &ContentHash) -> io::Result<Located> {
        self.locate(&ObjectId::blob(hash), &FILE_KINDS)
    }

    /// Finds an object; another process may have added it a moment ago.
    fn locate(&self, id: &ObjectId, kinds: &[ObjectKind]) -> io::Result<Located> {
        let found = self.packs_there()?.find(&id.key, kinds);
        let found = match found {
            None => self.refresh()?.find(&id.key, kinds),
            found => found,
        };
        found.unwrap_or_else(|| Err(damaged(format!("the {id} is missing; verify the store"))))
    }

    /// Returns what an object stands for has of bytes.
    pub(crate) fn size(&self, id: &ObjectId) -> io::Result<u64> {
        Ok(self.locate(id, &[id.kind])?.row.size)
    }

    /// Returns the checked bytes of an object.
    pub(crate) fn get(&self, id: &ObjectId) -> io::Result<Bytes> {
        self.read(&self.locate(id, &[id.kind])?)
    }

    /// Returns the checked bytes of an object that was found; a prune may have moved it since.
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

/// Cuts an object out of its block; `None` where it does not lie in it.
pub(crate) fn cut(row: &ObjectRow, block: &Bytes) -> Option<Bytes> {
    let start = row.offset as usize;
    let end = start.checked_add(row.length as usize)?;
    let bytes = block.get(start..end)?;
    // A small piece must not keep the whole block in memory.
    Some(if bytes.len() > block.len() / 2 {
        block.slice(start..end)
    } else {
        Bytes::copy_from_slice(bytes)
    })
}

/// Refuses bytes that are not those of the object.
pub(crate) fn check(row: &ObjectRow, bytes: Option<Bytes>) -> io::Result<Bytes> {
    bytes.filter(|bytes| row.id.names(bytes)).ok_or_else(|| {
        damaged(format!("the bytes of the {} are damaged; verify the store", row.id))
    })
}

/// Says which object could not be read because of a failure.
fn naming(row: &ObjectRow, error: io::Error) -> io::Error {
    let kind = match error.kind() {
        kind @ (io::ErrorKind::InvalidData | io::ErrorKind::NotFound) => kind,
        _ => io::ErrorKind::Other,
    };
    worded(kind, format!("the {} cannot be read: {error}; verify the store", row.id))
}
