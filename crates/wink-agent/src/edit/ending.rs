//! How inserted lines end.

use std::borrow::Cow;

use memchr::{memchr, memrchr};

/// Returns `text` with `\r\n` for each `\n`.
pub(super) fn long(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\n', text).is_none() {
        return text.into();
    }
    let mut long = Vec::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => long.extend_from_slice(&[line, b"\r\n"].concat()),
            None => long.extend_from_slice(line),
        }
    }
    long.into()
}

/// Tells the line ending at positions that are asked for in ascending order, in linear time.
pub(super) struct Endings<'a> {
    bytes: &'a [u8],
    /// The last answer, and the last position it holds for.
    known: Option<(usize, &'static [u8])>,
}

impl<'a> Endings<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, known: None }
    }

    /// Returns `text` with each `\n` as the line at `position` ends.
    pub(super) fn adapt<'t>(&mut self, text: &'t [u8], position: usize) -> Cow<'t, [u8]> {
        if self.at(position) == b"\n" { text.into() } else { long(text) }
    }

    /// Returns the ending of the line at `position`, or of the one before if it has none.
    pub(super) fn at(&mut self, position: usize) -> &'static [u8] {
        match self.known {
            Some((until, ending)) if position <= until => ending,
            _ => {
                let (until, ending) = self.look(position);
                self.known = Some((until, ending));
                ending
            }
        }
    }

    fn look(&self, position: usize) -> (usize, &'static [u8]) {
        let (before, after) = self.bytes.split_at(position);
        match memchr(b'\n', after) {
            Some(at) => (position + at, self.ending(position + at)),
            None => (usize::MAX, memrchr(b'\n', before).map_or(b"\n", |at| self.ending(at))),
        }
    }

    fn ending(&self, line_feed: usize) -> &'static [u8] {
        if self.bytes[..line_feed].ends_with(b"\r") { b"\r\n" } else { b"\n" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_itself_decides_and_then_the_one_before() {
        let mut endings = Endings::of(b"a\r\nb\nc\r\nd");
        let answers = [0, 1, 3, 4, 5, 8, 9].map(|position| endings.at(position));
        let (long, short): (&[u8], &[u8]) = (b"\r\n", b"\n");
        assert_eq!(answers, [long, long, short, short, long, long, long]);
    }

    #[test]
    fn a_text_without_lines_gets_line_feeds() {
        assert_eq!(Endings::of(b"a").at(1), b"\n");
        assert_eq!(Endings::of(b"a\r\n").adapt(b"x\ny", 0), &b"x\r\ny"[..]);
    }
}
