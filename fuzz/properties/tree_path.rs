//! What holds for every `TreePath`, whatever bytes it was made from.
//!
//! Shared by the fuzz target and by the test that replays its corpus.

use wink_fs::TreePath;

/// Panics when a property fails for the paths that `data` gives.
pub(crate) fn check(data: &[u8]) {
    check_all(&paths(data));
}

/// Panics when a property fails for one of the paths, or for the order of two of them.
pub(crate) fn check_all(paths: &[TreePath]) {
    for path in paths {
        segments_are_names(path);
        text_is_reversible_and_harmless(path);
    }
    for left in paths {
        for right in paths {
            order_is_by_segment(left, right);
        }
    }
}

/// The paths that `data` gives: all of it and each half, as text and as bytes on a disk.
pub(crate) fn paths(data: &[u8]) -> Vec<TreePath> {
    let (front, back) = data.split_at(data.len() / 2);
    [data, front, back]
        .into_iter()
        .flat_map(|part| [from_text(part), from_disk(part)])
        .flatten()
        .collect()
}

fn from_text(data: &[u8]) -> Option<TreePath> {
    let text = std::str::from_utf8(data).ok()?;
    let path = TreePath::parse(text).ok()?;
    segments_are_parts_of(text.as_bytes(), path.to_string().as_bytes());
    Some(path)
}

fn from_disk(data: &[u8]) -> Option<TreePath> {
    let path = TreePath::from_disk(data).ok()?;
    segments_are_parts_of(data, path.as_bytes());
    Some(path)
}

/// What was accepted is spelled in the source as it will be shown: an escape cannot smuggle in a
/// separator or a `..`, and no name has a second spelling.
fn segments_are_parts_of(source: &[u8], path: &[u8]) {
    let parts = |bytes| <[u8]>::split(bytes, |byte: &u8| *byte == b'/');
    for segment in parts(path).filter(|segment| !matches!(*segment, b"" | b".")) {
        assert!(
            parts(source).any(|part| part == segment),
            "{} is no part of {}",
            segment.escape_ascii(),
            source.escape_ascii()
        );
    }
}

fn segments_are_names(path: &TreePath) {
    for segment in path.segments() {
        assert!(!matches!(segment, b"" | b"." | b".."), "{path}");
        assert!(segment.len() <= 255, "{path}");
        assert!(!segment.contains(&0) && !segment.contains(&b'/'), "{path}");
    }
    let segments: Vec<&[u8]> = path.segments().collect();
    assert_eq!(segments.join(&b'/'), path.as_bytes(), "{path}");
    assert!(path.as_bytes().len() <= 4096, "{path}");
}

fn text_is_reversible_and_harmless(path: &TreePath) {
    let text = path.to_string();
    assert!(!text.chars().any(|c| c.is_control() || is_bidi_control(c)), "{text:?}");
    assert_eq!(TreePath::parse(&text).ok().as_ref(), Some(path), "{text}");
    assert_eq!(TreePath::from_disk(path.as_bytes()).ok().as_ref(), Some(path), "{text}");
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn order_is_by_segment(left: &TreePath, right: &TreePath) {
    let expected = left.segments().cmp(right.segments());
    assert_eq!(left.cmp(right), expected, "{left} and {right}");
    assert_eq!(left == right, expected.is_eq(), "{left} and {right}");
}
