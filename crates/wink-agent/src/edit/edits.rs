//! One text replaced by another, and several in order.

use bytes::Bytes;
use memchr::{memchr, memmem};

use super::ending::Endings;
use super::line_feeds::LineFeeds;
use super::nearest::nearest;
use super::refusal::{EditRefusal, NumberedRefusal};
use super::splice::{Edited, Replacement, splice};
use super::{lines, nearest};

/// Names a text and what takes its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    /// Whether the text may be there more than once.
    pub(crate) replace_all: bool,
}

/// Makes one edit.
pub(crate) fn apply(bytes: &[u8], edit: &Edit<'_>) -> Result<Edited, EditRefusal> {
    Ok(splice(bytes, &replacements(bytes, edit)?))
}

/// Makes several edits in order, each on what the one before left, or none.
pub(crate) fn apply_all(bytes: &[u8], edits: &[Edit<'_>]) -> Result<Edited, NumberedRefusal> {
    let mut edited = Edited { bytes: Bytes::copy_from_slice(bytes), changes: Vec::new() };
    for (number, edit) in (1..).zip(edits) {
        let replacements = replacements(&edited.bytes, edit)
            .map_err(|refusal| NumberedRefusal { number, of: edits.len(), refusal })?;
        edited = splice(&edited.bytes, &replacements).after(&edited.changes, &replacements);
    }
    Ok(edited)
}

fn replacements(bytes: &[u8], edit: &Edit<'_>) -> Result<Vec<Replacement>, EditRefusal> {
    check(edit)?;
    let literal = has_carriage_return(edit.old);
    let view = if literal { LineFeeds::as_is(bytes) } else { LineFeeds::of(bytes) };
    let places = places(&view.text, edit);
    match places.as_slice() {
        [] => Err(missing(bytes, edit)),
        [_, _, ..] if !edit.replace_all => {
            let originals = places.iter().map(|place| view.original(*place));
            let lines = lines::numbers(bytes, originals.take(lines::LISTED));
            Err(EditRefusal::Ambiguous { count: places.len(), lines })
        }
        _ => Ok(replace(bytes, &view, &places, edit)),
    }
}

fn check(edit: &Edit<'_>) -> Result<(), EditRefusal> {
    match edit.old {
        "" => Err(EditRefusal::EmptyOld),
        old if old == edit.new => Err(EditRefusal::Same),
        _ => Ok(()),
    }
}

fn has_carriage_return(text: &str) -> bool {
    memchr(b'\r', text.as_bytes()).is_some()
}

/// Finds the text; where it is to be replaced once, one that overlaps the first counts too.
fn places(text: &[u8], edit: &Edit<'_>) -> Vec<usize> {
    let finder = memmem::Finder::new(edit.old);
    let mut places: Vec<usize> = finder.find_iter(text).collect();
    if let (&[only], false) = (places.as_slice(), edit.replace_all) {
        places.extend(finder.find(&text[only + 1..]).map(|second| only + 1 + second));
    }
    places
}

fn missing(bytes: &[u8], edit: &Edit<'_>) -> EditRefusal {
    let new_is_at = nearest::is_telling(edit.new)
        .then(|| memmem::find(bytes, edit.new.as_bytes()))
        .flatten()
        .map(|at| lines::number(bytes, at));
    EditRefusal::Missing { nearest: nearest(bytes, edit.old), new_is_at }
}

fn replace(
    bytes: &[u8],
    view: &LineFeeds<'_>,
    places: &[usize],
    edit: &Edit<'_>,
) -> Vec<Replacement> {
    let literal = has_carriage_return(edit.old) || has_carriage_return(edit.new);
    let (old, new) = (edit.old.as_bytes(), edit.new.as_bytes());
    let (prefix, suffix) = if literal { (0, 0) } else { in_common(old, new) };
    let mut endings = Endings::of(bytes);
    let middle = &new[prefix..new.len() - suffix];
    let replacement = |place: &usize| {
        let start = view.original(place + prefix);
        let range = start..view.original(place + old.len() - suffix);
        let with = if literal { middle.to_vec() } else { endings.adapt(middle, start) };
        Replacement { range, with }
    };
    places.iter().map(replacement).collect()
}

/// Returns how many bytes two texts share at their beginning, and after those at their end.
fn in_common(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let prefix = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[prefix..], &new[prefix..]);
    (prefix, old.iter().rev().zip(new.iter().rev()).take_while(same).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
        apply(bytes, &Edit { old, new, replace_all: false }).expect("an edit").bytes.to_vec()
    }

    fn refused(bytes: &[u8], old: &str, new: &str) -> EditRefusal {
        apply(bytes, &Edit { old, new, replace_all: false }).expect_err("must be refused")
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
        assert!(matches!(refused(b"a\nb\n", "a\r\nb", "c"), EditRefusal::Missing { .. }));
    }

    #[test]
    fn two_places_are_refused_even_where_they_overlap() {
        let lines = |bytes: &[u8], old| match refused(bytes, old, "x") {
            EditRefusal::Ambiguous { count, lines } => (count, lines),
            other => panic!("{other:?}"),
        };
        assert_eq!(lines(b"a\nb\r\na\n", "a"), (2, vec![1, 3]));
        assert_eq!(lines(b"aaa", "aa"), (2, vec![1, 1]));
        assert_eq!(lines(b"a\nb\na\r\nb", "a\nb"), (2, vec![1, 3]));
    }

    #[test]
    fn all_places_are_replaced_from_the_beginning() {
        let edit = Edit { old: "aa", new: "b", replace_all: true };
        let edited = apply(b"aaa aa", &edit).expect("an edit");
        assert_eq!((&edited.bytes[..], edited.changes), (&b"ba b"[..], vec![0..1, 3..4]));
    }

    #[test]
    fn edits_build_on_each_other_or_none_is_made() {
        let edit = |old, new| Edit { old, new, replace_all: false };
        let edits = [edit("three", "3"), edit("one", "first\nline"), edit("3", "third")];
        let edited = apply_all(b"one\ntwo\nthree\n", &edits).expect("edits");
        assert_eq!(edited.bytes, "first\nline\ntwo\nthird\n");
        assert_eq!(edited.changes.first(), Some(&(0..8)));
        let refused = apply_all(b"one", &[edit("one", "two"), edit("one", "x")]);
        assert_eq!(refused.expect_err("must be refused").number, 2);
    }
}
