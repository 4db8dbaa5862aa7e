//! Properties of any patch, valid or not.

use proptest::prelude::*;

use super::{apply, parse};
use crate::edit::lines;

/// Lines that mean something in a patch, and some that do not.
fn patches() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "*** Begin Patch",
        "*** End Patch",
        "*** Update File: f",
        "*** Add File: g",
        "*** Move to: h",
        "*** End of File",
        "diff --git a/f b/f",
        "rename from f",
        "rename to h",
        "new file mode 100755",
        "--- a/f",
        "+++ b/f",
        "--- /dev/null",
        "@@ -1,2 +1 @@",
        "@@ -0,0 +1 @@",
        "@@ -99999999999999999999 +1 @@",
        "@@ a",
        "@@",
        " a",
        "-a",
        "+b",
        " b\r",
        "",
        "\\ No newline at end of file",
        "-- ",
        "ä",
    ]);
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n"))
}

fn hunks() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![" a", " b", "-a", "-b", "+a", "+c", " ", "@@ -2 +2 @@"]);
    prop::collection::vec(line, 0..8)
        .prop_map(|lines| format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n{}\n", lines.join("\n")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_a_patch_or_a_refusal(text in patches(), file in "[ab\r\n]{0,8}") {
        match parse(&text) {
            Ok(files) => for patch in files {
                let _ = apply(file.clone().into(), &patch.hunks);
            },
            Err(refusal) => {
                let last = lines::number(text.as_bytes(), text.len()) + 1;
                prop_assert!((1..=last).contains(&refusal.line), "{refusal}");
            }
        }
    }

    #[test]
    fn a_patch_changes_as_many_lines_as_it_says(text in hunks(), file in "([ab]\n){0,5}") {
        let patch = parse(&text).expect("hunks can be read").remove(0);
        if let Ok(patched) = apply(file.clone().into(), &patch.hunks) {
            let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
            let (added, removed) = patch.counts();
            let expected = count(file.as_bytes()) + added - removed;
            prop_assert_eq!(count(&patched.edited.bytes), expected);
        }
    }
}
