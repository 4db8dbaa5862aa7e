//! What a client tells a hook: one JSON object, by names that differ from client to client.

use std::path::PathBuf;

use serde_json::Value;

/// Characters that are kept of a text from a client.
const LONGEST: usize = 200;

/// The payload of a hook; nothing in it is trusted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload(Value);

impl Payload {
    /// Parses a payload; one that is no object is an error.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        match serde_json::from_slice(bytes) {
            Ok(value @ Value::Object(_)) => Ok(Self(value)),
            Ok(_) => Err("it is not a JSON object".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns whether there is a value at a path such as `/input/sessionID`.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        self.0.pointer(pointer).is_some()
    }

    /// Returns the first text at one of the paths, in one line and not too long.
    pub(crate) fn text(&self, pointers: &[&str]) -> Option<String> {
        let text = pointers.iter().find_map(|pointer| self.0.pointer(pointer)?.as_str())?;
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(line.chars().take(LONGEST).collect()).filter(|line: &String| !line.is_empty())
    }

    /// Returns the first absolute path at one of the paths.
    pub(crate) fn directory(&self, pointers: &[&str]) -> Option<PathBuf> {
        let texts = pointers.iter().filter_map(|pointer| self.0.pointer(pointer)?.as_str());
        texts.map(PathBuf::from).find(|path| path.is_absolute())
    }

    /// Returns the name of the event.
    pub(crate) fn event(&self) -> String {
        self.text(&["/hook_event_name", "/hookEventName", "/hook", "/type"]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_and_not_too_long() {
        let payload =
            Payload::parse(r#"{"a": {"b": " one\n\ttwo "}, "n": 1, "e": ""}"#.as_bytes()).unwrap();
        assert_eq!(payload.text(&["/none", "/n", "/a/b"]).as_deref(), Some("one two"));
        assert_eq!(payload.text(&["/e"]), None);
        let long = format!(r#"{{"a": "{}"}}"#, "x".repeat(10_000));
        assert_eq!(Payload::parse(long.as_bytes()).unwrap().text(&["/a"]).unwrap().len(), LONGEST);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let deep = "[".repeat(100_000);
        for bytes in [&b""[..], b"[]", b"{", b"null", b"\xff", deep.as_bytes()] {
            assert!(Payload::parse(bytes).is_err());
        }
    }
}
