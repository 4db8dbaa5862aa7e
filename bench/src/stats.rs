//! The numbers that stand for several repetitions.

use std::fmt;

/// The values of all repetitions of one side, at least one.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Takes the values in any order; `None` where there are none or one is not a number.
    pub(crate) fn new(mut values: Vec<f64>) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        values.sort_by(f64::total_cmp);
        Some(Self(values))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn median(&self) -> f64 {
        let (lower, upper) = ((self.0.len() - 1) / 2, self.0.len() / 2);
        f64::midpoint(self.0[lower], self.0[upper])
    }

    fn min(&self) -> f64 {
        self.0[0]
    }

    fn max(&self) -> f64 {
        self.0[self.0.len() - 1]
    }
}

/// Shows the median and the spread.
impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, min, max] = [self.median(), self.min(), self.max()].map(short);
        write!(f, "{median} ({min}..{max})")
    }
}

/// Writes a number with about three significant digits.
pub(crate) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64]) -> Samples {
        Samples::new(values.to_vec()).unwrap()
    }

    #[test]
    fn the_median_of_an_odd_number_is_the_middle_one() {
        assert_eq!(samples(&[9.0, 1.0, 5.0]).median(), 5.0);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(samples(&[4.0, 1.0, 2.0, 9.0]).median(), 3.0);
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        assert_eq!(samples(&[1.0, 1.0, 1.0, 1.0, 1000.0]).median(), 1.0);
    }

    #[test]
    fn no_values_and_no_numbers_are_no_samples() {
        assert_eq!(Samples::new(Vec::new()), None);
        assert_eq!(Samples::new(vec![1.0, f64::NAN]), None);
    }

    #[test]
    fn the_spread_is_shown() {
        assert_eq!(samples(&[103.4, 98.0, 512.0]).to_string(), "103 (98.0..512)");
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        assert_eq!([1234.5, 12.34, 1.234, 0.1234].map(short), ["1234", "12.3", "1.23", "0.123"]);
    }
}
