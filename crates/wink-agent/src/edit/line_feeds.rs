//! A text as `read_file` shows it, and the mapping back to its bytes.

use std::borrow::Cow;

use memchr::memmem;

/// Bytes whose line endings were converted to `\n`.
pub(super) struct LineFeeds<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// Where in `text` the `\n` are whose `\r` was left out.
    shortened: Vec<usize>,
}

impl<'a> LineFeeds<'a> {
    /// Leaves out the `\r` of every `\r\n`.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let mut carriage_returns = memmem::find_iter(bytes, b"\r\n").peekable();
        if carriage_returns.peek().is_none() {
            return Self::as_is(bytes);
        }
        let mut text = Vec::with_capacity(bytes.len());
        let mut shortened = Vec::new();
        let mut copied = 0;
        for at in carriage_returns {
            text.extend_from_slice(&bytes[copied..at]);
            shortened.push(text.len());
            copied = at + 1;
        }
        text.extend_from_slice(&bytes[copied..]);
        Self { text: text.into(), shortened }
    }

    /// Leaves every byte as it is.
    pub(super) fn as_is(bytes: &'a [u8]) -> Self {
        Self { text: bytes.into(), shortened: Vec::new() }
    }

    /// Returns where a position of the text is in the bytes: before a `\r\n`, or after all of it.
    pub(super) fn original(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|shortened| *shortened < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ending_is_left_whole() {
        let feeds = LineFeeds::of(b"a\r\n\r\nb\nc\r");
        assert_eq!(&*feeds.text, b"a\n\nb\nc\r");
        let originals: Vec<_> = (0..=feeds.text.len()).map(|at| feeds.original(at)).collect();
        assert_eq!(originals, [0, 1, 3, 5, 6, 7, 8, 9]);
    }
}
