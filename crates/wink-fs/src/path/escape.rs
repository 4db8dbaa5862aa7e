//! The one reversible text form of names that are not plain text.
//!
//! A name on disk is any sequence of bytes without `/` and NUL. Its text form is the name itself, except that
//!
//! - a byte that is not part of valid UTF-8,
//! - every byte of a control character, and
//! - every byte of a character that reorders or breaks lines of text, or that is invisible (bidi
//!   controls, U+2028, U+2029, the soft hyphen, zero-width characters, the Hangul filler, tag characters, the byte
//!   order mark and their like)
//!
//! is written `\xHH` with two lower-case hexadecimal digits, and a backslash that would otherwise be
//! read as the start of such an escape is written `\x5c`. Any other backslash stands for itself, so
//! `a\b` is simply `a\b`. Each name has exactly one text form; [`unescape`] refuses all others, because
//! two spellings of one name would let a spelling slip past a rule written for the other.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns bytes that are their own text form, as nearly all are: printable ASCII without a backslash.
pub(crate) fn plain(bytes: &[u8]) -> Option<&str> {
    // Without an early exit, which lets the compiler vectorise the loop.
    let is_plain = |so_far, byte: &u8| so_far & matches!(byte, b' '..=b'~') & (*byte != b'\\');
    bytes.iter().fold(true, is_plain).then(|| std::str::from_utf8(bytes).ok()).flatten()
}

/// Returns the text form of a name.
pub(crate) fn escape(name: &[u8]) -> Cow<'_, str> {
    if let Some(text) = plain(name) {
        return Cow::Borrowed(text);
    }
    match std::str::from_utf8(name) {
        Ok(text) if is_its_own_text_form(text) => Cow::Borrowed(text),
        _ => Cow::Owned(escape_chunks(name)),
    }
}

/// Returns the name of a text form; `None` if it is not one.
pub(crate) fn unescape(text: &str) -> Option<Cow<'_, [u8]>> {
    if plain(text.as_bytes()).is_some() {
        return Some(Cow::Borrowed(text.as_bytes()));
    }
    if !text.contains('\\') {
        return (!text.chars().any(needs_escape)).then_some(Cow::Borrowed(text.as_bytes()));
    }
    let name = decode(text.as_bytes());
    (escape(&name) == text).then_some(Cow::Owned(name))
}

/// Returns whether a character is always escaped.
pub(crate) fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{200c}' | '\u{3164}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

fn is_its_own_text_form(text: &str) -> bool {
    !text.chars().any(needs_escape) && !looks_escaped(text.as_bytes())
}

fn looks_escaped(name: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', name).any(|at| escaped_byte(&name[at..]).is_some())
}

fn escape_chunks(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len() + 16);
    for chunk in name.utf8_chunks() {
        escape_valid(chunk.valid(), &mut out);
        push_escaped(chunk.invalid(), &mut out);
    }
    out
}

fn escape_valid(text: &str, out: &mut String) {
    for (at, c) in text.char_indices() {
        let starts_escape = c == '\\' && escaped_byte(&text.as_bytes()[at..]).is_some();
        if starts_escape || needs_escape(c) {
            push_escaped(c.encode_utf8(&mut [0; 4]).as_bytes(), out);
        } else {
            out.push(c);
        }
    }
}

fn push_escaped(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        // Writing to a `String` cannot fail.
        let _ = write!(out, "\\x{byte:02x}");
    }
}

fn decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        match escaped_byte(rest) {
            Some(byte) => {
                out.push(byte);
                rest = &rest[4..];
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out
}

/// Returns the byte of an escape at the start of `text`.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    match text {
        [b'\\', b'x', high, low, ..] => Some(hex_digit(*high)? << 4 | hex_digit(*low)?),
        _ => None,
    }
}

fn hex_digit(c: u8) -> Option<u8> {
    match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_pair(name: &[u8], text: &str) {
        assert_eq!(escape(name), text);
        assert_eq!(unescape(text).as_deref(), Some(name));
    }

    #[test]
    fn plain_names_are_their_own_text_form() {
        assert_pair(b"main.rs", "main.rs");
        assert_pair("größe.txt".as_bytes(), "größe.txt");
        assert_pair(br"a\b", r"a\b");
        assert_pair(br"a\xZZ", r"a\xZZ");
        assert_pair(br"\x4", r"\x4");
    }

    #[test]
    fn bytes_that_are_not_text_are_escaped() {
        assert_pair(b"a\nb", r"a\x0ab");
        assert_pair(b"caf\xe9", r"caf\xe9");
        assert_pair("a\u{202e}b".as_bytes(), r"a\xe2\x80\xaeb");
        assert_pair("\u{85}".as_bytes(), r"\xc2\x85");
        assert_pair("a\u{200c}".as_bytes(), r"a\xe2\x80\x8c");
        assert_pair("\u{3164}".as_bytes(), r"\xe3\x85\xa4");
        assert_pair("\u{e0041}".as_bytes(), r"\xf3\xa0\x81\x81");
    }

    #[test]
    fn a_literal_name_that_looks_like_an_escape_is_itself_escaped() {
        assert_pair(br"\x0a", r"\x5cx0a");
        assert_pair(br"\\x0a", r"\\x5cx0a");
        assert_pair(b"\\\n", r"\\x0a");
    }

    #[test]
    fn a_second_spelling_of_a_name_is_refused() {
        assert_eq!(unescape(r"\x41"), None, "`A` needs no escape");
        assert_eq!(unescape(r"\x2e\x2e"), None, "`..` must not be smuggled in");
        assert_eq!(unescape(r"\x5cb"), None, "a lone backslash needs no escape");
        assert_eq!(unescape("a\nb"), None);
    }
}
