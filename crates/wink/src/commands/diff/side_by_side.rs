//! Differences in two columns: what was on the left, what is on the right.

use wink_fs::{Changed, Hunk, LineChange, Tree};

use super::columns::{Cell, Columns, Row, visible};
use super::patch::{self, Binary};
use crate::error::CliError;
use crate::ui::style::{Paint, harmless};
use crate::ui::word_diff::{Marked, Pairing};

const NO_NEWLINE: &str = "\\ No newline at end of file";

/// Writes what is different in two columns, without colours and with them.
///
/// What is no change of lines is written as in a patch.
pub(super) fn text(
    before: &dyn Tree,
    after: &dyn Tree,
    all: &[&Changed],
    width: usize,
) -> Result<(String, String), CliError> {
    let mut shown = Shown::default();
    let pairing = Pairing::new();
    for changed in all {
        let as_patch = harmless(&patch::text(before, after, &[changed], Binary::Told)?.text);
        let hunks = changed.hunks.as_deref().unwrap_or_default();
        let head = match as_patch.find("\n@@ ").filter(|_| !hunks.is_empty()) {
            Some(end) => &as_patch[..=end],
            None => &as_patch,
        };
        shown.head(head);
        let columns = Columns::new(width, last_line(hunks));
        hunks.iter().for_each(|hunk| shown.hunk(hunk, columns, &pairing));
    }
    Ok((shown.plain, shown.painted))
}

/// What is shown, without colours and with them.
#[derive(Default)]
struct Shown {
    plain: String,
    painted: String,
}

impl Shown {
    fn head(&mut self, head: &str) {
        self.plain += head;
        self.painted += &Paint::Patch.paint(head);
    }

    fn hunk(&mut self, hunk: &Hunk, columns: Columns, pairing: &Pairing) {
        let Hunk { old_start, old_lines, new_start, new_lines, .. } = hunk;
        self.head(&format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@\n"));
        for row in rows(hunk, pairing) {
            self.plain += &columns.row(&row, false);
            self.painted += &columns.row(&row, true);
        }
    }
}

fn last_line(hunks: &[Hunk]) -> usize {
    let last = |it: &Hunk| (it.old_start + it.old_lines).max(it.new_start + it.new_lines);
    hunks.last().map_or(0, last)
}

/// Lines that went and lines that came together.
#[derive(Default)]
struct Run {
    old: Vec<Cell>,
    new: Vec<Cell>,
}

fn rows(hunk: &Hunk, pairing: &Pairing) -> Vec<Row> {
    let (mut rows, mut run) = (Vec::new(), Run::default());
    let (mut old, mut new) = (hunk.old_start.max(1), hunk.new_start.max(1));
    for line in &hunk.lines {
        match line.change {
            LineChange::Removed => push(&mut run.old, &line.text, &mut old),
            LineChange::Added => push(&mut run.new, &line.text, &mut new),
            _ => {
                std::mem::take(&mut run).finish(&mut rows, pairing);
                let (mut left, mut right) = (Vec::new(), Vec::new());
                push(&mut left, &line.text, &mut old);
                push(&mut right, &line.text, &mut new);
                rows.extend(left.into_iter().zip(right).map(|(old, new)| Row::Same(old, new)));
            }
        }
    }
    run.finish(&mut rows, pairing);
    rows
}

/// Adds a line, and what is to be said of its end.
fn push(cells: &mut Vec<Cell>, line: &str, number: &mut usize) {
    cells.push(Cell { number: Some(*number), text: visible(line), parts: Vec::new() });
    if !line.ends_with('\n') {
        cells.push(Cell { text: NO_NEWLINE.to_owned(), ..Cell::default() });
    }
    *number += 1;
}

impl Run {
    /// Puts lines beside each other that belong together, and what is between them as it comes.
    fn finish(self, rows: &mut Vec<Row>, pairing: &Pairing) {
        let pairs = pairing.pairs(&texts(&self.old), &texts(&self.new));
        let (mut left, mut right) = (self.old.into_iter(), self.new.into_iter());
        let (mut went, mut came) = (0, 0);
        for pair in pairs {
            beside(
                rows,
                left.by_ref().take(pair.old.at - went),
                right.by_ref().take(pair.new.at - came),
            );
            (went, came) = (pair.old.at + 1, pair.new.at + 1);
            if let (Some(old), Some(new)) = (left.next(), right.next()) {
                rows.push(Row::Changed(with_parts(old, pair.old), with_parts(new, pair.new)));
            }
        }
        beside(rows, left, right);
    }
}

fn texts(cells: &[Cell]) -> Vec<&str> {
    cells.iter().map(|cell| cell.text.as_str()).collect()
}

fn with_parts(cell: Cell, marked: Marked) -> Cell {
    Cell { parts: marked.parts, ..cell }
}

/// Adds lines that have nothing in common, beside each other as far as both sides have some.
fn beside(
    rows: &mut Vec<Row>,
    mut old: impl Iterator<Item = Cell>,
    mut new: impl Iterator<Item = Cell>,
) {
    loop {
        rows.push(match (old.next(), new.next()) {
            (Some(old), Some(new)) => Row::Changed(old, new),
            (Some(old), None) => Row::Removed(old),
            (None, Some(new)) => Row::Added(new),
            (None, None) => return,
        });
    }
}
