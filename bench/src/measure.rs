//! Repetitions: ours, theirs, ours, theirs, each checked against the other.

use std::fmt::Debug;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::stats::Samples;

/// How many repetitions count, after the first one, which only warms up and compares.
pub(crate) const REPETITIONS: usize = 7;

/// One repetition: its value in the case's unit, and its result for the comparison.
#[derive(Debug)]
pub(crate) struct Measured<R> {
    pub(crate) value: f64,
    pub(crate) result: R,
}

impl<R> Measured<R> {
    /// Takes something else for the result, such as what is now on the disk.
    pub(crate) fn with_result<S>(self, result: S) -> Measured<S> {
        Measured { value: self.value, result }
    }
}

/// Takes the time of `work`, in milliseconds.
pub(crate) fn timed_ms<R>(work: impl FnOnce() -> Result<R>) -> Result<Measured<R>> {
    let start = Instant::now();
    let result = work()?;
    Ok(Measured { value: start.elapsed().as_secs_f64() * 1e3, result })
}

/// Runs both sides in turn; every result, the untimed first one included, must equal the other's.
pub(crate) fn side_by_side<R: PartialEq + Debug>(
    ours: impl FnMut() -> Result<Measured<R>>,
    theirs: impl FnMut() -> Result<Measured<R>>,
) -> Result<(Samples, Samples)> {
    rounds(REPETITIONS, ours, theirs)
}

/// The same with another number of repetitions, for what takes very long.
pub(crate) fn rounds<R: PartialEq + Debug>(
    repetitions: usize,
    mut ours: impl FnMut() -> Result<Measured<R>>,
    mut theirs: impl FnMut() -> Result<Measured<R>>,
) -> Result<(Samples, Samples)> {
    let (mut our_values, mut their_values) = (Vec::new(), Vec::new());
    for _ in 0..=repetitions {
        let (ours, theirs) = (ours().context("ours")?, theirs().context("theirs")?);
        check_equal(&ours.result, &theirs.result)?;
        our_values.push(ours.value);
        their_values.push(theirs.value);
    }
    Ok((without_first(our_values)?, without_first(their_values)?))
}

/// Runs one side alone; every result, the untimed first one included, must be the expected one.
pub(crate) fn alone<R: PartialEq + Debug>(
    expected: &R,
    mut ours: impl FnMut() -> Result<Measured<R>>,
) -> Result<Samples> {
    let mut values = Vec::new();
    for _ in 0..=REPETITIONS {
        let ours = ours()?;
        check_equal(&ours.result, expected)?;
        values.push(ours.value);
    }
    without_first(values)
}

pub(crate) fn check_equal<R: PartialEq + Debug>(ours: &R, theirs: &R) -> Result<()> {
    ensure!(ours == theirs, "the results differ: ours {ours:?}, expected {theirs:?}");
    Ok(())
}

fn without_first(mut values: Vec<f64>) -> Result<Samples> {
    values.remove(0);
    Samples::new(values).context("a measurement is not a number")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn sides_take_turns_and_the_first_round_does_not_count() {
        let log = RefCell::new(Vec::new());
        let side = |name| {
            log.borrow_mut().push(name);
            let value = log.borrow().len() as f64;
            Ok(Measured { value, result: () })
        };
        let (ours, theirs) = side_by_side(|| side('a'), || side('b')).unwrap();
        assert_eq!(log.borrow().iter().collect::<String>(), "ab".repeat(REPETITIONS + 1));
        assert_eq!((ours.count(), theirs.count()), (REPETITIONS, REPETITIONS));
        assert_eq!(theirs.median() - ours.median(), 1.0);
    }

    #[test]
    fn different_results_are_an_error_in_the_first_round() {
        let mut rounds = 0;
        let ours = || {
            rounds += 1;
            Ok(Measured { value: 1.0, result: "a" })
        };
        let theirs = || Ok(Measured { value: 1.0, result: "b" });
        let error = side_by_side(ours, theirs).unwrap_err().to_string();
        assert!(error.contains(r#"ours "a", expected "b""#), "{error}");
        assert_eq!(rounds, 1);
    }

    #[test]
    fn at_least_five_repetitions_count() {
        const { assert!(REPETITIONS >= 5) };
    }
}
