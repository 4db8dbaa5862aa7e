//! The location of every object, once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::damaged;
use crate::hash::ContentHash;
use crate::store::objects::index::{Located, ObjectIndex, PackSet};
use crate::store::objects::manifest::Trust;
use crate::store::objects::object::{ObjectId, ObjectKind};
use crate::store::objects::pack::{ObjectRow, Pack};
use crate::store::objects::part_list::{self, Part};
use crate::tree::hash::TreeHash;
use crate::tree::merkle::{self, Identity};

/// One location for each object: in the largest pack, which is most likely to stay.
///
/// There may be a thousand packs, and searching all of them for each object would take seconds.
pub(super) struct ObjectLocations<'l> {
    objects: &'l ObjectIndex,
    locations: HashMap<ObjectId, Located>,
}

impl<'l> ObjectLocations<'l> {
    /// Reads the tables of all packs except those to be deleted.
    pub(super) fn new(
        objects: &'l ObjectIndex,
        packs: &PackSet,
        trust: &BTreeMap<String, Trust>,
        without: &BTreeSet<String>,
    ) -> io::Result<Self> {
        let packs = packs.packs().iter().filter(|pack| !without.contains(&pack.id));
        let mut packs: Vec<&Arc<Pack>> = packs.collect();
        packs.sort_unstable_by_key(|pack| (std::cmp::Reverse(pack.bytes), &pack.id));
        let mut locations = Self { objects, locations: HashMap::new() };
        let is_superseded = |pack: &Pack, row: &ObjectRow| {
            row.id.kind.names_others() && trust.get(&pack.id) == Some(&Trust::Contents)
        };
        for superseded in [false, true] {
            for pack in &packs {
                locations.add(pack, |row| is_superseded(pack, row) == superseded)?;
            }
        }
        Ok(locations)
    }

    fn add(&mut self, pack: &Arc<Pack>, wanted: impl Fn(&ObjectRow) -> bool) -> io::Result<()> {
        for row in pack.objects() {
            let row = row?;
            if wanted(&row) {
                self.locations.entry(row.id).or_insert_with(|| Located::new(pack, row));
            }
        }
        Ok(())
    }

    /// Returns whether an object is in this pack, and in no preferred one.
    pub(super) fn is_here(&self, pack: &Arc<Pack>, id: &ObjectId) -> bool {
        self.locations.get(id).is_some_and(|place| Arc::ptr_eq(place.pack(), pack))
    }

    pub(super) fn has(&self, id: &ObjectId) -> bool {
        self.locations.contains_key(id)
    }

    fn get(&self, id: &ObjectId) -> io::Result<Bytes> {
        let place = self.locations.get(id).ok_or_else(|| missing(id))?;
        self.objects.read(place)
    }

    pub(super) fn directory(&self, hash: &TreeHash) -> io::Result<Vec<Identity>> {
        let id = ObjectId::directory(hash);
        let directory = merkle::decode(&self.get(&id)?)
            .ok_or_else(|| damaged(format!("the {id} has names that no directory has")))?;
        Ok(directory.entries.into_iter().map(|(_, identity)| identity).collect())
    }

    /// Returns the objects of a file's content: one, or a list and its parts.
    pub(super) fn file(&self, hash: &ContentHash) -> io::Result<Vec<ObjectId>> {
        let whole = ObjectId::blob(hash);
        let list = ObjectId::list(hash);
        if self.has(&whole) {
            return Ok(vec![whole]);
        }
        let parts = part_list::decode(&self.get(&list)?).ok_or_else(|| missing(&list))?;
        let parts = parts.iter().map(|part: &Part| ObjectId::blob(&part.hash));
        Ok(std::iter::once(list).chain(parts).collect())
    }
}

fn missing(id: &ObjectId) -> io::Error {
    let id = match id.kind {
        ObjectKind::List => ObjectId { kind: ObjectKind::Blob, ..*id },
        _ => *id,
    };
    damaged(format!("the {id} is missing; verify the store"))
}
