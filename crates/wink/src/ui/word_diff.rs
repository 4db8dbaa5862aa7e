//! Pairs changed lines, and finds the words that differ.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

/// How many lines ahead the counterpart of a line is searched.
const NEAR: usize = 4;

/// Lines beyond this length are not compared word by word.
const MOST_BYTES: usize = 1_000;

/// The time for all lines of a text; after it, lines have no counterparts.
const PATIENCE: Duration = Duration::from_millis(500);

/// A removed line and the line that replaced it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) old: Marked,
    pub(crate) new: Marked,
}

/// The index of a line on its side, and the parts that differ.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) at: usize,
    pub(crate) parts: Vec<Range<usize>>,
}

/// Finds pairs until its time is over.
#[derive(Debug)]
pub(crate) struct Pairing {
    deadline: Instant,
}

impl Pairing {
    pub(crate) fn new() -> Self {
        Self { deadline: Instant::now() + PATIENCE }
    }

    /// Returns the pairs among removed and added lines, in order.
    pub(crate) fn pairs(&self, old: &[&str], new: &[&str]) -> Vec<Pair> {
        let mut pairs = Vec::new();
        let mut next = 0;
        for (at, line) in old.iter().enumerate() {
            let near = new.iter().enumerate().skip(next).take(NEAR);
            let mut found = near.filter_map(|(to, other)| Some((to, self.differing(line, other)?)));
            if let Some((to, [old, new])) = found.next() {
                let pair =
                    Pair { old: Marked { at, parts: old }, new: Marked { at: to, parts: new } };
                pairs.push(pair);
                next = to + 1;
            }
        }
        pairs
    }

    /// Returns the parts by which two lines differ; `None` if they have too little in common.
    fn differing(&self, old: &str, new: &str) -> Option<[Vec<Range<usize>>; 2]> {
        if old.len().max(new.len()) > MOST_BYTES || Instant::now() > self.deadline {
            return None;
        }
        let (old, new) = (words(old), words(new));
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(self.deadline));
        let kept = ops.iter().filter(|op| op.tag() == DiffTag::Equal);
        let kept: usize = kept.map(|op| weight(&old[op.old_range()])).sum();
        let is_alike = kept > 0 && 4 * kept >= weight(&old) + weight(&new);
        let changed = || ops.iter().filter(|op| op.tag() != DiffTag::Equal);
        is_alike.then(|| {
            [
                parts(&old, changed().map(similar::DiffOp::old_range)),
                parts(&new, changed().map(similar::DiffOp::new_range)),
            ]
        })
    }
}

/// Splits a line into words, blanks, and other characters one by one.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let kind = kind(first);
        let end = match kind {
            Kind::Other => first.len_utf8(),
            _ => rest.find(|c| self::kind(c) != kind).unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Blank,
    Other,
}

fn kind(c: char) -> Kind {
    match c {
        c if c.is_alphanumeric() || c == '_' => Kind::Word,
        c if c.is_whitespace() => Kind::Blank,
        _ => Kind::Other,
    }
}

/// Returns how much there is to read in words; blanks make no lines alike.
fn weight(words: &[&str]) -> usize {
    words.iter().map(|word| word.trim().chars().count()).sum()
}

/// Returns where runs of words are in their line.
fn parts(words: &[&str], runs: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    runs.filter(|run| !run.is_empty())
        .map(|run| {
            let start = length(&words[..run.start]);
            start..start + length(&words[run])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pairs, with the parts that differ in brackets.
    fn shown(old: &[&str], new: &[&str]) -> Vec<(String, String)> {
        let marked = |line: &str, parts: &[Range<usize>]| {
            let mut line = line.to_owned();
            for part in parts.iter().rev() {
                line.insert(part.end, ']');
                line.insert(part.start, '[');
            }
            line
        };
        let pairs = Pairing::new().pairs(old, new);
        let shown = |it: &Pair| {
            let (old, new) = (old[it.old.at], new[it.new.at]);
            (marked(old, &it.old.parts), marked(new, &it.new.parts))
        };
        pairs.iter().map(shown).collect()
    }

    fn pair(old: &str, new: &str) -> Vec<(String, String)> {
        vec![(old.to_owned(), new.to_owned())]
    }

    #[test]
    fn the_words_by_which_two_lines_differ_are_found() {
        assert_eq!(
            shown(&["    return text.split()"], &["    return text.lower().split()"]),
            pair("    return text.split()", "    return text.[lower().]split()")
        );
        assert_eq!(
            shown(&["let größe = f(1);"], &["let größe2 = f(1); // é"]),
            pair("let [größe] = f(1);", "let [größe2] = f(1);[ // é]")
        );
    }

    #[test]
    fn lines_that_have_little_in_common_are_no_pair() {
        assert_eq!(shown(&["one"], &["two"]), []);
        assert_eq!(shown(&["        "], &["        "]), []);
        assert_eq!(shown(&[], &["two"]), []);
    }

    #[test]
    fn a_line_is_paired_with_its_like_further_on() {
        let new = ["use std::fs;", "use std::path::Path;", "let count = 2;"];
        assert_eq!(shown(&["let count = 1;"], &new), pair("let count = [1];", "let count = [2];"));
        let far = ["other"; NEAR].into_iter().chain(["let count = 2;"]).collect::<Vec<_>>();
        assert_eq!(shown(&["let count = 1;"], &far), []);
    }

    #[test]
    fn very_long_lines_and_very_long_work_have_no_marks() {
        let long = "a ".repeat(MOST_BYTES);
        assert_eq!(shown(&[&long], &[&(long.clone() + "b")]), []);
        let over = Pairing { deadline: Instant::now() - Duration::from_secs(1) };
        assert_eq!(over.pairs(&["let a = 1;"], &["let a = 2;"]), []);
    }
}
