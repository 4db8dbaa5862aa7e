//! How many lines changed in each file.

use std::fmt::Write as _;

use wink_fs::{Changed, Kind, LineChange};

use crate::json::ChangedEntry;
use crate::ui::format;

/// The longest row of signs.
const SIGNS: usize = 40;

struct Row {
    path: String,
    /// Lines that came and lines that went; `None` where there are no lines.
    lines: Option<(usize, usize)>,
    /// Whether it is the same file with another mode.
    is_only_mode: bool,
}

/// Writes a line for each file, and a summary.
pub(super) fn text(all: &[&Changed]) -> String {
    let rows: Vec<_> = all.iter().map(|changed| row(changed)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let width = rows.iter().map(|row| row.path.chars().count()).max().unwrap_or(0);
    let most = rows.iter().filter_map(|row| row.lines).map(|(a, b)| a + b).max().unwrap_or(0);
    let mut text = String::new();
    for Row { path, lines, is_only_mode } in &rows {
        let told = match lines {
            _ if *is_only_mode => "mode".to_owned(),
            Some(lines) => signs(*lines, most),
            None => "-".to_owned(),
        };
        let _ = writeln!(text, " {path:<width$} | {told}");
    }
    text + &summary(&rows)
}

fn row(changed: &Changed) -> Row {
    let count = |wanted: LineChange| {
        let hunks = changed.hunks.iter().flatten();
        hunks.flat_map(|hunk| &hunk.lines).filter(|line| line.change == wanted).count()
    };
    let lines =
        changed.hunks.as_ref().map(|_| (count(LineChange::Added), count(LineChange::Removed)));
    let both = Some(Kind::File);
    let is_only_mode = lines == Some((0, 0)) && changed.before == both && changed.after == both;
    Row { path: ChangedEntry::from(changed).shown(), lines, is_only_mode }
}

fn signs((added, removed): (usize, usize), most: usize) -> String {
    let scaled = |n: usize| if most <= SIGNS { n } else { (n * SIGNS).div_ceil(most) };
    let signs = "+".repeat(scaled(added)) + &"-".repeat(scaled(removed));
    format!("{} {signs}", added + removed).trim_end().to_owned()
}

fn summary(rows: &[Row]) -> String {
    let (added, removed) = rows
        .iter()
        .filter_map(|row| row.lines)
        .fold((0, 0), |(a, b), (added, removed)| (a + added, b + removed));
    format!(
        " {} changed, {}(+), {}(-)\n",
        format::counted(rows.len() as u64, "file", "files"),
        format::counted(added as u64, "insertion", "insertions"),
        format::counted(removed as u64, "deletion", "deletions"),
    )
}
