//! The file names of operations in a store.

use crate::oplog::{BEGUN, numbered};

pub(crate) const DIRECTORY: &str = "operations";

const RECORD: &str = ".op";

/// Returns the path of a record, after its list.
pub(crate) fn record(number: u64) -> String {
    format!("{DIRECTORY}/{number}{RECORD}")
}

/// Returns the path of the list, and of the record, until the operation is done.
pub(crate) fn begun(number: u64) -> String {
    format!("{DIRECTORY}/{}", begun_name(number))
}

/// Returns the name of [`begun`] in the directory.
pub(crate) fn begun_name(number: u64) -> String {
    format!("{number}{BEGUN}")
}

/// Returns the prefix of all pre-images, which is also a directory of pre-images.
pub(crate) fn kept(number: u64) -> String {
    format!("{DIRECTORY}/{number}")
}

/// Returns the path of a line's pre-image.
pub(crate) fn entry(number: u64, line: usize) -> String {
    format!("{DIRECTORY}/{number}{}", numbered(line))
}

/// Returns the path of a list of the first version.
pub(crate) fn old_list(number: u64) -> String {
    format!("{DIRECTORY}/{number}/touched")
}

/// Returns the path of a name if it is a pre-image of this operation.
pub(crate) fn kept_by(number: u64, name: &str) -> Option<String> {
    let (of, line) = name.split_once('.')?;
    (of.parse() == Ok(number)).then(|| line.parse().ok())?.map(|line| entry(number, line))
}

/// The operations in the directory.
pub(crate) struct Numbers {
    /// Recorded ones, oldest first.
    pub(crate) records: Vec<u64>,
    /// Those without a record, last first.
    pub(crate) begun: Vec<u64>,
}

impl Numbers {
    pub(crate) fn of(names: &[String]) -> Self {
        let number = |name: &String| name.strip_suffix(RECORD)?.parse().ok();
        let mut records: Vec<u64> = names.iter().filter_map(number).collect();
        records.sort_unstable();
        let number = |name: &String| name.split('.').next()?.parse().ok();
        let mut begun: Vec<u64> = names.iter().filter_map(number).collect();
        begun.retain(|number| records.binary_search(number).is_err());
        begun.sort_unstable_by(|a, b| b.cmp(a));
        begun.dedup();
        Self { records, begun }
    }

    pub(crate) fn next(&self) -> u64 {
        self.records.last().max(self.begun.first()).map_or(1, |last| last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_number_and_no_record_was_begun() {
        let names = ["1.0", "1.op", "10", "2", "2.op", "3.begun", "4.0", "4.1", ".5.op.tmp", "x"];
        let numbers = Numbers::of(&names.map(str::to_owned));
        assert_eq!(numbers.records, [1, 2]);
        assert_eq!(numbers.begun, [10, 4, 3]);
        assert_eq!(numbers.next(), 11);
    }

    #[test]
    fn only_numbered_entries_of_an_operation_are_kept_for_it() {
        assert_eq!(kept_by(4, "4.12").as_deref(), Some("operations/4.12"));
        for other in ["4.op", "4.begun", "4", "44.1", "x.1", "4.1.2"] {
            assert_eq!(kept_by(4, other), None, "{other}");
        }
    }
}
