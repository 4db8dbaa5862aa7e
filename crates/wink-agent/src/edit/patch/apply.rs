//! Turns hunks into replacements of a file's bytes.

use std::ops::Range;

use bytes::Bytes;

use super::error::{HunkError, Problem};
use super::place::Places;
use super::{Hunk, Line, Sign};
use crate::edit::ending::Endings;
use crate::edit::splice::{Edited, Replacement};

/// A file's bytes after its hunks were applied.
#[derive(Debug)]
pub(crate) struct Patched {
    pub(crate) edited: Edited,
    /// The hunks that were not at the line they named: number, that line, and the one they were at.
    pub(crate) moved: Vec<(usize, usize, usize)>,
}

/// Applies all hunks, which are in order, or none.
pub(crate) fn apply(bytes: Bytes, hunks: &[Hunk]) -> Result<Patched, HunkError> {
    let places = Places::of(&bytes, hunks);
    let mut applying = Applying { endings: Endings::of(&bytes), places, replacements: Vec::new() };
    let mut from = 0;
    let mut moved = Vec::new();
    for (number, hunk) in (1..).zip(hunks) {
        let patch_line = hunk.patch_line;
        let refused = |problem| HunkError { hunk: number, patch_line, problem };
        let at = applying.places.find(hunk, from).map_err(refused)?;
        let line = applying.places.line(at);
        let named = hunk.target.line.filter(|named| *named != line && *named > 0);
        moved.extend(named.map(|named| (number, named, line)));
        from = applying.hunk(hunk, at).map_err(refused)?;
    }
    let replacements = applying.replacements;
    let added: usize = replacements.iter().map(|replacement| replacement.with.len()).sum();
    let size = bytes.len() + added;
    let before = Edited::unchanged(bytes.clone());
    Ok(Patched { edited: before.splice(replacements.into_iter(), size), moved })
}

struct Applying<'a> {
    endings: Endings<'a>,
    places: Places<'a>,
    replacements: Vec<Replacement<'static>>,
}

/// Lines that go and lines that come in their place.
struct Run<'h> {
    /// Where it is in the text; a last line without a newline counts as if it had one.
    range: Range<usize>,
    added: Vec<&'h Line>,
    /// Whether the patch says that the last of the lines that go has no newline.
    was_unended: bool,
}

impl Applying<'_> {
    /// Takes a hunk whose lines begin at a position of the text, and returns where they end.
    fn hunk(&mut self, hunk: &Hunk, at: usize) -> Result<usize, Problem> {
        let mut run = Run { range: at..at, added: Vec::new(), was_unended: false };
        for line in &hunk.lines {
            let end = run.range.end + line.text.len() + 1;
            if line.sign != Sign::Added && !line.has_newline {
                self.check_unended(end)?;
            }
            match line.sign {
                Sign::Added => run.added.push(line),
                Sign::Removed => {
                    run.range.end = end;
                    run.was_unended = !line.has_newline;
                }
                Sign::Kept => {
                    self.finish(run)?;
                    run = Run { range: end..end, added: Vec::new(), was_unended: false };
                }
            }
        }
        let end = run.range.end;
        self.finish(run)?;
        Ok(end.min(self.places.len()))
    }

    /// Checks that the line that ends at a position is the file's last and has no newline.
    fn check_unended(&self, end: usize) -> Result<(), Problem> {
        if end > self.places.len() { Ok(()) } else { Err(Problem::NewlineAtEnd) }
    }

    fn finish(&mut self, run: Run<'_>) -> Result<(), Problem> {
        if run.range.is_empty() && run.added.is_empty() {
            return Ok(());
        }
        let text = self.new_text(&run)?;
        let start = self.places.original(run.range.start);
        let end = self.places.original(run.range.end);
        let with = if self.places.literal {
            text.into_bytes()
        } else {
            self.endings.adapt(text.as_bytes(), start).into_owned()
        };
        self.replacements.push(Replacement { range: start..end, with: with.into() });
        Ok(())
    }

    /// Returns what comes in the place of a run, with `\n` for each line ending.
    fn new_text(&self, run: &Run<'_>) -> Result<String, Problem> {
        let end = self.places.len();
        let is_ended = self.places.is_ended();
        let mut text = String::new();
        // What comes after a last line without a newline gives it one.
        if run.range.start > end {
            text.push('\n');
        }
        for line in &run.added {
            text.push_str(&line.text);
            text.push('\n');
        }
        let at_end = run.range.end >= end;
        let unended = run.added.iter().position(|line| !line.has_newline);
        match unended {
            Some(at) if !at_end || at + 1 < run.added.len() => return Err(Problem::NewlineAtEnd),
            Some(_) => drop(text.pop()),
            None if at_end && !is_ended && !run.was_unended && !run.added.is_empty() => {
                text.pop();
            }
            None => {}
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::patch::parse;

    fn patched(bytes: &[u8], hunks: &str) -> Result<Vec<u8>, Problem> {
        let files = parse(&format!("--- a/f\n+++ b/f\n{hunks}")).expect("a patch");
        let patched = apply(Bytes::copy_from_slice(bytes), &files[0].hunks)
            .map_err(|refusal| refusal.problem)?;
        Ok(patched.edited.bytes.to_vec())
    }

    #[test]
    fn lines_keep_their_endings_and_new_ones_take_them() {
        let hunk = "@@ -1,3 +1,3 @@\n a\n-b\n+x\n+y\n c\n";
        assert_eq!(patched(b"a\r\nb\r\nc\r\n", hunk).unwrap(), b"a\r\nx\r\ny\r\nc\r\n");
        assert_eq!(patched(b"a\r\nb\nc\r\n", hunk).unwrap(), b"a\r\nx\ny\nc\r\n");
        assert_eq!(
            patched(b"\xef\xbb\xbfa\nb\nc\xff", "@@ -1 +1 @@\n-a\n+A\n").unwrap(),
            b"\xef\xbb\xbfA\nb\nc\xff"
        );
    }

    #[test]
    fn a_carriage_return_in_the_patch_is_compared_and_inserted() {
        let hunk = "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n";
        assert_eq!(patched(b"a\r\nb\r\n", hunk).unwrap(), b"a\nb\r\n");
        assert!(matches!(patched(b"a\nb\n", hunk), Err(Problem::Missing(_))));
    }

    #[test]
    fn the_named_line_decides_and_else_the_only_place() {
        let hunk = |line| format!("@@ -{line},2 +{line},2 @@\n a\n-b\n+x\n");
        assert_eq!(patched(b"a\nb\na\nb\n", &hunk(3)).unwrap(), b"a\nb\na\nx\n");
        let several = Err(Problem::Ambiguous { count: 2, lines: vec![1, 3] });
        assert_eq!(patched(b"a\nb\na\nb\n", &hunk(2)), several);
        assert_eq!(patched(b"1\n2\na\nb\n", &hunk(1)).unwrap(), b"1\n2\na\nx\n");
    }

    #[test]
    fn only_whole_lines_match() {
        assert!(matches!(patched(b"xa\n", "@@ -1 +1 @@\n-a\n+b\n"), Err(Problem::Missing(_))));
        assert!(matches!(patched(b"ax\n", "@@ -1 +1 @@\n-a\n+b\n"), Err(Problem::Missing(_))));
    }

    #[test]
    fn the_newline_at_the_end_is_what_the_patch_says() {
        let marker = "\\ No newline at end of file\n";
        let cases: [(&[u8], String, &[u8]); 7] = [
            (b"a", "@@ -1 +1 @@\n-a\n+b\n".into(), b"b"),
            (b"a", format!("@@ -1 +1 @@\n-a\n{marker}+b\n"), b"b\n"),
            (b"a", format!("@@ -1 +1 @@\n-a\n{marker}+b\n{marker}"), b"b"),
            (b"a\n", format!("@@ -1 +1 @@\n-a\n+b\n{marker}"), b"b"),
            (b"a\r\nb", "@@ -2 +2,2 @@\n b\n+c\n".into(), b"a\r\nb\r\nc"),
            (b"a\nb", "@@ -1,2 +1 @@\n a\n-b\n".into(), b"a\n"),
            (b"a\nb", format!("@@ -1,2 +1,2 @@\n-a\n+x\n b\n{marker}"), b"x\nb"),
        ];
        for (bytes, hunk, expected) in cases {
            assert_eq!(patched(bytes, &hunk).as_deref(), Ok(expected), "{hunk}");
        }
        let refused = patched(b"a\nb\n", &format!("@@ -1 +1 @@\n-a\n{marker}+b\n"));
        assert_eq!(refused, Err(Problem::NewlineAtEnd));
        let refused = patched(b"a\nb\n", &format!("@@ -1 +1 @@\n-a\n+b\n{marker}"));
        assert_eq!(refused, Err(Problem::NewlineAtEnd));
    }

    #[test]
    fn hunks_come_in_order_and_do_not_overlap() {
        let hunks = "@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n";
        assert_eq!(patched(b"a\nb\nc\n", hunks), Err(Problem::Elsewhere { line: 1 }));
        let hunks = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -3 +3 @@\n-c\n+C\n";
        assert_eq!(patched(b"a\nb\nc\n", hunks).unwrap(), b"A\nb\nC\n");
    }

    #[test]
    fn a_hunk_that_only_adds_is_placed_by_its_line_or_at_the_end() {
        let cases: [(&[u8], &str, &[u8]); 10] = [
            (b"a\nc\n", "@@ -1,0 +2 @@\n+b\n", b"a\nb\nc\n"),
            (b"a\n", "@@ -1,0 +2 @@\n+b\n", b"a\nb\n"),
            (b"b\n", "@@ -0,0 +1 @@\n+a\n", b"a\nb\n"),
            (b"", "@@ -0,0 +1 @@\n+b\n", b"b\n"),
            (b"a\n", "@@\n+b\n", b"a\nb\n"),
            (b"a", "@@\n+b\n", b"a\nb"),
            (b"a\r\nc\r\n", "@@ a\n+b\n", b"a\r\nb\r\nc\r\n"),
            (b"a\nb\n", "@@ b\n+c\n", b"a\nb\nc\n"),
            (b"a\nb", "@@ b\n+c\n", b"a\nb\nc"),
            (b"a\nc\n", "@@ -1,1 +1,2 @@\n a\n+b\n@@\n+d\n", b"a\nb\nc\nd\n"),
        ];
        for (bytes, hunk, expected) in cases {
            assert_eq!(patched(bytes, hunk).as_deref(), Ok(expected), "{hunk}");
        }
        let beyond = patched(b"a\n", "@@ -5,0 +6 @@\n+b\n");
        assert_eq!(beyond, Err(Problem::NoSuchLine { line: 6 }));
        let missing = patched(b"a\n", "@@ z\n+b\n");
        assert!(matches!(missing, Err(Problem::Anchor { count: 0, .. })));
    }
}
