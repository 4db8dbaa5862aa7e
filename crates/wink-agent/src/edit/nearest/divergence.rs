//! Where a text stops matching a file.

use memchr::memmem;

use super::{Difference, Nearest, TELLING, found, whole_lines};
use crate::edit::fold::Fold;
use crate::edit::{lines, snippet};

/// Finds the longest beginning or end of `old` that is in the file, and the lines that differ next to it.
pub(super) fn divergence(bytes: &[u8], folded: &[u8], old: &str) -> Option<Nearest> {
    let wanted = Fold::ALL.text(old.as_bytes());
    let prefix = longest(wanted.len(), |length| memmem::find(folded, &wanted[..length]));
    let suffix =
        longest(wanted.len(), |length| memmem::find(folded, &wanted[wanted.len() - length..]));
    let best = prefix.max(suffix)?;
    if best.0 < TELLING.min(wanted.len().div_ceil(2)).max(2) {
        return None;
    }
    let (in_file, in_old) = if prefix >= suffix {
        (best.1 + best.0, best.0)
    } else {
        // The last byte before the end that is the same; if there is none, the file begins there.
        (best.1.saturating_sub(1), wanted.len() - best.0 - 1)
    };
    let in_file = Fold::ALL.original(bytes, in_file);
    let in_old = Fold::ALL.original(old.as_bytes(), in_old);
    Some(describe(bytes, in_file, old.as_bytes(), in_old))
}

/// Finds the greatest length at which something is found, and where; a shorter one is found too.
fn longest(most: usize, find: impl Fn(usize) -> Option<usize>) -> Option<(usize, usize)> {
    let mut known = None;
    let mut least = 1;
    let mut most = most;
    while least <= most {
        let middle = least.midpoint(most);
        match find(middle) {
            Some(at) => {
                known = Some((middle, at));
                least = middle + 1;
            }
            None => most = middle - 1,
        }
    }
    known
}

pub(super) fn describe(bytes: &[u8], at: usize, old: &[u8], at_old: usize) -> Nearest {
    let line = whole_lines(bytes, at..at);
    let given = &old[lines::start(old, at_old)..lines::end(old, at_old)];
    let file = snippet::shown_line(&bytes[line.clone()]);
    let given = snippet::shown_line(given);
    found(bytes, line, Difference::Text { file: file.into_owned(), given: given.into_owned() })
}
