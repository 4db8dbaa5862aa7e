//! Properties of any edit of any file, checked against a slow and plain model.

use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::Index;

use super::edits::{Edit, apply, apply_all};
use super::error::EditError;
use super::snippet::snippets;
use super::splice::Edited;

/// A byte, or a whole line ending.
type Unit = Vec<u8>;

/// Cuts bytes into units, the way `read_file` sees them.
fn units(bytes: &[u8]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for byte in bytes {
        match units.last_mut() {
            Some(last) if *byte == b'\n' && last == b"\r" => last.push(*byte),
            _ => units.push(vec![*byte]),
        }
    }
    units
}

fn is_ending(unit: &Unit) -> bool {
    unit.ends_with(b"\n")
}

fn matches(unit: &Unit, byte: u8) -> bool {
    unit == &[byte] || (byte == b'\n' && is_ending(unit))
}

fn found_at(file: &[Unit], old: &[u8]) -> Vec<usize> {
    let fits = |at: &usize| {
        file[*at..].len() >= old.len() && file[*at..].iter().zip(old).all(|(u, b)| matches(u, *b))
    };
    (0..file.len()).filter(fits).collect()
}

/// Replaces the text at some places, by the rules in the documentation of the module.
fn replaced(file: &[Unit], places: &[usize], old: &[u8], new: &[u8]) -> Vec<u8> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - prefix;
    let same = |n: &usize| old[old.len() - n - 1] == new[new.len() - n - 1];
    let suffix = (0..most).take_while(same).count();
    let mut result = Vec::new();
    let mut copied = 0;
    for at in places {
        let start = at + prefix;
        result.extend(file[copied..start].concat());
        for byte in &new[prefix..new.len() - suffix] {
            result.extend(if *byte == b'\n' { ending(file, start) } else { vec![*byte] });
        }
        copied = at + old.len() - suffix;
    }
    result.extend(file[copied..].concat());
    result
}

fn ending(file: &[Unit], at: usize) -> Unit {
    let after = file[at..].iter().find(|unit| is_ending(unit));
    let before = || file[..at].iter().rfind(|unit| is_ending(unit));
    after.or_else(before).cloned().unwrap_or(b"\n".to_vec())
}

fn made(file: &[u8], edit: &Edit<'_>) -> Result<Edited, EditError> {
    apply(Bytes::copy_from_slice(file), edit, u64::MAX)
}

fn files() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => "[a-c ]{1,3}".prop_map(String::into_bytes),
        2 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(vec![0xff]),
        1 => Just("é".as_bytes().to_vec()),
        2 => Just(b"\r".to_vec()),
    ];
    let pieces = prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat());
    (any::<bool>(), pieces)
        .prop_map(|(bom, bytes)| if bom { [b"\xef\xbb\xbf", &bytes[..]].concat() } else { bytes })
}

/// Files all of whose lines end alike.
fn uniform_files() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec("[a-c ]{0,3}", 1..8), any::<bool>())
        .prop_map(|(lines, long)| lines.join(if long { "\r\n" } else { "\n" }).into_bytes())
}

/// A text that is probably in the file: a part of what `read_file` shows of it.
fn part_of(file: &[u8], from: Index, length: usize) -> String {
    let shown = String::from_utf8_lossy(file).replace("\r\n", "\n");
    let characters: Vec<char> = shown.chars().collect();
    match characters.len() {
        0 => "none".to_owned(),
        count => characters.into_iter().skip(from.index(count)).take(length).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn an_edit_does_what_the_model_does(
        file in prop_oneof![files(), uniform_files()],
        from in any::<Index>(),
        length in 1_usize..6,
        new in "([a-c\n ]|\rb){0,6}",
    ) {
        let old = part_of(&file, from, length);
        prop_assume!(old != new);
        let cut = units(&file);
        let places = found_at(&cut, old.as_bytes());
        let result = made(&file, &Edit { old: &old, new: &new, replace_all: false });
        match (places.as_slice(), result) {
            ([], Err(EditError::Missing { .. })) => {}
            ([_], Ok(edited)) => {
                let expected = replaced(&cut, &places, old.as_bytes(), new.as_bytes());
                prop_assert_eq!(edited.bytes, expected);
            }
            ([_, _, ..], Err(EditError::Ambiguous { count, .. })) => {
                prop_assert_eq!(count, places.len());
            }
            (_, result) => prop_assert!(false, "{places:?} {result:?}"),
        }
    }

    #[test]
    fn replacing_all_is_replacing_each_from_the_beginning(
        file in prop_oneof![files(), uniform_files()],
        from in any::<Index>(),
        length in 1_usize..3,
        new in "[x\n]{0,3}",
    ) {
        let old = part_of(&file, from, length);
        prop_assume!(old != new);
        let cut = units(&file);
        let mut places: Vec<usize> = Vec::new();
        for place in found_at(&cut, old.as_bytes()) {
            if places.last().is_none_or(|last| last + old.len() <= place) {
                places.push(place);
            }
        }
        match made(&file, &Edit { old: &old, new: &new, replace_all: true }) {
            Ok(edited) => {
                let expected = replaced(&cut, &places, old.as_bytes(), new.as_bytes());
                prop_assert_eq!(edited.bytes, expected);
            }
            Err(_) => prop_assert!(places.is_empty()),
        }
    }

    #[test]
    fn an_edit_and_its_reverse_give_the_original(
        file in uniform_files(),
        from in any::<Index>(),
        length in 1_usize..6,
        new in "X[a-c\n ]{0,4}Y",
    ) {
        let old = part_of(&file, from, length);
        if found_at(&units(&file), old.as_bytes()).len() != 1 {
            return Ok(());
        }
        let edit = Edit { old: &old, new: &new, replace_all: false };
        let reverse = Edit { old: &new, new: &old, replace_all: false };
        let there = made(&file, &edit).expect("there").bytes;
        // Where no line ending is left, nothing says what the lines ended in.
        prop_assume!(there.contains(&b'\n') || !file.contains(&b'\n'));
        prop_assert_eq!(&made(&there, &reverse).expect("and back").bytes, &file);
        prop_assert_eq!(apply_all(file.clone().into(), &[edit, reverse], u64::MAX).expect("both").bytes, file);
    }

    #[test]
    fn changes_are_where_the_new_text_is(
        file in files(),
        edits in prop::collection::vec(("[a-c\n]{1,2}", "[a-cxy\n]{0,3}"), 1..5),
    ) {
        let edits: Vec<_> = edits
            .iter()
            .filter(|(old, new)| old != new)
            .map(|(old, new)| Edit { old, new, replace_all: true })
            .collect();
        if let Ok(edited) = apply_all(file.into(), &edits, u64::MAX) {
            let length = edited.bytes.len();
            prop_assert!(edited.changes.is_sorted_by_key(|change| change.start));
            prop_assert!(edited.changes.iter().all(|change| change.start <= change.end));
            prop_assert!(edited.changes.iter().all(|change| change.end <= length));
            prop_assert_eq!(edited.lines().len(), edited.changes.len());
            let mut shown = String::new();
            snippets(&mut shown, &edited.bytes, &edited.changes);
            prop_assert_eq!(shown.is_empty(), length == 0 || edits.is_empty());
        }
    }

    #[test]
    fn any_text_is_an_edit_or_a_refusal(file in any::<Vec<u8>>(), old in any::<String>(), new in any::<String>()) {
        let _ = made(&file, &Edit { old: &old, new: &new, replace_all: true });
    }
}
