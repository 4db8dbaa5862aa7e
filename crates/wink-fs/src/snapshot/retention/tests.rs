use proptest::prelude::*;

use super::*;
use crate::snapshot::NewSnapshot;

const SECOND: Duration = Duration::from_secs(1);

fn at(second: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(second)
}

fn snapshot(sequence: u64, created: u64, tagged: bool, safety: bool) -> Snapshot {
    let mut new = NewSnapshot::new(at(created));
    new.tag = tagged.then(|| format!("tag {sequence}"));
    new.cause = if safety { SnapshotCause::Safety } else { SnapshotCause::Requested };
    Snapshot { sequence, ..Snapshot::of(&new, "test") }
}

/// Snapshots whose times follow no order, some with a tag, some for safety.
fn snapshots() -> impl Strategy<Value = Vec<Snapshot>> {
    let one = (0..100u64, any::<bool>(), any::<bool>());
    let number = |(at, (created, tagged, safety)): (usize, (u64, bool, bool))| {
        snapshot(at as u64 + 1, created, tagged, safety)
    };
    prop::collection::vec(one, 0..40)
        .prop_map(move |all| all.into_iter().enumerate().map(number).collect())
}

fn retentions() -> impl Strategy<Value = Retention> {
    let parts = (prop::option::of(0..12usize), prop::option::of(0..100u64), any::<bool>());
    parts.prop_map(|(count, age, keep_tagged)| Retention {
        max_count: count,
        max_safety: 10,
        max_age: age.map(Duration::from_secs),
        keep_tagged,
        max_bytes: None,
        space_first: false,
    })
}

fn ids(snapshots: &[Snapshot]) -> Vec<SnapshotId> {
    snapshots.iter().map(|it| it.id).collect()
}

proptest! {
    #[test]
    fn the_newest_the_pinned_and_the_tagged_stay(
        (retention, all, now, pinned) in (retentions(), snapshots(), 0..200u64, any::<u64>())
    ) {
        let is_pinned = |at: usize| pinned >> (at % 64) & 1 == 1;
        let pin = |(at, it): (usize, &Snapshot)| is_pinned(at).then(|| Pin::new(it.id, "test"));
        let pins: Vec<_> = all.iter().enumerate().filter_map(pin).collect();
        for going in [retention.expired(&all, &pins, at(now)), retention.expendable(&all, &pins, at(now), SnapshotOrigin::User)] {
            for (at, it) in all.iter().enumerate().filter(|(_, it)| going.contains(&it.id)) {
                prop_assert!(at + 1 < all.len() && !is_pinned(at));
                prop_assert!(!(retention.keep_tagged && it.tag.is_some()));
            }
        }
    }

    #[test]
    fn count_keeps_the_last_of_those_that_were_asked_for(
        (all, count, safety) in (snapshots(), 0..12usize, 0..12usize)
    ) {
        let retention = Retention::default().max_count(count).max_safety(safety);
        let going = retention.expired(&all, &[], at(1_000));
        for (cause, kept) in [(SnapshotCause::Requested, count), (SnapshotCause::Safety, safety)] {
            let counted: Vec<_> =
                all.iter().filter(|it| it.cause == cause && it.tag.is_none()).collect();
            let older = counted.len().saturating_sub(kept);
            for (at, it) in counted.iter().enumerate() {
                let is_newest = all.last().is_some_and(|last| last.id == it.id);
                prop_assert_eq!(going.contains(&it.id), at < older && !is_newest);
            }
        }
    }

    #[test]
    fn fault_29_a_clock_that_is_behind_takes_nothing_by_age((all, age) in (snapshots(), 0..100u64)) {
        let Some(youngest) = all.iter().map(|it| it.created_at).max() else { return Ok(()) };
        let retention = Retention::everything().max_age(Duration::from_secs(age));
        let without = Retention::everything();
        for back in [SECOND, 50 * SECOND] {
            let Some(now) = youngest.checked_sub(back) else { continue };
            prop_assert_eq!(retention.expired(&all, &[], now), without.expired(&all, &[], now));
        }
    }

    #[test]
    fn what_is_left_is_left_alone((retention, all, now) in (retentions(), snapshots(), 100..200u64)) {
        let going = retention.expired(&all, &[], at(now));
        let left: Vec<_> = all.into_iter().filter(|it| !going.contains(&it.id)).collect();
        prop_assert_eq!(retention.expired(&left, &[], at(now)), []);
    }
}

#[test]
fn age_takes_what_is_older() {
    let all: Vec<_> = (1..=5).map(|number| snapshot(number, 10 * number, false, false)).collect();
    let retention = Retention::everything().max_age(25 * SECOND);
    assert_eq!(retention.expired(&all, &[], at(55)), ids(&all[..2]));
    assert_eq!(retention.expired(&all, &[], at(1_000)), ids(&all[..4]), "the newest stays");
}

#[test]
fn a_pin_that_has_expired_counts_no_longer() {
    let all: Vec<_> = (1..=2).map(|number| snapshot(number, number, false, false)).collect();
    let retention = Retention::default().max_count(1);
    let pins = [Pin::new(all[0].id, "session").expires(at(10))];
    assert_eq!(retention.expired(&all, &pins, at(9)), []);
    assert_eq!(retention.expired(&all, &pins, at(10)), ids(&all[..1]));
}

#[test]
fn safety_goes_first_for_space_and_the_others_only_where_no_count_protects_them() {
    let safety = [false, true, false, true, false];
    let all: Vec<_> =
        safety.iter().zip(1..).map(|(safety, at)| snapshot(at, at, false, *safety)).collect();
    let order =
        |retention: Retention| retention.expendable(&all, &[], at(100), SnapshotOrigin::User);
    let [a, b, c, d, _] = ids(&all)[..] else { panic!("five were made") };
    assert_eq!(order(Retention::everything()), [b, d, a, c]);
    assert_eq!(order(Retention::default()), [b, d]);
    assert_eq!(order(Retention::default().space_first(true)), [b, d, a, c]);
}

#[test]
fn what_agents_ask_for_pushes_out_nothing_that_people_did_and_goes_first() {
    let ask = |number, by| Snapshot { asked_by: by, ..snapshot(number, number, false, false) };
    let person = ask(1, SnapshotOrigin::User);
    let unasked = ask(2, SnapshotOrigin::Auto);
    let agents: Vec<_> = (3..=6).map(|number| ask(number, SnapshotOrigin::Agent)).collect();
    let all = [&[person.clone(), unasked.clone()][..], &agents].concat();
    let retention = Retention::default().max_count(2).space_first(true);
    assert_eq!(retention.expired(&all, &[], at(10)), ids(&agents[..2]));
    let order = [unasked.id, agents[0].id, agents[1].id, agents[2].id, person.id];
    let expendable = |for_whom| retention.expendable(&all, &[], at(10), for_whom);
    assert_eq!(expendable(SnapshotOrigin::User), order, "the newest stays");
    assert_eq!(expendable(SnapshotOrigin::Agent), order[..4], "a person's stays");
}

/// Once, a tag kept what an agent had taken, and what a person had taken went for it.
#[test]
fn a_tag_by_an_agent_keeps_nothing_when_space_runs_out() {
    let ask =
        |number, tagged, by| Snapshot { asked_by: by, ..snapshot(number, number, tagged, false) };
    let person = ask(1, false, SnapshotOrigin::User);
    let persons_tag = ask(2, true, SnapshotOrigin::User);
    let agents_tag = ask(3, true, SnapshotOrigin::Agent);
    let agents = ask(4, false, SnapshotOrigin::Agent);
    let newest = ask(5, true, SnapshotOrigin::Agent);
    let all = [person.clone(), persons_tag, agents_tag.clone(), agents.clone(), newest];
    let retention = Retention::default().space_first(true);
    assert_eq!(retention.expired(&all, &[], at(10)), [], "by count it stays");
    let expendable = |for_whom| retention.expendable(&all, &[], at(10), for_whom);
    assert_eq!(expendable(SnapshotOrigin::Agent), [agents.id, agents_tag.id]);
    assert_eq!(expendable(SnapshotOrigin::User), [agents.id, agents_tag.id, person.id]);
}
