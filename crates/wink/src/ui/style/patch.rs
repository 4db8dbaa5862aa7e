//! Colours of a patch: added and removed lines, and the words that differ.

use std::iter::Peekable;
use std::ops::Range;

use anstyle::Style;

use super::{ADDED, PLACE, REMOVED, STRONG, letter_line, marked};
use crate::ui::word_diff::{Marked, Pairing};

/// Adds colours to a patch.
pub(super) fn paint(text: &str) -> String {
    let mut patch = Patch {
        painted: String::with_capacity(text.len() * 2),
        left: (0, 0),
        run: Vec::new(),
        has_come: false,
        pairing: Pairing::new(),
    };
    text.split_inclusive('\n').for_each(|line| patch.line(line));
    patch.end_run();
    patch.painted
}

struct Patch<'a> {
    painted: String,
    /// How many lines of each side the hunk still has.
    left: (usize, usize),
    /// Lines that went and lines that came, which stand together.
    run: Vec<&'a str>,
    /// Whether a line that came is among them.
    has_come: bool,
    pairing: Pairing,
}

impl<'a> Patch<'a> {
    fn line(&mut self, line: &'a str) {
        let (old, new) = self.left;
        match line.as_bytes().first() {
            Some(b'-') if old > 0 => {
                if self.has_come {
                    self.end_run();
                }
                self.left.0 -= 1;
                self.run.push(line);
            }
            Some(b'+') if new > 0 => {
                self.left.1 -= 1;
                self.has_come = true;
                self.run.push(line);
            }
            // It says that the line before it has no end.
            Some(b'\\') if !self.run.is_empty() => self.run.push(line),
            _ => {
                self.end_run();
                self.other(line);
            }
        }
    }

    /// Paints a line that nothing came or went with.
    fn other(&mut self, line: &str) {
        let (old, new) = self.left;
        if let (Some(old), Some(new), true) =
            (old.checked_sub(1), new.checked_sub(1), is_kept(line))
        {
            self.left = (old, new);
            self.painted += line;
            return;
        }
        self.left = counts(line).unwrap_or_default();
        match style(line) {
            None => self.painted += &letter_line(line),
            style => self.push(line, style, &[]),
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        self.has_come = false;
        let of = |sign: char| run.iter().filter_map(move |line| line.strip_prefix(sign));
        let (old, new): (Vec<_>, Vec<_>) = (of('-').collect(), of('+').collect());
        let pairs = self.pairing.pairs(&old, &new);
        // Pairs are in the order of both sides.
        let mut went = Side::new(pairs.iter().map(|pair| &pair.old));
        let mut came = Side::new(pairs.iter().map(|pair| &pair.new));
        for line in &run {
            let (style, marked) = match line.as_bytes().first() {
                Some(b'-') => (Some(REMOVED), went.next()),
                Some(b'+') => (Some(ADDED), came.next()),
                _ => (None, None),
            };
            self.push(line, style, marked.map_or(&[], |marked| &marked.parts));
        }
    }

    /// Adds a line, of which some parts after its sign are marked.
    fn push(&mut self, line: &str, style: Option<Style>, parts: &[Range<usize>]) {
        let content = line.strip_suffix('\n').unwrap_or(line);
        self.painted += &marked(content, style, parts, 1);
        self.painted += &line[content.len()..];
    }
}

/// The lines of one side, some of which have a counterpart.
struct Side<'p, I: Iterator<Item = &'p Marked>> {
    at: usize,
    marked: Peekable<I>,
}

impl<'p, I: Iterator<Item = &'p Marked>> Side<'p, I> {
    fn new(marked: I) -> Self {
        Self { at: 0, marked: marked.peekable() }
    }

    /// Goes on to the next line, and returns how it is marked.
    fn next(&mut self) -> Option<&'p Marked> {
        let at = self.at;
        self.at += 1;
        self.marked.next_if(|marked| marked.at == at)
    }
}

/// Returns whether a line of a hunk is in both files; some leave out the sign of an empty one.
fn is_kept(line: &str) -> bool {
    line.starts_with(' ') || line == "\n"
}

fn style(line: &str) -> Option<Style> {
    match line.as_bytes() {
        [b'd', b'i', b'f', b'f', b' ', ..]
        | [b'-', b'-', b'-', b' ', ..]
        | [b'+', b'+', b'+', b' ', ..] => Some(STRONG),
        [b'@', b'@', ..] => Some(PLACE),
        _ => None,
    }
}

/// Reads from the head of a hunk how many lines of each side it has.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |it| it.1.parse().ok());
    Some((count(old)?, count(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEN: &str = "\u{1b}[32m";
    const RED: &str = "\u{1b}[31m";
    const MARK: &str = "\u{1b}[7m";
    const END: &str = "\u{1b}[0m";

    fn stripped(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn words_that_differ_are_marked_and_nothing_is_lost_without_marks() {
        let patch = "@@ -1,2 +1,2 @@\n-let a = 1;\n+let a = 2;\n same\n";
        let painted = paint(patch);
        assert!(
            painted.contains(&format!("{RED}-let a = {END}{MARK}{RED}1{END}{RED};{END}\n")),
            "{painted:?}"
        );
        assert!(
            painted.contains(&format!("{GREEN}+let a = {END}{MARK}{GREEN}2{END}{GREEN};{END}\n")),
            "{painted:?}"
        );
        assert_eq!(stripped(&painted), patch);
    }

    #[test]
    fn a_line_of_dashes_that_went_is_no_head_of_a_file() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,1 +0,0 @@\n--- x\ndiff --git a/y b/y\n--- a/y\n";
        let painted = paint(patch);
        assert!(painted.contains(&format!("{RED}--- x{END}\n")), "{painted:?}");
        assert!(painted.ends_with(&format!("\u{1b}[1m--- a/y{END}\n")), "{painted:?}");
        assert_eq!(stripped(&painted), patch);
    }

    #[test]
    fn lines_without_an_end_are_paired_too() {
        let patch = "@@ -1 +1 @@\n-shared/to/here\n\\ No newline at end of file\n+shared/to/there\n\
                     \\ No newline at end of file\n";
        let painted = paint(patch);
        assert!(painted.contains(&format!("{MARK}{GREEN}there{END}\n")), "{painted:?}");
        assert_eq!(stripped(&painted), patch);
    }

    #[test]
    fn letters_before_a_patch_and_empty_lines_in_it_are_known() {
        let text =
            "2 paths changed:\nM x\n\nx\n@@ -1,3 +1,3 @@\n one\n\n-let a = 1;\n+let a = 2;\n";
        let painted = paint(text);
        assert!(painted.contains(&format!("\u{1b}[33mM{END} x\n")), "{painted:?}");
        assert!(painted.contains(&format!("{MARK}{GREEN}2{END}")), "{painted:?}");
        assert_eq!(stripped(&painted), text);
    }

    #[test]
    fn very_long_runs_take_no_longer_than_there_is_patience() {
        let lines = |sign: char, value: u32| -> String {
            (0..50_000).map(|n| format!("{sign}let line_{n} = {value};\n")).collect()
        };
        let body = lines('-', 1) + &lines('+', 2);
        let patch = format!("@@ -1,50000 +1,50000 @@\n{body}");
        let began = std::time::Instant::now();
        assert_eq!(stripped(&paint(&patch)), patch);
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }

    #[test]
    fn a_mark_ends_before_the_line_does() {
        let patch = "@@ -1 +1 @@\n-let a = 1 +\n+let a = 1\n";
        assert_eq!(stripped(&paint(patch)), patch);
        assert!(!paint(patch).contains(&format!("\n{END}")));
    }
}
