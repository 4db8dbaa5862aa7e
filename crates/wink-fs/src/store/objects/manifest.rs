//! The manifest: the packs that must exist, and how far each can be trusted.
//!
//! A record refers to the pack that was written with it. After garbage collection the manifest lists all packs, for all
//! records up to a number. Later records still refer to their own packs.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use serde::{Deserialize, Serialize};

use super::interval_set::IntervalSet;
use crate::snapshot::Snapshot;
use crate::store::catalog::record::{checked_json, with_sum};
use crate::store::disk::Disk;
use crate::store::temporary::Temporary;

pub(crate) const NAME: &str = "roster";
const MAX_BYTES: u64 = 64 * 1024 * 1024;
const VERSION: u32 = 1;

/// How far a pack can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trust {
    /// Everything that its directories and lists refer to is in the store.
    Everything,
    /// Some of what its directories and lists refer to is gone; the needed ones are in other packs.
    Contents,
}

/// The content of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PackManifest {
    /// The number of the last record whose pack is listed here.
    pub(crate) through: u64,
    pub(crate) packs: BTreeMap<String, Trust>,
    /// The numbers of pruned snapshots, if all of them were noted.
    pub(crate) gone: Option<IntervalSet>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    through: u64,
    packs: BTreeMap<String, Trust>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gone: Option<IntervalSet>,
}

/// The state of the file.
#[derive(Debug)]
pub(crate) enum ManifestFile {
    Whole(PackManifest),
    /// Stores of an early version have none.
    Missing,
    Damaged,
}

impl ManifestFile {
    pub(crate) fn whole(self) -> Option<PackManifest> {
        match self {
            Self::Whole(manifest) => Some(manifest),
            Self::Missing | Self::Damaged => None,
        }
    }
}

impl PackManifest {
    /// Returns the manifest of a new store.
    pub(crate) fn of_new_store() -> Self {
        Self { gone: Some(IntervalSet::default()), ..Self::default() }
    }

    /// Returns the last number in use; a number is never reused.
    pub(crate) fn last_number(&self) -> u64 {
        self.through.max(self.gone.as_ref().map_or(0, IntervalSet::last))
    }

    /// Reads the file.
    pub(crate) fn read(disk: &Disk) -> io::Result<ManifestFile> {
        match disk.read(NAME, MAX_BYTES) {
            Ok(bytes) => Ok(decode(&bytes).map_or(ManifestFile::Damaged, ManifestFile::Whole)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Ok(ManifestFile::Missing),
                io::ErrorKind::InvalidData => Ok(ManifestFile::Damaged),
                _ => Err(error),
            },
        }
    }

    /// Replaces the file and syncs it; requires the publish lock.
    pub(crate) fn write(&self, disk: &Disk) -> io::Result<()> {
        let file = self.prepare(disk)?;
        file.sync()?;
        file.replace()
    }

    /// Replaces the file without syncing it: a power loss leaves this one, or a damaged one.
    pub(crate) fn note(&self, disk: &Disk) -> io::Result<()> {
        let mut file = self.prepare(disk)?;
        file.rename()?;
        file.keep();
        Ok(())
    }

    fn prepare<'d>(&self, disk: &'d Disk) -> io::Result<Temporary<'d>> {
        let mut file = Temporary::over(disk, ".", NAME.to_owned())?;
        file.write_all(self.encode()?.as_bytes())?;
        Ok(file)
    }

    fn encode(&self) -> io::Result<String> {
        let Self { through, packs, gone } = self.clone();
        Ok(with_sum(&serde_json::to_string(&Stored { version: VERSION, through, packs, gone })?))
    }

    /// Adds the packs of records that are about to be removed; returns whether any was new.
    pub(crate) fn take_over<'s>(&mut self, going: impl IntoIterator<Item = &'s Snapshot>) -> bool {
        let before = self.packs.len();
        for snapshot in going {
            if self.is_later(snapshot) {
                self.packs.entry(snapshot.reference.clone()).or_insert(Trust::Everything);
            }
        }
        self.packs.len() > before
    }

    /// Returns the packs that must exist, with how far each can be trusted.
    pub(crate) fn expected(&self, snapshots: &[Snapshot]) -> BTreeMap<String, Trust> {
        let mut expected = self.packs.clone();
        let later = snapshots.iter().filter(|it| self.is_later(it));
        expected.extend(later.map(|it| (it.reference.clone(), Trust::Everything)));
        expected
    }

    fn is_later(&self, snapshot: &Snapshot) -> bool {
        snapshot.sequence > self.through && !snapshot.reference.is_empty()
    }
}

fn decode(bytes: &[u8]) -> Option<PackManifest> {
    let stored: Stored = serde_json::from_str(checked_json(bytes)?).ok()?;
    let Stored { version, through, packs, gone } = stored;
    (version == VERSION).then_some(PackManifest { through, packs, gone })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::NewSnapshot;
    use std::time::SystemTime;

    fn snapshot(sequence: u64, reference: &str) -> Snapshot {
        let new = NewSnapshot::new(SystemTime::UNIX_EPOCH);
        let reference = reference.to_owned();
        Snapshot { sequence, reference, ..Snapshot::of(&new, "store") }
    }

    #[test]
    fn records_up_to_its_number_are_accounted_for_and_later_ones_name_their_packs() {
        let packs = BTreeMap::from([("merged".to_owned(), Trust::Contents)]);
        let mut manifest = PackManifest { through: 2, packs, gone: None };
        let all = [snapshot(1, "gone"), snapshot(3, "new"), snapshot(4, "")];
        let expected = manifest.expected(&all);
        assert_eq!(expected.keys().collect::<Vec<_>>(), ["merged", "new"]);
        assert_eq!(expected["merged"], Trust::Contents);
        assert!(!manifest.take_over(&all[..1]) && manifest.take_over(&all[1..]));
        assert_eq!(manifest.expected(&all[..1]), expected, "what goes is still to be there");
    }

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let packs = BTreeMap::from([("a".to_owned(), Trust::Everything)]);
        let manifest =
            PackManifest { through: 7, packs, gone: Some(IntervalSet::without(&[1, 2, 5], 9)) };
        let text = manifest.encode().unwrap();
        assert_eq!(decode(text.as_bytes()), Some(manifest));
        assert_eq!(decode(text.replace("\"version\":1", "\"version\":2").as_bytes()), None);
        (0..text.len()).for_each(|len| assert_eq!(decode(&text.as_bytes()[..len]), None, "{len}"));
    }
}
