//! Replacing one text, or several in order.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;

use super::ending::{self, Endings};
use super::error::{EditError, NumberedError};
use super::nearest::nearest;
use super::search::Search;
use super::splice::{Edited, Replacement};
use super::{lines, nearest};

/// A text and its replacement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    /// Whether every match is replaced, instead of exactly one.
    pub(crate) replace_all: bool,
}

/// Makes one edit whose result has at most `most` bytes.
pub(crate) fn apply(bytes: Bytes, edit: &Edit<'_>, most: u64) -> Result<Edited, EditError> {
    make(&Edited::unchanged(bytes), edit, most)
}

/// Makes several edits in order, each on the result of the one before; all or none.
pub(crate) fn apply_all(
    bytes: Bytes,
    edits: &[Edit<'_>],
    most: u64,
) -> Result<Edited, NumberedError> {
    let mut edited = Edited::unchanged(bytes);
    for (number, edit) in (1..).zip(edits) {
        edited = make(&edited, edit, most).map_err(|refusal| NumberedError {
            number,
            of: edits.len(),
            refusal,
        })?;
    }
    Ok(edited)
}

fn make(before: &Edited, edit: &Edit<'_>, most: u64) -> Result<Edited, EditError> {
    check(edit)?;
    let bytes = &before.bytes;
    let search = Search::of(bytes, edit.old);
    let count = count(bytes, &search, edit)?;
    let change = Change::of(edit, search.is_literal);
    let size = change.size_after(bytes.len(), count);
    if size > most {
        return Err(EditError::TooLarge { size, most });
    }
    let mut endings = Endings::of(bytes);
    let places = search.places().take(count);
    let replacements = places.map(|place| change.at(place, &search, &mut endings));
    Ok(before.splice(replacements, size as usize))
}

fn check(edit: &Edit<'_>) -> Result<(), EditError> {
    match edit.old {
        "" => Err(EditError::EmptyOld),
        old if old == edit.new => Err(EditError::Same),
        _ => Ok(()),
    }
}

fn has_long_endings(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"\r\n").is_some()
}

/// Counts the matches; if only one is allowed, a second one that overlaps the first counts too.
fn count(bytes: &[u8], search: &Search<'_>, edit: &Edit<'_>) -> Result<usize, EditError> {
    let mut places = search.places();
    let Some(first) = places.next() else { return Err(missing(bytes, edit)) };
    if edit.replace_all {
        return Ok(1 + places.count());
    }
    match places.next().or_else(|| search.overlapping(first)) {
        Some(_) => Err(ambiguous(search)),
        None => Ok(1),
    }
}

fn ambiguous(search: &Search<'_>) -> EditError {
    let mut count = 0;
    let mut line_count = 0;
    let mut last = 0;
    let mut lines = Vec::new();
    for line in search.all_lines() {
        count += 1;
        if line == last {
            continue;
        }
        (line_count, last) = (line_count + 1, line);
        if lines.len() < lines::LISTED {
            lines.push(line);
        }
    }
    EditError::Ambiguous { count, line_count, lines }
}

fn missing(bytes: &[u8], edit: &Edit<'_>) -> EditError {
    let new_is_at = nearest::is_telling(edit.new)
        .then(|| memmem::find(bytes, edit.new.as_bytes()))
        .flatten()
        .map(|at| lines::number(bytes, at));
    EditError::Missing { nearest: nearest(bytes, edit.old), new_is_at }
}

/// The part of an edit that differs before and after.
struct Change<'a> {
    /// Where it is in the old text.
    range: Range<usize>,
    /// What is inserted where lines end in `\n`.
    short: &'a [u8],
    /// What is inserted where lines end in `\r\n`.
    long: Cow<'a, [u8]>,
}

impl<'a> Change<'a> {
    fn of(edit: &Edit<'a>, is_literal: bool) -> Self {
        let old = edit.old.as_bytes();
        let new = edit.new.as_bytes();
        if is_literal || (has_long_endings(edit.new) && !has_long_endings(edit.old)) {
            return Self { range: 0..old.len(), short: new, long: new.into() };
        }
        let (prefix, suffix) = in_common(old, new);
        let short = &new[prefix..new.len() - suffix];
        Self { range: prefix..old.len() - suffix, short, long: ending::long(short) }
    }

    /// Returns an upper bound of the file's size after the change at these places.
    fn size_after(&self, size: usize, places: usize) -> u64 {
        let times = |length: usize| (places as u64).saturating_mul(length as u64);
        (size as u64).saturating_add(times(self.long.len())) - times(self.range.len())
    }

    fn at<'c>(
        &'c self,
        place: usize,
        search: &Search<'_>,
        endings: &mut Endings<'_>,
    ) -> Replacement<'c> {
        let range = search.range(place, &self.range);
        let is_long = self.long.len() > self.short.len() && endings.at(range.start) == b"\r\n";
        let with = if is_long { &*self.long } else { self.short };
        Replacement { range, with: with.into() }
    }
}

/// Returns how many bytes two texts share at their beginning, and after those at their end.
fn in_common(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let prefix = old.iter().zip(new).take_while(same).count();
    let old = &old[prefix..];
    let new = &new[prefix..];
    (prefix, old.iter().rev().zip(new.iter().rev()).take_while(same).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
        let bytes = Bytes::copy_from_slice(bytes);
        let edit = Edit { old, new, replace_all: false };
        apply(bytes, &edit, u64::MAX).expect("an edit").bytes.to_vec()
    }

    fn refused(bytes: &[u8], old: &str, new: &str) -> EditError {
        let bytes = Bytes::copy_from_slice(bytes);
        let edit = Edit { old, new, replace_all: false };
        apply(bytes, &edit, u64::MAX).expect_err("must be refused")
    }

    #[test]
    fn nothing_outside_the_match_changes() {
        let bytes = b"\xef\xbb\xbfone\r\ntwo \xff\r\nthree";
        assert_eq!(edited(bytes, "two", "2"), b"\xef\xbb\xbfone\r\n2 \xff\r\nthree");
    }

    #[test]
    fn lines_copied_from_read_file_match_and_keep_long_endings() {
        assert_eq!(edited(b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n"), b"x\r\ny\r\nz\r\nc\r\n");
        assert_eq!(edited(b"a\r\nb\r\n", "\nb", "\nc"), b"a\r\nc\r\n");
        assert_eq!(edited(b"a\r\nb\r\n", "a", "a\nx"), b"a\r\nx\r\nb\r\n");
        assert_eq!(edited(b"a\r\nb", "b", "b\nc"), b"a\r\nb\r\nc");
        assert_eq!(edited(b"a\r\n\r\nb", "a\n\nb", "a\nb"), b"a\r\nb");
    }

    #[test]
    fn unchanged_lines_of_a_match_keep_their_own_endings() {
        let bytes = b"a\r\nb\nc\r\nd\n";
        assert_eq!(edited(bytes, "a\nb\nc\nd\n", "a\nB\nc\nd\n"), b"a\r\nB\nc\r\nd\n");
        assert_eq!(edited(bytes, "a\nb\nc\n", "a\nb\nx\nc\n"), b"a\r\nb\nx\r\nc\r\nd\n");
    }

    #[test]
    fn a_carriage_return_is_taken_literally() {
        assert_eq!(edited(b"a\r\nb\r\n", "a\r\n", "a\n"), b"a\nb\r\n");
        assert_eq!(edited(b"a\nb\n", "a\n", "a\r\n"), b"a\r\nb\n");
        assert!(matches!(refused(b"a\nb\n", "a\r\nb", "c"), EditError::Missing { .. }));
    }

    /// A text with a carriage return of its own was only looked for byte for byte.
    #[test]
    fn a_carriage_return_that_ends_no_line_is_a_character_like_others() {
        assert_eq!(edited(b"a\rb\r\nc", "a\rb\nc", "a\rb\nd"), b"a\rb\r\nd");
        assert_eq!(edited(b"a\rb\r\nc\n", "a\rb\n", "a\rx\ny\n"), b"a\rx\r\ny\r\nc\n");
        assert_eq!(edited(b"a\r\nb", "a\nb", "a\nb\rc\n"), b"a\r\nb\rc\r\n");
        assert!(matches!(refused(b"a\rb\na\rb\r\n", "a\rb\n", "c"), EditError::Ambiguous { .. }));
        // Of a line that ends in two of them, one is shown.
        assert_eq!(edited(b"a\r\r\nb", "a\r\nb", "a\r\nc"), b"a\r\r\nc");
        assert_eq!(edited(b"a\r\r\nb\r\n", "\r\nb", "\nb"), b"a\r\nb\r\n");
        // What is not there as it is shown may be there as it is.
        let edit = Edit { old: "\r", new: "", replace_all: true };
        assert_eq!(apply("a\r\nb\r\n".into(), &edit, 9).expect("an edit").bytes, "a\nb\n");
    }

    #[test]
    fn two_places_are_refused_even_where_they_overlap() {
        let lines = |bytes: &[u8], old| match refused(bytes, old, "x") {
            EditError::Ambiguous { count, lines, .. } => (count, lines),
            other => panic!("{other:?}"),
        };
        assert_eq!(lines(b"a\nb\r\na\n", "a"), (2, vec![1, 3]));
        assert_eq!(lines(b"aaa", "aa"), (2, vec![1]));
        assert_eq!(lines(b"a\n\n\n\nb", "\n\n"), (3, vec![1, 2, 3]));
        assert_eq!(lines(b"a\r\n\r\n\r\n\r\nb", "\n\n"), (3, vec![1, 2, 3]));
        assert_eq!(lines(b"a\nb\na\r\nb", "a\nb"), (2, vec![1, 3]));
    }

    #[test]
    fn every_line_with_a_place_is_named_once() {
        let named = |bytes: &[u8]| refused(bytes, "a", "x").to_string();
        assert!(named(b"aaaa\nb").contains("there 4 times (line 1);"), "{}", named(b"aaaa\nb"));
        let many = "aa\n".repeat(12);
        let expected = "there 24 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more);";
        assert!(named(many.as_bytes()).contains(expected), "{}", named(many.as_bytes()));
    }

    #[test]
    fn all_places_are_replaced_from_the_beginning() {
        let edit = Edit { old: "aa", new: "b", replace_all: true };
        let edited = apply("aaa aa".into(), &edit, 6).expect("an edit");
        assert_eq!((&edited.bytes[..], edited.changes), (&b"ba b"[..], vec![0..1, 3..4]));
    }

    #[test]
    fn edits_build_on_each_other_or_none_is_made() {
        let edit = |old, new| Edit { old, new, replace_all: false };
        let edits = [edit("three", "3"), edit("one", "first\nline"), edit("3", "third")];
        let edited = apply_all("one\ntwo\nthree\n".into(), &edits, 99).expect("edits");
        assert_eq!(edited.bytes, "first\nline\ntwo\nthird\n");
        assert_eq!(edited.changes, [0..8, 15..20]);
        let refused = apply_all("one".into(), &[edit("one", "two"), edit("one", "x")], 99);
        assert_eq!(refused.expect_err("must be refused").number, 2);
    }

    #[test]
    fn no_edit_makes_more_than_is_allowed() {
        let edit = Edit { old: "a", new: "xyz", replace_all: true };
        assert_eq!(apply("aa".into(), &edit, 6).expect("an edit").bytes, "xyzxyz");
        let refused = apply("aaa".into(), &edit, 6).expect_err("must be refused");
        assert_eq!(refused, EditError::TooLarge { size: 9, most: 6 });
        let doubled = [Edit { old: "a", new: "aa", replace_all: true }; 100];
        assert_eq!(apply_all("a".into(), &doubled, 1000).expect_err("must be refused").number, 10);
    }
}
