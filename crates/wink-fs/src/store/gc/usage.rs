//! How much space a store takes.

use std::io;

use super::{SMALL_PACK_BYTES, SMALL_PACKS};
use crate::snapshot::Usage;
use crate::store::disk::Disk;
use crate::store::objects::pack;

/// Looks at all files of a store.
pub(crate) fn of(disk: &Disk) -> io::Result<Usage> {
    let packs = pack_sizes(disk)?;
    let small = packs.iter().filter(|bytes| **bytes < SMALL_PACK_BYTES).count() as u64;
    Ok(Usage { bytes: disk.size(".")?, packs: packs.len() as u64, small_packs: small })
}

/// Tells whether there are more small packs than may stay.
pub(crate) fn is_fragmented(disk: &Disk) -> io::Result<bool> {
    // Looking at each takes longer than listing them, and most often there are few.
    if disk.names(pack::DIRECTORY)?.len() <= SMALL_PACKS {
        return Ok(false);
    }
    let is_small = |bytes: &&u64| **bytes < SMALL_PACK_BYTES;
    Ok(pack_sizes(disk)?.iter().filter(is_small).count() > SMALL_PACKS)
}

fn pack_sizes(disk: &Disk) -> io::Result<Vec<u64>> {
    let names = disk.names(pack::DIRECTORY)?;
    let ids = names.iter().filter_map(|name| pack::id_of(name));
    ids.map(|id| disk.size(&pack::place(id))).collect()
}
