//! Reads and hashes every object.

use std::collections::HashMap;
use std::io;

use bytes::Bytes;

use crate::error::{Error, ErrorKind, Operation, Result, damaged};
use crate::hash::ContentHash;
use crate::snapshot::VerifyOptions;
use crate::store::objects::chunked_file::LargeFile;
use crate::store::objects::index::{self, ObjectIndex, PackSet};
use crate::store::objects::object::{ObjectId, ObjectKind};
use crate::store::objects::pack::{ObjectRow, Pack};
use crate::store::objects::part_list;
use crate::util::parallel;
use crate::util::progress::Progress;

/// Which objects are read.
#[derive(Clone, Copy)]
pub(super) struct Part {
    n: u32,
    t: u32,
}

impl Part {
    pub(super) fn new(options: &VerifyOptions) -> Result<Self> {
        let (n, t) = options.subset.unwrap_or((1, 1));
        if (1..=t).contains(&n) {
            return Ok(Self { n, t });
        }
        Err(Error::new(Operation::Verify, ErrorKind::InvalidArgument)
            .with_detail("a subset n/t has an n from 1 to t; give such a one"))
    }

    fn has(self, id: &ObjectId) -> bool {
        let [a, b, c, d, ..] = id.key;
        u32::from_le_bytes([a, b, c, d]) % self.t == self.n - 1
    }
}

/// What is wrong, with the affected objects.
#[derive(Default)]
pub(super) struct Damage {
    pub(super) causes: Vec<String>,
    pub(super) cause_of: HashMap<ObjectId, usize>,
    pub(super) bytes_checked: u64,
}

impl Damage {
    /// Notes a reason and the affected objects.
    pub(super) fn add(&mut self, what: String, ids: impl IntoIterator<Item = ObjectId>) -> usize {
        let at = self.causes.len();
        self.causes.push(what);
        self.cause_of.extend(ids.into_iter().map(|id| (id, at)));
        at
    }
}

/// The result for one block.
struct BlockResult {
    bytes: u64,
    damage: Vec<(String, Vec<ObjectId>)>,
}

/// Reads and hashes a part of the objects.
pub(super) fn check(
    objects: &ObjectIndex,
    packs: &PackSet,
    part: Part,
    progress: Option<&Progress>,
) -> Damage {
    if let Some(progress) = progress {
        progress.begin(0, all_bytes(packs, part));
    }
    let mut damage = Damage::default();
    for pack in packs.packs() {
        let blocks = by_block(pack, part);
        let look = |(number, rows): &(u32, Vec<ObjectRow>)| {
            let looked = look(objects, pack, *number, rows);
            progress.into_iter().for_each(|it| it.add_bytes(looked.bytes));
            looked
        };
        for looked in parallel::map(&blocks, look) {
            damage.bytes_checked += looked.bytes;
            for (what, ids) in looked.damage {
                damage.add(what, ids);
            }
        }
    }
    damage
}

/// Returns the number of bytes in a part.
fn all_bytes(packs: &PackSet, part: Part) -> u64 {
    let rows = packs.packs().iter().flat_map(|pack| pack.objects().flatten());
    rows.filter(|row| part.has(&row.id)).map(|row| u64::from(row.length)).sum()
}

/// Returns the blocks with a part of the objects, with their rows.
fn by_block(pack: &Pack, part: Part) -> Vec<(u32, Vec<ObjectRow>)> {
    let mut rows: Vec<_> = pack.objects().flatten().filter(|row| part.has(&row.id)).collect();
    rows.sort_unstable_by_key(|row| (row.block, row.offset));
    rows.chunk_by(|a, b| a.block == b.block).map(|rows| (rows[0].block, rows.to_vec())).collect()
}

fn look(objects: &ObjectIndex, pack: &Pack, number: u32, rows: &[ObjectRow]) -> BlockResult {
    let block = match pack.read_block(&objects.disk, number) {
        Ok(block) => block,
        Err(error) => {
            let ids = rows.iter().map(|row| row.id).collect();
            return BlockResult { bytes: 0, damage: vec![(error.to_string(), ids)] };
        }
    };
    let damage = rows.iter().filter_map(|row| {
        let error = check_object(objects, row, &block).err()?;
        Some((error.to_string(), vec![row.id]))
    });
    let damage = damage.collect();
    BlockResult { bytes: rows.iter().map(|row| u64::from(row.length)).sum(), damage }
}

fn check_object(objects: &ObjectIndex, row: &ObjectRow, block: &Bytes) -> io::Result<()> {
    let bytes = index::check(row, index::cut(row, block))?;
    match row.id.kind {
        ObjectKind::List => check_list(objects, row, &bytes),
        _ => Ok(()),
    }
}

/// Checks that the parts of a list make its file.
///
/// A list that no snapshot needs may outlive its parts; a missing part that a snapshot needs is found by the walk from
/// that snapshot.
fn check_list(objects: &ObjectIndex, row: &ObjectRow, bytes: &[u8]) -> io::Result<()> {
    let parts = part_list::decode_sized(bytes, row.size);
    let parts = parts.ok_or_else(|| damaged(format!("the {} is damaged", row.id)))?;
    let is_there = |part: &part_list::Part| objects.size(&ObjectId::blob(&part.hash)).is_ok();
    if !parts.iter().all(is_there) {
        return Ok(());
    }
    let hash = ContentHash::from_bytes(row.id.key);
    LargeFile::new(objects, hash, &parts).check()
}
