//! The nearest place in a file to a text that does not match, and how they differ.
//!
//! The time is linear in the file: each step is a few searches for a plain text. The result is only shown, never
//! applied.

mod difference;
mod divergence;
mod edges;
mod pasted;

use std::ops::Range;

use memchr::memmem;

pub(crate) use self::difference::Difference;
use self::divergence::divergence;
use self::edges::Edges;
use super::fold::Fold;
use super::{lines, snippet};

/// A text with fewer folded bytes is like too many others.
const TELLING: usize = 8;

/// The place in a file that is nearest to a text that does not match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Nearest {
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// What is different there.
    pub(crate) difference: Difference,
    /// The lines as the file has them, numbered.
    pub(crate) shown: String,
}

impl Nearest {
    /// Words it, with the lines of the file; `given` is the name of what is not there.
    pub(crate) fn worded(&self, given: &str) -> String {
        let Self { line, difference, shown } = self;
        format!("Nearest is line {line}: {}.\n{shown}", difference.worded(given))
    }
}

/// Finds what comes nearest to `old`.
pub(super) fn nearest(bytes: &[u8], old: &str) -> Option<Nearest> {
    let folded = Fold::ALL.text(bytes);
    match pasted::without_numbers(old) {
        Some(plain) => {
            let near = alike(bytes, &folded, &plain)?;
            Some(Nearest { difference: Difference::LineNumbers, ..near })
        }
        None => alike(bytes, &folded, old).or_else(|| divergence(bytes, &folded, old)),
    }
}

/// Returns whether a text is long enough for its place to mean something.
pub(super) fn is_telling(text: &str) -> bool {
    Fold::ALL.text(text.as_bytes()).len() >= TELLING
}

/// Finds a place that differs only in what is easily overlooked.
fn alike(bytes: &[u8], folded: &[u8], old: &str) -> Option<Nearest> {
    let wanted = Fold::ALL.text(old.as_bytes());
    if wanted.is_empty() {
        return None;
    }
    let at = memmem::find(folded, &wanted)?;
    let first = Fold::ALL.original(bytes, at);
    let last = first + Fold::ALL.original(&bytes[first..], wanted.len() - 1);
    let window = whole_lines(bytes, first..last);
    let edges = Edges::of(bytes, first, last, old);
    if let Some((at, at_old)) = edges.differing() {
        return Some(divergence::describe(bytes, at, old.as_bytes(), at_old));
    }
    let difference = difference::between(&bytes[window.clone()], old, &edges);
    Some(found(bytes, window, difference))
}

fn whole_lines(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    lines::start(bytes, range.start)..lines::end(bytes, range.end)
}

fn found(bytes: &[u8], window: Range<usize>, difference: Difference) -> Nearest {
    let line = lines::number(bytes, window.start);
    let mut shown = String::new();
    snippet::numbered(&mut shown, bytes, window);
    Nearest { line, difference, shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(bytes: &[u8], old: &str) -> (usize, Difference) {
        let near = nearest(bytes, old).expect("something near");
        (near.line, near.difference)
    }

    #[test]
    fn what_is_easily_overlooked_is_named() {
        use Difference::*;
        let bytes = b"fn a() {\n\tlet x = \"y\";\n}\nend";
        for (old, line, expected) in [
            ("     2\t\tlet x = \"y\";", 2, LineNumbers),
            ("fn a() {\r\n\tlet x", 1, LineEndings),
            ("end\n", 4, NewlineAtEnd),
            ("fn a() { \n\tlet x", 1, TrailingSpace),
            ("fn a() {\n    let x", 1, Indentation { file: "tabs", given: "spaces" }),
            ("fn a() {\n\t\tlet x", 1, Indentation { file: "tabs", given: "tabs" }),
            ("let x=\"y\"", 2, Overlooked(vec!["white space"])),
            ("let x = “y”;", 2, Overlooked(vec!["typographic quotes, dashes or spaces"])),
            ("LET x", 2, Overlooked(vec!["upper and lower case"])),
        ] {
            assert_eq!(difference(bytes, old), (line, expected), "{old:?}");
        }
    }

    #[test]
    fn the_first_line_that_differs_is_shown_with_both_texts() {
        let bytes = b"fn a() {\n    let apple = 1;\n    done();\n}\n";
        let expected = Difference::Text {
            file: "    let apple = 1;".to_owned(),
            given: "    let pear = 1;".to_owned(),
        };
        let old = "fn a() {\n    let pear = 1;\n";
        assert_eq!(difference(bytes, old), (2, expected.clone()));
        let old = "fn b() -> u8 {\n    let pear = 1;\n    done();\n}";
        assert_eq!(difference(bytes, old), (2, expected));
    }

    #[test]
    fn a_line_that_goes_on_in_the_file_is_no_difference_in_white_space() {
        let text = |file: &str, given: &str| Difference::Text {
            file: file.to_owned(),
            given: given.to_owned(),
        };
        for (bytes, old, line, expected) in [
            (&b"def foo(x):\n"[..], "def foo(x)\n", 1, text("def foo(x):", "def foo(x)")),
            (b"def foo(x):\nbar\n", "def foo(x)\n", 1, text("def foo(x):", "def foo(x)")),
            (b"foo(x) # c\n", "foo(x)\n", 1, text("foo(x) # c", "foo(x)")),
            (b"a\nx = foo(x)\n", "\nfoo(x)", 2, text("x = foo(x)", "foo(x)")),
            (b"x=foo(x)\n", "    foo(x)", 1, text("x=foo(x)", "    foo(x)")),
            (b"foo(x):\n", "foo(x) ", 1, text("foo(x):", "foo(x) ")),
        ] {
            assert_eq!(difference(bytes, old), (line, expected), "{old:?}");
        }
    }

    #[test]
    fn what_is_said_of_the_end_of_the_file_is_true() {
        use Difference::*;
        for (bytes, old, expected) in [
            (&b"one\nend"[..], "end\n", NewlineAtEnd),
            (b"one\nend\n", "end\n\n", Overlooked(vec!["white space"])),
            (b"x =  foo(x)\n", "    foo(x)", Overlooked(vec!["white space"])),
        ] {
            assert_eq!(difference(bytes, old).1, expected, "{old:?}");
        }
    }

    #[test]
    fn nothing_alike_is_nothing() {
        for (bytes, old) in [(&b"abc\n"[..], "completely different"), (b"abc", "\n\n"), (b"", "a")]
        {
            assert_eq!(nearest(bytes, old), None, "{old:?}");
        }
    }
}
