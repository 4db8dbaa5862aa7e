//! A set of numbers that are mostly consecutive.

use serde::{Deserialize, Serialize};

/// The first and last number of each run, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct IntervalSet(Vec<(u64, u64)>);

impl IntervalSet {
    pub(crate) fn contains(&self, number: u64) -> bool {
        let at = self.0.partition_point(|(_, last)| *last < number);
        self.0.get(at).is_some_and(|(first, _)| *first <= number)
    }

    /// Returns the largest number, or 0.
    pub(crate) fn last(&self) -> u64 {
        self.0.last().map_or(0, |(_, last)| *last)
    }

    /// Adds numbers; returns whether any was new.
    pub(crate) fn add(&mut self, numbers: impl IntoIterator<Item = u64>) -> bool {
        let before = self.0.clone();
        let mut runs = before.clone();
        runs.extend(numbers.into_iter().map(|number| (number, number)));
        runs.sort_unstable();
        self.0.clear();
        for (first, last) in runs {
            match self.0.last_mut() {
                Some(run) if first <= run.1.saturating_add(1) => run.1 = run.1.max(last),
                _ => self.0.push((first, last)),
            }
        }
        self.0 != before
    }

    /// Returns the numbers from 1 to `last` that are not in a sorted list.
    pub(crate) fn without(sorted: &[u64], last: u64) -> Self {
        let mut runs = Vec::new();
        let mut next = 1;
        for number in sorted.iter().copied().chain([last.saturating_add(1)]) {
            if number > next {
                runs.push((next, number - 1));
            }
            next = next.max(number.saturating_add(1));
        }
        Self(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_meet_are_one() {
        let mut numbers = IntervalSet::default();
        assert!(numbers.add([5, 1, 2]));
        assert_eq!(numbers.0, [(1, 2), (5, 5)]);
        assert!(numbers.add([3, 4]) && !numbers.add([2, 5]));
        assert_eq!((numbers.0.as_slice(), numbers.last()), (&[(1, 5)][..], 5));
        assert!(numbers.contains(1) && numbers.contains(5));
        assert!(!numbers.contains(0) && !numbers.contains(6));
        assert_eq!(IntervalSet::default().last(), 0);
    }

    #[test]
    fn what_is_missing_are_the_gaps_up_to_the_last() {
        assert_eq!(IntervalSet::without(&[2, 3, 3, 6], 8).0, [(1, 1), (4, 5), (7, 8)]);
        assert_eq!(IntervalSet::without(&[1, 2], 2).0, []);
        assert_eq!(IntervalSet::without(&[], 0).0, []);
    }
}
