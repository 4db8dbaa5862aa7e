//! Line numbers, counted from 1.

use memchr::{memchr, memchr_iter, memrchr};

/// How many places a refusal names.
pub(super) const LISTED: usize = 10;

/// Returns the number of the line at a position, counted from 1.
pub(super) fn number(bytes: &[u8], at: usize) -> usize {
    memchr_iter(b'\n', &bytes[..at.min(bytes.len())]).count() + 1
}

/// Returns the numbers of the lines at positions in ascending order.
pub(super) fn numbers(bytes: &[u8], positions: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut counted = 0;
    let mut line = 1;
    positions
        .map(|at| {
            line += memchr_iter(b'\n', &bytes[counted..at]).count();
            counted = at;
            line
        })
        .collect()
}

/// Returns where the line at a position begins.
pub(super) fn start(bytes: &[u8], at: usize) -> usize {
    memrchr(b'\n', &bytes[..at]).map_or(0, |line_feed| line_feed + 1)
}

/// Returns where the line at a position ends, its ending included.
pub(super) fn end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |line_feed| at + line_feed + 1)
}

/// Formats a list of line numbers of which only the first are known.
pub(super) fn listed(lines: &[usize], count: usize) -> String {
    let numbers: Vec<_> = lines.iter().map(ToString::to_string).collect();
    let numbers = numbers.join(", ");
    match (count.saturating_sub(lines.len()), count) {
        (0, 1) => format!("line {numbers}"),
        (0, _) => format!("lines {numbers}"),
        (more, _) => format!("lines {numbers} and {more} more"),
    }
}
