//! Verifies a store: records, tables, everything that snapshots reach, and the bytes themselves.

mod data;
mod reach;

use std::collections::BTreeMap;

use self::data::Part;
use self::reach::{Reach, Walker};
use super::catalog::missing::{self, Missing};
use super::catalog::{self, pins};
use super::disk::Disk;
use super::objects::index::{ObjectIndex, PackSet};
use super::objects::manifest::{ManifestFile, PackManifest};
use super::{failure, lock};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::oplog::file::{self, Contents};
use crate::snapshot::{Problem, Snapshot, SnapshotId, Verification, VerifyOptions};

/// Verifies a store on disk, regardless of what is in memory.
pub(super) fn verify(disk: &Disk, options: &VerifyOptions) -> Result<Verification> {
    let _shared = share(disk)?;
    verify_alone(disk, options)
}

/// Verifies a store that the caller has locked.
pub(super) fn verify_alone(disk: &Disk, options: &VerifyOptions) -> Result<Verification> {
    let part = Part::new(options)?;
    let objects = ObjectIndex::new(disk.clone());
    let packs = objects.refresh().map_err(failed)?;
    let mut findings = Findings::default();
    let snapshots = findings.records(disk)?;
    let manifest = findings.manifest(disk)?;
    findings.packs(&packs, &snapshots, &manifest);
    findings.missing_records(disk, &snapshots, &manifest);
    findings.pins(disk)?;
    findings.operations(disk, options)?;
    let damage = if options.data {
        data::check(&objects, &packs, part, options.progress.as_ref())
    } else {
        data::Damage::default()
    };
    findings.verification.bytes_checked = damage.bytes_checked;
    findings.reached(Walker::new(&objects, damage), &snapshots);
    Ok(findings.verification)
}

/// Locks deletion out. A store that cannot be written to needs no lock.
fn share(disk: &Disk) -> Result<Option<lock::Held>> {
    match lock::share(disk) {
        Ok(held) => Ok(Some(held)),
        Err(error) if error.kind() == ErrorKind::Locked => Err(error.during(Operation::Verify)),
        Err(_) => Ok(None),
    }
}

fn failed(error: std::io::Error) -> Error {
    failure::of(Operation::Verify, error)
}

#[derive(Default)]
struct Findings {
    verification: Verification,
}

impl Findings {
    fn add(&mut self, what: impl Into<String>, snapshots: Vec<SnapshotId>) {
        self.verification.problems.push(Problem::new(what, snapshots));
    }

    /// Returns the snapshots with an intact record.
    fn records(&mut self, disk: &Disk) -> Result<Vec<Snapshot>> {
        let names = catalog::names(disk).map_err(failed)?;
        self.verification.snapshots = names.len() as u64;
        let mut whole = Vec::new();
        for name in names {
            match catalog::read(disk, &name) {
                Ok(snapshot) => whole.push(snapshot),
                Err(error) => {
                    let what = error.during(Operation::Verify).to_string();
                    self.add(what, name.parse().into_iter().collect());
                }
            }
        }
        Ok(whole)
    }

    fn packs(&mut self, packs: &PackSet, snapshots: &[Snapshot], manifest: &PackManifest) {
        let usable = packs.packs();
        self.verification.packs = (usable.len() + packs.unusable.len()) as u64;
        self.verification.objects = usable.iter().map(|pack| pack.object_count() as u64).sum();
        for (id, why) in &packs.unusable {
            self.add(why, written_with(id, snapshots));
        }
        for pack in usable {
            if let Err(error) = pack.check_rows() {
                self.add(error.to_string(), written_with(&pack.id, snapshots));
            }
        }
        self.missing_packs(packs, snapshots, manifest);
    }

    fn missing_packs(&mut self, packs: &PackSet, snapshots: &[Snapshot], manifest: &PackManifest) {
        let is_unusable = |id: &String| packs.unusable.iter().any(|(unusable, _)| unusable == id);
        for id in manifest.expected(snapshots).keys() {
            if !packs.has_pack(id) && !is_unusable(id) {
                self.add(format!("pack {id} is missing"), written_with(id, snapshots));
            }
        }
    }

    /// Reports snapshots without a record that were not pruned.
    ///
    /// A damaged record may have had any of the numbers.
    fn missing_records(&mut self, disk: &Disk, snapshots: &[Snapshot], manifest: &PackManifest) {
        let damaged = self.verification.snapshots - snapshots.len() as u64;
        let Missing { known, numbers } = missing::look(disk, manifest, snapshots);
        for Snapshot { id, tag, .. } in known {
            let tag = tag.map(|tag| format!(" ({tag})")).unwrap_or_default();
            let what = format!("the record of the snapshot {id}{tag} is missing");
            self.add(what, vec![id]);
        }
        if numbers.len() as u64 > damaged {
            let count = numbers.len() as u64 - damaged;
            let what = format!("the records of some snapshots are missing: {count}");
            self.add(what, Vec::new());
        }
    }

    /// Returns the manifest; without an intact one, only records say which packs must exist.
    fn manifest(&mut self, disk: &Disk) -> Result<PackManifest> {
        match PackManifest::read(disk).map_err(failed)? {
            ManifestFile::Whole(manifest) => Ok(manifest),
            ManifestFile::Missing => Ok(PackManifest::default()),
            ManifestFile::Damaged => {
                let what = "the store's file `roster` is damaged; repair the store";
                self.add(what, Vec::new());
                // Packs that records refer to may have been merged, so none is required.
                Ok(PackManifest { through: u64::MAX, ..PackManifest::default() })
            }
        }
    }

    fn pins(&mut self, disk: &Disk) -> Result<()> {
        for name in pins::damaged(disk).map_err(failed)? {
            self.add(
                format!("the pin {name} is damaged; it holds until it is removed"),
                Vec::new(),
            );
        }
        Ok(())
    }

    /// Reports damaged operations; their pre-images are not part of a partial verification.
    fn operations(&mut self, disk: &Disk, options: &VerifyOptions) -> Result<()> {
        let contents = if options.data { Contents::Read } else { Contents::Unread };
        for damaged in file::damaged_operations(disk, contents)? {
            self.add(damaged.what, Vec::new());
        }
        Ok(())
    }

    /// Reports what each snapshot reaches that is damaged or missing.
    fn reached(&mut self, mut walker: Walker<'_>, snapshots: &[Snapshot]) {
        let mut by_cause: BTreeMap<usize, Vec<SnapshotId>> = BTreeMap::new();
        for snapshot in snapshots {
            let reach = snapshot.tree_hash.map(|root| walker.below(&root)).unwrap_or_default();
            reach.causes.iter().for_each(|at| by_cause.entry(*at).or_default().push(snapshot.id));
            self.missing(&reach, snapshot.id);
        }
        for (at, what) in walker.into_causes().into_iter().enumerate() {
            self.add(what, by_cause.remove(&at).unwrap_or_default());
        }
    }

    fn missing(&mut self, reach: &Reach, snapshot: SnapshotId) {
        if let Some(first) = reach.missing.first() {
            let count = reach.missing.len();
            self.add(
                format!("objects are missing: {count}, among them the {first}"),
                vec![snapshot],
            );
        }
    }
}

fn written_with(pack: &str, snapshots: &[Snapshot]) -> Vec<SnapshotId> {
    let wrote_it = |snapshot: &&Snapshot| snapshot.reference == pack;
    snapshots.iter().filter(wrote_it).map(|snapshot| snapshot.id).collect()
}
