//! Lines of input that cannot be longer than they may.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// A line that is longer than it may be; none of it is kept.
    TooLong,
    /// The last part, which no newline ends.
    Unended(Vec<u8>),
    End,
}

/// Reads lines, each of so many bytes at most.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    most: usize,
    line: Vec<u8>,
    skipping: bool,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R, most: usize) -> Self {
        Self { input, most, line: Vec::new(), skipping: false }
    }

    /// Returns the next line; nothing is lost if the future is dropped before it is ready.
    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok(if rest.is_empty() { Line::End } else { Line::Unended(rest) });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            let is_too_long = !self.skipping && self.line.len() + part.len() > self.most;
            if !self.skipping && !is_too_long {
                self.line.extend_from_slice(part);
            }
            let taken = end.map_or(part.len(), |end| end + 1);
            self.input.consume(taken);
            if let Some(line) = self.step(end.is_some(), is_too_long) {
                return Ok(line);
            }
        }
    }

    /// Returns whether a line is complete, or is found to be too long.
    fn step(&mut self, is_end: bool, is_too_long: bool) -> Option<Line> {
        if is_too_long {
            self.line = Vec::new();
            self.skipping = !is_end;
            return Some(Line::TooLong);
        }
        match (is_end, self.skipping) {
            (true, true) => {
                self.skipping = false;
                None
            }
            (true, false) => Some(Line::Whole(std::mem::take(&mut self.line))),
            (false, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_whole_and_said_once() {
        let input = BufReader::with_capacity(4, &b"short\nfar too long\nend\npart"[..]);
        let mut lines = Lines::new(input, 5);
        let mut all = Vec::new();
        while !all.ends_with(&[Line::End]) {
            all.push(lines.next().await.expect("readable"));
        }
        let expected = [
            Line::Whole(b"short".to_vec()),
            Line::TooLong,
            Line::Whole(b"end".to_vec()),
            Line::Unended(b"part".to_vec()),
            Line::End,
        ];
        assert_eq!(all, expected);
    }
}
