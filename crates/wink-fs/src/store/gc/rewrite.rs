//! Copies needed objects into new packs.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::store::disk::Disk;
use crate::store::objects::index;
use crate::store::objects::object::ObjectKind;
use crate::store::objects::pack::{
    BLOCK_BYTES, FinishedPack, LOOKUP_BLOCK_BYTES, ObjectRow, Pack, PackWriter,
};
use crate::util::parallel;

/// The approximate size of a new pack.
const PACK_BYTES: u64 = 256 * 1024 * 1024;

/// The objects to copy from one pack.
pub(super) type Source<'s> = (&'s Arc<Pack>, &'s [ObjectRow]);

/// Writes new packs and syncs them; they are not published yet.
pub(super) fn write<'d>(
    disk: &'d Disk,
    sources: &[Source<'_>],
) -> io::Result<Vec<FinishedPack<'d>>> {
    let mut written = Vec::new();
    for together in by_size(sources) {
        let writer = PackWriter::new(disk);
        parallel::try_map(together, |source| copy(disk, &writer, source))?;
        written.extend(writer.finish()?);
    }
    Ok(written)
}

/// Groups packs to about the size of a new one.
fn by_size<'a, 's>(sources: &'a [Source<'s>]) -> Vec<&'a [Source<'s>]> {
    let mut groups = Vec::new();
    let mut start = 0;
    let mut bytes = 0;
    for (at, (_, rows)) in sources.iter().enumerate() {
        bytes += rows.iter().map(|row| u64::from(row.length)).sum::<u64>();
        if bytes >= PACK_BYTES {
            groups.push(&sources[start..=at]);
            (start, bytes) = (at + 1, 0);
        }
    }
    groups.push(&sources[start..]);
    groups
}

fn copy(disk: &Disk, writer: &PackWriter<'_>, (pack, rows): &Source<'_>) -> io::Result<()> {
    let counts = block_counts(pack)?;
    let mut rows = rows.to_vec();
    rows.sort_unstable_by_key(|row| (row.block, row.offset));
    let blocks: Vec<_> = rows.chunk_by(|a, b| a.block == b.block).collect();
    let copied = parallel::try_map(&blocks, |rows| {
        let is_whole = counts.get(&rows[0].block) == Some(&rows.len());
        if is_whole && is_full(rows) {
            copy_block(disk, writer, pack, rows)
        } else {
            copy_objects(disk, writer, pack, rows)
        }
    });
    copied.map(drop)
}

/// Returns how many objects each block has.
fn block_counts(pack: &Pack) -> io::Result<BTreeMap<u32, usize>> {
    let mut counts = BTreeMap::new();
    for row in pack.objects() {
        *counts.entry(row?.block).or_insert(0) += 1;
    }
    Ok(counts)
}

/// Small blocks compress better together.
fn is_full(rows: &[ObjectRow]) -> bool {
    let full = match rows[0].id.kind {
        ObjectKind::Blob => BLOCK_BYTES / 2,
        _ => LOOKUP_BLOCK_BYTES / 2,
    };
    rows.iter().map(|row| row.length as usize).sum::<usize>() >= full
}

fn copy_block(
    disk: &Disk,
    writer: &PackWriter<'_>,
    pack: &Pack,
    rows: &[ObjectRow],
) -> io::Result<()> {
    let (block, stored) = pack.read_stored(disk, rows[0].block)?;
    writer.add_block(block, &stored, rows.to_vec())
}

fn copy_objects(
    disk: &Disk,
    writer: &PackWriter<'_>,
    pack: &Pack,
    rows: &[ObjectRow],
) -> io::Result<()> {
    let block = pack.read_block(disk, rows[0].block)?;
    rows.iter().try_for_each(|row| {
        writer.add(row.id, row.size, &index::check(row, index::cut(row, &block))?)
    })
}
