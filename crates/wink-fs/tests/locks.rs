//! The locks between snapshots and those who give space back, in many orders of their steps.
//!
//! It is a model: a store is two maps, and every look at it or change of it is a step between which
//! others may have their turn. It takes the locks in the order in which the store does
//! (`docs/store-format.md`). Protocols that leave a part out show that the model finds what is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::sync::{Arc, Mutex, RwLock};
use shuttle::thread;

use crate::common::size::size;

type Objects = BTreeSet<u32>;

fn orders() -> usize {
    size(500, 1_500)
}

/// Says which part of the protocol is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Whole,
    /// A snapshot does not keep others from deleting what it relies on.
    NoSharedLock,
    /// A prune does not look at what was published while it made up its mind.
    NoSecondLook,
    /// A prune replaces the roster while others forget snapshots.
    NoTurnToCommit,
}

#[derive(Clone)]
struct Record {
    objects: Objects,
    pack: Option<u32>,
}

/// What is on the disk.
#[derive(Default)]
struct Disk {
    packs: BTreeMap<u32, Objects>,
    records: BTreeMap<u32, Record>,
    through: u32,
    roster: BTreeSet<u32>,
    /// The numbers of the records that were forgotten.
    gone: BTreeSet<u32>,
    next_pack: u32,
}

impl Disk {
    fn expected(&self) -> BTreeSet<u32> {
        let later = self.records.range(self.through + 1..);
        later.filter_map(|(_, record)| record.pack).chain(self.roster.iter().copied()).collect()
    }

    fn relied_on(&self) -> Objects {
        let expected = self.expected();
        let packs = self.packs.iter().filter(|(id, _)| expected.contains(id));
        packs.flat_map(|(_, objects)| objects.clone()).collect()
    }

    fn add_pack(&mut self, objects: Objects) -> Option<u32> {
        if objects.is_empty() {
            return None;
        }
        self.next_pack += 1;
        self.packs.insert(self.next_pack, objects);
        Some(self.next_pack)
    }

    fn last_number(&self) -> u32 {
        let numbers = self.records.keys().chain(&self.gone).chain([&self.through]);
        numbers.copied().max().unwrap_or(0)
    }

    #[track_caller]
    fn check(&self) {
        let there: Objects = self.packs.values().flatten().copied().collect();
        for (number, record) in &self.records {
            assert!(record.objects.is_subset(&there), "snapshot {number} lost an object");
        }
        let missing = self.expected().into_iter().find(|id| !self.packs.contains_key(id));
        assert_eq!(missing, None, "a pack that is to be there is not");
        let last = self.last_number();
        let is_known =
            |number: &u32| self.records.contains_key(number) != self.gone.contains(number);
        let unknown = (1..=last).find(|number| !is_known(number));
        assert_eq!(unknown, None, "a record is missed, or two had one number");
    }
}

struct Store {
    protocol: Protocol,
    lock: RwLock<()>,
    publish: Mutex<()>,
    prune: Mutex<()>,
    disk: Mutex<Disk>,
}

impl Store {
    fn new(protocol: Protocol) -> Self {
        let (lock, publish, prune) = (RwLock::new(()), Mutex::new(()), Mutex::new(()));
        Self { protocol, lock, publish, prune, disk: Mutex::default() }
    }

    /// One step: what is done in it is done at once.
    fn step<T>(&self, work: impl FnOnce(&mut Disk) -> T) -> T {
        let mut disk = self.disk.lock().unwrap();
        work(&mut disk)
    }

    fn snapshot(&self, objects: Objects) {
        let keeps_others_out = self.protocol != Protocol::NoSharedLock;
        let _shared = keeps_others_out.then(|| self.lock.read().unwrap());
        let relied_on = self.step(|disk| disk.relied_on());
        let new = objects.difference(&relied_on).copied().collect();
        let _turn = self.publish.lock().unwrap();
        let last = self.step(|disk| disk.last_number());
        let pack = self.step(|disk| disk.add_pack(new));
        self.step(|disk| disk.records.insert(last + 1, Record { objects, pack }));
    }

    /// Forgets all but the newest.
    fn forget(&self) {
        let _turn = self.publish.lock().unwrap();
        let all: Vec<u32> = self.step(|disk| disk.records.keys().copied().collect());
        let going = &all[..all.len().saturating_sub(1)];
        let (mut roster, mut gone) = self.step(|disk| (disk.roster.clone(), disk.gone.clone()));
        self.step(|disk| {
            let later = going.iter().filter(|number| **number > disk.through);
            roster.extend(later.filter_map(|number| disk.records[number].pack));
            gone.extend(going);
            (disk.roster, disk.gone) = (roster, gone);
        });
        going.iter().for_each(|number| drop(self.step(|disk| disk.records.remove(number))));
    }

    fn prune(&self) {
        let _only = self.prune.lock().unwrap();
        let mut plan = {
            let _shared = self.lock.read().unwrap();
            self.plan()
        };
        let _alone = self.lock.write().unwrap();
        let takes_turn = self.protocol != Protocol::NoTurnToCommit;
        let _turn = takes_turn.then(|| self.publish.lock().unwrap());
        if self.protocol != Protocol::NoSecondLook && !self.covers_new(&plan) {
            plan = self.plan();
        }
        self.commit(&plan);
    }

    fn plan(&self) -> Plan {
        let records = self.step(|disk| disk.records.clone());
        let packs = self.step(|disk| disk.packs.clone());
        let through = self.step(|disk| disk.through);
        let needed: Objects = records.values().flat_map(|it| it.objects.clone()).collect();
        let is_dead = |objects: &Objects| !objects.is_subset(&needed);
        let (doomed, stays): (Vec<_>, Vec<_>) =
            packs.into_iter().partition(|(_, objects)| is_dead(objects));
        let copied = doomed.iter().flat_map(|(_, objects)| objects.intersection(&needed).copied());
        let new = self.step(|disk| disk.add_pack(copied.collect()));
        let last = records.keys().last().copied().unwrap_or(0);
        Plan {
            seen: records.into_keys().collect(),
            doomed: doomed.into_iter().map(|(id, _)| id).collect(),
            roster: stays.into_iter().map(|(id, _)| id).chain(new).collect(),
            through: last.max(through),
        }
    }

    fn covers_new(&self, plan: &Plan) -> bool {
        let records = self.step(|disk| disk.records.clone());
        let packs = self.step(|disk| disk.packs.clone());
        let stays = packs.iter().filter(|(id, _)| !plan.doomed.contains(id));
        let there: Objects = stays.flat_map(|(_, objects)| objects.clone()).collect();
        let mut new = records.iter().filter(|(number, _)| !plan.seen.contains(number));
        new.all(|(_, record)| {
            // Its pack may have been there without it, and another hold the same objects.
            let pack_stays = record.pack.is_none_or(|pack| !plan.doomed.contains(&pack));
            pack_stays && record.objects.is_subset(&there)
        })
    }

    fn commit(&self, plan: &Plan) {
        let (roster, gone) = self.step(|disk| (disk.roster.clone(), disk.gone.clone()));
        self.step(|disk| {
            let strangers = roster.iter().filter(|id| !plan.doomed.contains(id));
            disk.roster = plan.roster.iter().chain(strangers).copied().collect();
            (disk.through, disk.gone) = (plan.through, gone);
        });
        plan.doomed.iter().for_each(|id| drop(self.step(|disk| disk.packs.remove(id))));
    }
}

struct Plan {
    seen: BTreeSet<u32>,
    doomed: BTreeSet<u32>,
    roster: BTreeSet<u32>,
    through: u32,
}

/// Takes snapshots that share objects while others forget and prune.
fn everybody_at_once(protocol: Protocol) {
    let store = Arc::new(Store::new(protocol));
    store.snapshot(Objects::from([1, 2, 3]));
    store.snapshot(Objects::from([3, 4]));
    let run = |work: fn(&Store)| {
        let store = store.clone();
        thread::spawn(move || work(&store))
    };
    let threads = [
        run(|store| {
            store.snapshot(Objects::from([1, 2, 5]));
            store.snapshot(Objects::from([2, 6]));
        }),
        run(|store| store.snapshot(Objects::from([1, 4, 5]))),
        run(|store| {
            store.forget();
            store.prune();
        }),
        run(Store::prune),
    ];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    store.step(|disk| disk.check());
    store.forget();
    store.prune();
    store.snapshot(Objects::from([1, 2, 3, 4, 5, 6]));
    store.step(|disk| disk.check());
}

#[test]
fn fault_28_no_order_of_snapshots_and_prunes_loses_anything() {
    shuttle::check_random(|| everybody_at_once(Protocol::Whole), orders());
    shuttle::check_pct(|| everybody_at_once(Protocol::Whole), orders(), 3);
}

/// The orders are always the same, among which are those that lose something.
const SEED: u64 = 1;

#[test]
fn fault_28_without_a_part_of_the_protocol_something_is_lost() {
    use Protocol::{NoSecondLook, NoSharedLock, NoTurnToCommit};
    for protocol in [NoSharedLock, NoSecondLook, NoTurnToCommit] {
        let found = catch_unwind(AssertUnwindSafe(|| {
            shuttle::check_random_with_seed(move || everybody_at_once(protocol), SEED, orders());
        }));
        assert!(found.is_err(), "the model finds nothing and so proves nothing");
    }
}
