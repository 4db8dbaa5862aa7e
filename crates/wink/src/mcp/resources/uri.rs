//! How resources are named.

use rmcp::ErrorData;
use wink_fs::TreePath;

/// What the names of files begin with.
pub(super) const WORKSPACE: &str = "wink://workspace/";

/// What the names of snapshots, and of files in them, begin with.
pub(super) const SNAPSHOT: &str = "wink://snap/";

/// The state of the files that a URI names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The files as they are now.
    Live,
    /// The snapshot of this id or tag.
    Snapshot(String),
}

/// Takes a name apart: a state, and the text of a path in it.
///
/// What is encoded is decoded once. The path is not judged here: it goes to the one type for paths.
pub(super) fn parse(uri: &str) -> Result<(Place, String), ErrorData> {
    if let Some(path) = uri.strip_prefix(WORKSPACE) {
        return Ok((Place::Live, decoded(path)?));
    }
    let rest = uri.strip_prefix(SNAPSHOT).ok_or_else(unknown)?;
    let (id, path) = rest.split_once('/').unwrap_or((rest, ""));
    Ok((Place::Snapshot(decoded(id)?), decoded(path)?))
}

/// Returns the name of a file.
pub(super) fn named(place: &Place, path: &TreePath) -> String {
    let path = if path.is_root() { String::new() } else { encoded(&path.to_string(), "/") };
    match place {
        Place::Live => format!("{WORKSPACE}{path}"),
        Place::Snapshot(id) => format!("{SNAPSHOT}{}/{path}", encoded(id, "")),
    }
}

fn unknown() -> ErrorData {
    ErrorData::resource_not_found(
        format!("Resources begin with {WORKSPACE} or {SNAPSHOT}; see resources/templates/list."),
        None,
    )
}

fn encoded(text: &str, plain: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || plain.contains(c) {
            encoded.push(c)
        } else {
            encoded.push_str(&format!("%{byte:02X}"))
        }
    }
    encoded
}

fn decoded(text: &str) -> Result<String, ErrorData> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match first {
            b'%' => {
                let (digits, after) = rest.split_at_checked(2).ok_or_else(malformed)?;
                rest = after;
                hex(digits[0])? << 4 | hex(digits[1])?
            }
            b'?' | b'#' => return Err(malformed()),
            other => *other,
        });
    }
    String::from_utf8(bytes).map_err(|_| malformed())
}

fn hex(digit: u8) -> Result<u8, ErrorData> {
    let value = char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    value.ok_or_else(malformed)
}

fn malformed() -> ErrorData {
    let message = "The name of the resource is malformed: encode everything but letters, digits, / and \
                   - . _ ~ as % and two hexadecimal digits of UTF-8.";
    ErrorData::invalid_params(message, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_as_it_was() {
        for text in ["a b/ü?#%.txt", "+", "%2e%2e"] {
            let path = TreePath::parse(text).expect("a path");
            for place in [Place::Live, Place::Snapshot("before/after".to_owned())] {
                let uri = named(&place, &path);
                assert_eq!(parse(&uri).expect("a name"), (place, path.to_string()), "{uri}");
            }
        }
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for uri in ["a%", "a%4", "a%zz", "a%c0%af", "a?b", "a#b", "%ff"] {
            assert!(parse(&format!("{WORKSPACE}{uri}")).is_err(), "{uri}");
        }
        assert!(parse("file:///etc/passwd").is_err());
    }
}
