//! Turns paths into names of entries, and back.
//!
//! A name is `files/` and the path's text form, with one exception: in a path that would lead elsewhere on systems with
//! `\` separators or drive letters, every `.`, `:` and `\` is escaped. So the name is harmless everywhere, and the path
//! comes back byte for byte.

use std::fmt::Write as _;

use crate::path::TreePath;

/// The name of the manifest.
pub(super) const MANIFEST: &str = "manifest.json";

/// The prefix of all other entries.
pub(super) const FILES: &str = "files/";

const NOT_A_PATH: &str = "its name is not the name of a file in a workspace";
const MISLEADING: &str = "its name leads elsewhere where `\\` separates or drive letters count";

/// Returns the entry name of a path.
pub(super) fn spell(path: &TreePath) -> String {
    format!("{FILES}{}", spelling(path))
}

/// Returns the path of an entry name without its prefix.
pub(super) fn parse(text: &str) -> Result<TreePath, &'static str> {
    match TreePath::parse(text).ok().or_else(|| parse_harmless(text)) {
        Some(path) if path.is_root() => Err(NOT_A_PATH),
        Some(path) if spelling(&path) == text => Ok(path),
        Some(path) if misleads(path.as_bytes()) => Err(MISLEADING),
        _ => Err(NOT_A_PATH),
    }
}

fn spelling(path: &TreePath) -> String {
    if misleads(path.as_bytes()) { harmless(path.as_bytes()) } else { path.to_string() }
}

/// Returns whether a path leaves the tree on systems with `\` separators.
fn misleads(path: &[u8]) -> bool {
    path.contains(&b'\\') && leaves(path) || has_drive(path)
}

fn leaves(path: &[u8]) -> bool {
    if path.starts_with(b"\\") {
        return true;
    }
    let mut depth = 0_usize;
    for segment in path.split(|b| matches!(b, b'/' | b'\\')) {
        match segment {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

fn has_drive(path: &[u8]) -> bool {
    matches!(path, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Escapes a misleading path.
fn harmless(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len() * 2);
    for byte in path {
        match byte {
            b'/' | b' '..=b'~' if !matches!(byte, b'.' | b':' | b'\\') => {
                text.push(char::from(*byte))
            }
            // Writing to a `String` cannot fail.
            _ => drop(write!(text, "\\x{byte:02x}")),
        }
    }
    text
}

fn parse_harmless(text: &str) -> Option<TreePath> {
    TreePath::from_disk(&unescape_all(text)).ok()
}

fn unescape_all(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split("\\x");
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let escaped = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.extend(escaped);
        bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_pair(path: &[u8], name: &str) {
        let path = TreePath::from_disk(path).unwrap();
        assert_eq!(spell(&path), name);
        assert_eq!(parse(name.strip_prefix(FILES).unwrap()), Ok(path));
    }

    #[test]
    fn most_paths_are_spelled_as_everywhere() {
        assert_pair(b"src/main.rs", "files/src/main.rs");
        assert_pair(br"a\b", r"files/a\b");
        assert_pair(br"a\..\b", r"files/a\..\b");
        assert_pair(b"C:", "files/C:");
        assert_pair(b"a/C:/b", "files/a/C:/b");
        assert_pair(b"caf\xe9\n", r"files/caf\xe9\x0a");
        assert_pair(br"\x41", r"files/\x5cx41");
    }

    #[test]
    fn a_misleading_path_is_spelled_harmlessly() {
        assert_pair(br"..\evil", r"files/\x2e\x2e\x5cevil");
        assert_pair(br"\etc", r"files/\x5cetc");
        assert_pair(b"C:/x.txt", r"files/C\x3a/x\x2etxt");
        assert_pair(br"C:\x", r"files/C\x3a\x5cx");
        assert_pair(b"a\\..\\..\\\xff", r"files/a\x5c\x2e\x2e\x5c\x2e\x2e\x5c\xff");
    }

    #[test]
    fn there_is_no_second_spelling() {
        for text in [
            "",
            ".",
            "/etc",
            "a//b",
            "a/./b",
            "a/../b",
            "../a",
            "a/",
            r"..\evil",
            r"\etc",
            "C:/x",
            r"C:\x",
            r"\x41",
            r"\x2e",
            r"\x2e\x2e/x",
            r"C\x3a",
            r"..\x5cevil",
            "a\nb",
            "a\0",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
