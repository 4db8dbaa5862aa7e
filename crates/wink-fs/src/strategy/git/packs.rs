//! The packs of a repository, and the objects in them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use flate2::read::ZlibDecoder;

use super::index::Index;
use super::object::{ObjectId, ObjectKind};
use super::{PACKS, pack_name};
use crate::content::{Content, ReadAt};
use crate::error::damaged;
use crate::store::disk::Disk;
use crate::strategy::keeper::Reader;
use crate::strategy::manifest::KeptFile;
use crate::strategy::streamed::{ReadFrom, streamed};

/// No table comes near; what is larger is not one.
const MAX_INDEX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// Content up to this size is unpacked in memory.
const WHOLE_BYTES: u64 = 1024 * 1024;

/// The longest head of an object: its kind and 64 bits of size.
const MAX_HEAD_BYTES: usize = 10;

/// The packs that are whole, by name.
#[derive(Clone, Default)]
pub(super) struct Packs(BTreeMap<String, Arc<Pack>>);

struct Pack {
    file: Arc<dyn ReadAt>,
    index: Index,
}

impl Packs {
    /// Looks at what there is; packs that were open already stay so.
    pub(super) fn refresh(&self, disk: &Disk) -> io::Result<Self> {
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

/// Returns the names of all packs that have a table and a body.
fn names(disk: &Disk) -> io::Result<Vec<String>> {
    let files = disk.names(PACKS)?;
    let name = |file: &String| Some(file.strip_prefix("pack-")?.strip_suffix(".idx")?.to_owned());
    let has_body = |name: &String| files.binary_search(&pack_name(name, "pack")).is_ok();
    Ok(files.iter().filter_map(name).filter(has_body).collect())
}

/// Opens a pack; `None` where its table is damaged.
fn open(disk: &Disk, name: &str) -> io::Result<Option<Arc<Pack>>> {
    let place = |extension| format!("{PACKS}/{}", pack_name(name, extension));
    let index = Index::decode(disk.read(&place("idx"), MAX_INDEX_BYTES)?);
    let file = Arc::new(disk.open(&place("pack"))?);
    Ok(index.map(|index| Arc::new(Pack { file, index })))
}

impl Reader for Packs {
    fn open(&self, _: &crate::TreePath, file: &KeptFile) -> io::Result<Content> {
        let id = ObjectId::from_place(&file.place)?;
        let missing = || damaged(format!("the repository lost object {}", id.to_hex()));
        let (pack, offset) = self.find(&id).ok_or_else(missing)?;
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

/// Returns where the packed bytes begin of content of a size; another kind or size is damage.
fn body(pack: &dyn ReadAt, offset: u64, size: u64) -> io::Result<u64> {
    let mut head = [0; MAX_HEAD_BYTES];
    pack.read_at(&mut head, offset)?;
    let mut found = u64::from(head[0] & 15);
    let mut len = 1;
    while head[len - 1] & 0x80 != 0 && len < MAX_HEAD_BYTES {
        found |= u64::from(head[len] & 0x7f) << (4 + 7 * (len - 1)).min(63);
        len += 1;
    }
    match head[0] >> 4 & 7 == ObjectKind::Blob.number() && found == size {
        true => Ok(offset + len as u64),
        false => Err(damaged("an object of the repository is damaged")),
    }
}

impl fmt::Debug for Packs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}
