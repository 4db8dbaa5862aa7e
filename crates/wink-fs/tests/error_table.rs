//! The documented table of error kinds is the code's.

use std::collections::BTreeSet;

use wink_fs::ErrorKind;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");

fn row(kind: ErrorKind) -> String {
    format!(
        "| {kind:?} | `{}` | {} | {} | {} |",
        kind.code(),
        kind.exit_code(),
        kind.http_status(),
        kind.sentence()
    )
}

#[test]
fn the_page_has_one_row_for_each_kind() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let found: Vec<_> = page.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let expected: Vec<_> = ErrorKind::ALL.iter().copied().map(row).collect();
    assert_eq!(found, expected, "docs/errors.md should be:\n{}", expected.join("\n"));
}

#[test]
fn codes_are_stable_names_of_their_own() {
    let codes: BTreeSet<_> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), ErrorKind::ALL.len());
    for kind in ErrorKind::ALL.iter().copied() {
        let name = kind.code().replace('_', "");
        assert_eq!(name, format!("{kind:?}").to_lowercase());
        assert!(kind.exit_code() != 0 && (400..600).contains(&kind.http_status()));
    }
}
