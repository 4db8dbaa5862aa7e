//! What becomes of each pack.

use std::sync::Arc;

use super::mark::Needed;
use super::places::Places;
use crate::store::objects::index::PackSet;
use crate::store::objects::pack::{ObjectRow, Pack};

/// Packs under this size are merged where there are too many of them.
pub(in super::super) const SMALL_PACK_BYTES: u64 = 1024 * 1024;

/// So many small packs may stay.
pub(in super::super) const SMALL_PACKS: usize = 64;

/// A pack of which more than one in so many bytes is not needed is written anew.
const DEAD_SHARE: u64 = 4;

/// Says how much data that no snapshot needs may stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Care {
    /// A part of each pack may, where that saves writing much.
    Usual,
    /// Nothing may.
    Thorough,
    /// As much as may be: no pack is written anew of which anything is needed.
    Sparing,
}

/// Says what becomes of a pack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// It stays as it is.
    Stays,
    /// It stays for its contents; its directories and lists that are needed are in another pack too.
    StaysForContents { copied: Vec<ObjectRow> },
    /// It goes; what is needed of it, if anything is, is in another pack.
    Goes { copied: Vec<ObjectRow> },
}

/// What was found out about a pack.
struct Look {
    needed: Vec<ObjectRow>,
    dead_bytes: u64,
    all_bytes: u64,
    /// Whether one of its directories or lists is not needed, or in another pack.
    stale_names: bool,
}

impl Look {
    fn at(pack: &Arc<Pack>, needed: &Needed, places: &Places<'_>) -> std::io::Result<Self> {
        let mut look = Self { needed: Vec::new(), dead_bytes: 0, all_bytes: 0, stale_names: false };
        for row in pack.objects() {
            let row = row?;
            look.all_bytes += u64::from(row.length);
            if needed.has(&row.id) && places.is_here(pack, &row.id) {
                look.needed.push(row);
            } else {
                look.dead_bytes += u64::from(row.length);
                look.stale_names |= row.id.kind.names_others();
            }
        }
        Ok(look)
    }

    fn is_worth_writing_anew(&self, pack: &Pack, care: Care) -> bool {
        let dead = pack.object_count() > self.needed.len();
        match care {
            Care::Thorough => dead,
            Care::Sparing => false,
            Care::Usual => dead && self.dead_bytes * DEAD_SHARE >= self.all_bytes,
        }
    }

    fn fate(self, pack: &Pack, care: Care, merge: bool) -> Fate {
        let is_small = pack.bytes < SMALL_PACK_BYTES;
        if self.needed.is_empty() || merge && is_small || self.is_worth_writing_anew(pack, care) {
            return Fate::Goes { copied: self.needed };
        }
        if !self.stale_names {
            return Fate::Stays;
        }
        let names = self.needed.into_iter().filter(|row| row.id.kind.names_others());
        Fate::StaysForContents { copied: names.collect() }
    }
}

/// Decides about every pack.
pub(super) fn decide(
    packs_there: &PackSet,
    needed: &Needed,
    places: &Places<'_>,
    care: Care,
) -> std::io::Result<Vec<(Arc<Pack>, Fate)>> {
    let mut looks = Vec::new();
    for pack in packs_there.packs() {
        looks.push((pack, Look::at(pack, needed, places)?));
    }
    let stays = |(pack, look): &&(&Arc<Pack>, Look)| {
        pack.bytes < SMALL_PACK_BYTES && !look.needed.is_empty()
    };
    let merge = care != Care::Sparing && looks.iter().filter(stays).count() > SMALL_PACKS;
    let decide =
        |(pack, look): (&Arc<Pack>, Look)| (Arc::clone(pack), look.fate(pack, care, merge));
    Ok(looks.into_iter().map(decide).collect())
}
