//! The codes of error kinds.

use std::collections::BTreeSet;

use wink_fs::ErrorKind;

#[test]
fn codes_are_stable_names_of_their_own() {
    let codes: BTreeSet<_> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), ErrorKind::ALL.len());
    for kind in ErrorKind::ALL.iter().copied() {
        let name = kind.code().replace('_', "");
        assert_eq!(name, format!("{kind:?}").to_lowercase());
    }
}
