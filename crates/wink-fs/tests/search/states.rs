//! Lines over one snapshot after the other.

use wink_fs::search::{GrepOptions, StatesResult};
use wink_fs::{MemoryBackend, Store, Workspace};

fn files() -> (tempfile::TempDir, Workspace) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create_ambient(directory.path().join("store")).unwrap();
    (directory, Workspace::builder(MemoryBackend::new()).store(store).build())
}

fn found(files: &Workspace, pattern: &str, options: &GrepOptions) -> StatesResult {
    files.grep_snapshots(pattern, &files.snapshots().unwrap(), &[], options).unwrap()
}

fn spans(result: &StatesResult) -> Vec<(String, u64, usize, usize)> {
    let span = |it: &wink_fs::search::StateMatch| {
        (format!("{}: {}", it.path, it.line_content), it.line_number, it.first, it.last)
    };
    result.lines.iter().map(span).collect()
}

#[test]
fn a_line_has_the_first_and_the_last_state_that_has_it() {
    let (_directory, files) = files();
    for (at, text) in ["x one", "x one\nx two", "y", "y\nx one", "y\nx one"].iter().enumerate() {
        files.write("dir/a", text).unwrap();
        files.snapshot(&format!("s{at}")).unwrap();
    }
    let result = found(&files, "x", &GrepOptions::default());
    let expected = [("dir/a: x one".to_owned(), 2, 0, 4), ("dir/a: x two".to_owned(), 2, 1, 1)];
    assert_eq!(spans(&result), expected);
}

#[test]
fn what_is_the_same_is_searched_once() {
    let (_directory, files) = files();
    for name in 0..20 {
        files.write(&format!("dir/{name}"), "needle").unwrap();
    }
    for round in 0..5 {
        files.write("changing", &format!("needle {round}")).unwrap();
        files.snapshot(&format!("s{round}")).unwrap();
    }
    let result = found(&files, "needle", &GrepOptions::default());
    assert_eq!((result.searched, result.lines.len()), (20 + 5, 20 + 5));
}

#[test]
fn a_directory_that_goes_takes_its_lines_with_it() {
    let (_directory, files) = files();
    files.write("dir/deep/a", "x").unwrap();
    files.snapshot("s0").unwrap();
    files.delete_all("dir").unwrap();
    files.snapshot("s1").unwrap();
    files.write("dir", "x").unwrap();
    files.snapshot("s2").unwrap();
    let result = found(&files, "x", &GrepOptions::default());
    let expected = [("dir: x".to_owned(), 1, 2, 2), ("dir/deep/a: x".to_owned(), 1, 0, 0)];
    assert_eq!(spans(&result), expected);
}

#[test]
fn only_the_paths_that_are_asked_for_are_searched() {
    let (_directory, files) = files();
    files.write("a/x", "x").unwrap();
    files.write("b/x", "x").unwrap();
    files.snapshot("s0").unwrap();
    let paths = [files.path("b").unwrap(), files.path("none").unwrap()];
    let all = files.snapshots().unwrap();
    let result = files.grep_snapshots("x", &all, &paths, &GrepOptions::default()).unwrap();
    assert_eq!(spans(&result), [("b/x: x".to_owned(), 1, 0, 0)]);
}

#[test]
fn a_limit_leaves_lines_out_and_says_so() {
    let (_directory, files) = files();
    files.write("a", "x1\nx2\nx3").unwrap();
    files.snapshot("s0").unwrap();
    let result = found(&files, "x", &GrepOptions::default().max_matches(2));
    assert_eq!((result.lines.len(), result.truncated), (2, true));
}

/// A limit of one line was also one for each state, and so a line seemed to go that only was not listed.
#[test]
fn a_line_that_is_listed_goes_only_when_it_is_gone() {
    let (_directory, files) = files();
    files.write("a", "x1").unwrap();
    files.snapshot("s0").unwrap();
    files.write("a", "x0\nx1").unwrap();
    files.snapshot("s1").unwrap();
    let result = found(&files, "x", &GrepOptions::default().max_matches(1));
    assert_eq!(spans(&result), [("a: x1".to_owned(), 2, 0, 1)]);
    assert!(result.truncated);
}

#[test]
fn a_pattern_that_does_not_parse_is_refused() {
    let (_directory, files) = files();
    files.write("a", "x").unwrap();
    let all = [files.snapshot("s0").unwrap()];
    let error = files.grep_snapshots("(", &all, &[], &GrepOptions::default()).unwrap_err();
    assert_eq!(error.kind(), wink_fs::ErrorKind::InvalidPattern);
}
