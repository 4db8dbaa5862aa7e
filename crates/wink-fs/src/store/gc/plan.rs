//! Plans what happens to each pack.

use std::sync::Arc;

use super::locations::ObjectLocations;
use super::mark::Needed;
use crate::store::objects::index::PackSet;
use crate::store::objects::pack::{ObjectRow, Pack};

/// Smaller packs are merged if there are too many of them.
pub(in super::super) const SMALL_PACK_BYTES: u64 = 1024 * 1024;

/// How many small packs may stay.
pub(in super::super) const SMALL_PACKS: usize = 64;

/// A pack is rewritten if more than one in so many of its bytes is not needed.
const DEAD_SHARE: u64 = 4;

/// How much unneeded data may stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Care {
    /// A part of each pack, to save writing.
    Usual,
    /// Nothing.
    Thorough,
    /// As much as possible: no pack with needed objects is rewritten.
    Sparing,
}

/// What happens to a pack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PackFate {
    /// It stays.
    Keep,
    /// It stays for its contents; its needed directories and lists are copied to another pack.
    KeepContents { copied: Vec<ObjectRow> },
    /// It is deleted; its needed objects are copied to another pack.
    Delete { copied: Vec<ObjectRow> },
}

/// What was found out about a pack.
struct PackSurvey {
    needed: Vec<ObjectRow>,
    dead_bytes: u64,
    all_bytes: u64,
    /// Whether one of its directories or lists is not needed, or is in another pack too.
    has_stale_references: bool,
}

impl PackSurvey {
    fn at(
        pack: &Arc<Pack>,
        needed: &Needed,
        locations: &ObjectLocations<'_>,
    ) -> std::io::Result<Self> {
        let mut survey =
            Self { needed: Vec::new(), dead_bytes: 0, all_bytes: 0, has_stale_references: false };
        for row in pack.objects() {
            let row = row?;
            survey.all_bytes += u64::from(row.length);
            if needed.has(&row.id) && locations.is_here(pack, &row.id) {
                survey.needed.push(row);
            } else {
                survey.dead_bytes += u64::from(row.length);
                survey.has_stale_references |= row.id.kind.names_others();
            }
        }
        Ok(survey)
    }

    fn is_worth_rewriting(&self, pack: &Pack, care: Care) -> bool {
        let dead = pack.object_count() > self.needed.len();
        match care {
            Care::Thorough => dead,
            Care::Sparing => false,
            Care::Usual => dead && self.dead_bytes * DEAD_SHARE >= self.all_bytes,
        }
    }

    fn fate(self, pack: &Pack, care: Care, merge: bool) -> PackFate {
        let is_small = pack.bytes < SMALL_PACK_BYTES;
        if self.needed.is_empty() || merge && is_small || self.is_worth_rewriting(pack, care) {
            return PackFate::Delete { copied: self.needed };
        }
        // A directory that no snapshot needs may refer to objects that are deleted now. A later capture that found it
        // here would believe that everything below it is stored.
        if !self.has_stale_references {
            return PackFate::Keep;
        }
        let names = self.needed.into_iter().filter(|row| row.id.kind.names_others());
        PackFate::KeepContents { copied: names.collect() }
    }
}

/// Plans for every pack.
pub(super) fn decide(
    packs: &PackSet,
    needed: &Needed,
    locations: &ObjectLocations<'_>,
    care: Care,
) -> std::io::Result<Vec<(Arc<Pack>, PackFate)>> {
    let mut surveys = Vec::new();
    for pack in packs.packs() {
        surveys.push((pack, PackSurvey::at(pack, needed, locations)?));
    }
    let stays = |(pack, survey): &&(&Arc<Pack>, PackSurvey)| {
        pack.bytes < SMALL_PACK_BYTES && !survey.needed.is_empty()
    };
    let merge = care != Care::Sparing && surveys.iter().filter(stays).count() > SMALL_PACKS;
    let decide = |(pack, survey): (&Arc<Pack>, PackSurvey)| {
        (Arc::clone(pack), survey.fate(pack, care, merge))
    };
    Ok(surveys.into_iter().map(decide).collect())
}
