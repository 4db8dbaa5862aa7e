//! What holds for every pattern and every text, shared by the fuzz target and a normal test.

use wink_fs::search::{self, GrepOptions, GrepResult, PathPattern};
use wink_fs::{ErrorKind, Limits, MemoryBackend, TreePath, WriteOptions, ops};

/// Takes the first line for a path pattern, the second for a regular expression, the rest for a text.
pub(crate) fn check(data: &[u8]) {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let mut next = || parts.next().unwrap_or_default();
    let (glob, regex, text) = (lossy(next()), lossy(next()), next());
    check_path_pattern(&glob, text);
    check_search(&regex, text);
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn check_path_pattern(glob: &str, path: &[u8]) {
    let pattern = match PathPattern::parse(glob, &Limits::default()) {
        Ok(pattern) => pattern,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::InvalidPattern),
    };
    let Ok(path) = TreePath::from_disk(path) else { return };
    let matched = pattern.matches(&path);
    assert_eq!(matched, pattern.matches(&path), "a pattern has no memory");
    if let Some(name) = path.name().filter(|_| !glob.contains('/')) {
        let alone = TreePath::from_disk(name.as_bytes());
        assert_eq!(
            matched,
            alone.is_ok_and(|alone| pattern.matches(&alone)),
            "only the name counts"
        );
    }
}

fn check_search(regex: &str, text: &[u8]) {
    let mut files = MemoryBackend::new();
    let path = TreePath::parse("f").expect("a valid path");
    let content = bytes::Bytes::copy_from_slice(text);
    ops::write_bytes(&mut files, &path, content, &WriteOptions::default()).expect("written");
    for options in [GrepOptions::default(), GrepOptions::default().literal(true).context(1)] {
        match search::grep(&files, regex, &TreePath::root(), &options, &Limits::default()) {
            Ok(found) => check_result(&found, text),
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidPattern),
        }
    }
}

fn check_result(found: &GrepResult, text: &[u8]) {
    let lines = text.split(|byte| *byte == b'\n').count() as u64;
    assert!(found.matches.len() as u64 <= found.total_lines && found.total_lines <= lines);
    assert!(found.matches.is_sorted_by_key(|line| line.line_number));
    for line in &found.matches {
        let shown = line.line_content.get(line.match_start..line.match_end);
        assert!(shown.is_some(), "the match lies in the line, at whole characters");
        assert!(line.match_count >= 1 && line.line_number >= 1 && line.line_number <= lines);
        assert!(!line.line_content.contains('\n'));
    }
}
