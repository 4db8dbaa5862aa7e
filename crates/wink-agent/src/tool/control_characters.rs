//! Control characters in text for a model, which terminals and models would act on.

use std::fmt::Write as _;

/// How many bytes are looked at together, so that the compiler can compare many at once.
const CHUNK: usize = 64;

/// Says that some were escaped.
const NOTE: &str = "\nControl characters are shown escaped, as \\x1b is.";

/// Returns a text with its control characters escaped; `None` if it has none but tabs and line endings.
pub(crate) fn escaped(text: &str) -> Option<String> {
    // A character after U+007F that controls something is two bytes, of which the first is 0xC2.
    let is_suspect = |byte: &u8| {
        (*byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) | (*byte == 0x7f) | (*byte == 0xc2)
    };
    let mut chunks = text.as_bytes().chunks(CHUNK);
    let has_suspect = |chunk: &[u8]| chunk.iter().fold(false, |any, byte| any | is_suspect(byte));
    if !chunks.any(has_suspect) || !text.chars().any(is_escaped) {
        return None;
    }
    let mut shown = String::with_capacity(text.len() + CHUNK);
    for character in text.chars() {
        if is_escaped(character) {
            // Writing into a string cannot fail.
            let _ = write!(shown, "\\x{:02x}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Some(shown + NOTE)
}

fn is_escaped(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_control_characters_are_escaped() {
        for text in ["", "a\tb\r\nc", "é ü Â\u{a0} 日本", &"x".repeat(1_000)] {
            assert_eq!(escaped(text), None, "{text:?}");
        }
        let shown = |text: &str| escaped(text).unwrap().strip_suffix(NOTE).unwrap().to_owned();
        assert_eq!(shown("\x1b[31mred\0\x7f"), r"\x1b[31mred\x00\x7f");
        assert_eq!(
            shown(&format!("{}\u{9b}é", "y".repeat(200))),
            format!(r"{}\x9bé", "y".repeat(200))
        );
    }
}
