//! The lines that changed in the files that a page lists.

use wink_fs::{Changed, Diff, DiffLine, Hunk, LineChange, TreePath};

use super::HunkAnswer;
use crate::history::changes::{self, Row};
use crate::util::counted;

/// Bytes that an answer has with its lines.
const MOST_BYTES: usize = 32 * 1024;

/// Returns where the lines of a page are to be found.
pub(super) fn places(diff: &Diff, page: &[Row]) -> Vec<TreePath> {
    let is_listed = |it: &&Changed| page.contains(&changes::row(it));
    all(diff).filter(is_listed).map(|it| it.path.clone()).collect()
}

/// Returns the lines of each file of a page, in the order of the page.
pub(super) fn of_page(lines: &Diff, page: &[Row]) -> Vec<String> {
    let place = |it: &Changed| page.iter().position(|row| *row == changes::row(it));
    let mut listed: Vec<_> = all(lines).filter_map(|it| Some((place(it)?, text(it)?))).collect();
    listed.sort_by_key(|(place, _)| *place);
    listed.into_iter().map(|(_, text)| text).collect()
}

/// Returns the hunks of the files of a page that fit; the message says of how many files they do not.
pub(super) fn hunks_of_page(lines: &Diff, page: &[Row], message: &mut String) -> Vec<HunkAnswer> {
    let place = |it: &Changed| page.iter().position(|row| *row == changes::row(it));
    let mut listed: Vec<_> = all(lines).filter_map(|it| Some((place(it)?, it))).collect();
    listed.sort_by_key(|(place, _)| *place);
    let mut hunks = Vec::new();
    let mut left_out = 0;
    let mut size = 0;
    for (_, changed) in listed {
        let Some(text) = text(changed) else { continue };
        if size + text.len() > MOST_BYTES {
            left_out += 1;
            continue;
        }
        size += text.len();
        hunks.extend(changed.hunks.iter().flatten().map(|hunk| answer(changed, hunk)));
    }
    note_left_out(message, left_out);
    hunks
}

fn answer(changed: &Changed, hunk: &Hunk) -> HunkAnswer {
    let line = |line: &DiffLine| {
        let sign = match line.change {
            LineChange::Added => '+',
            LineChange::Removed => '-',
            _ => ' ',
        };
        format!("{sign}{}", line.text)
    };
    HunkAnswer {
        path: changed.path.to_string(),
        old_start: hunk.old_start,
        old_lines: hunk.old_lines,
        new_start: hunk.new_start,
        new_lines: hunk.new_lines,
        lines: hunk.lines.iter().map(line).collect(),
    }
}

fn all(diff: &Diff) -> impl Iterator<Item = &Changed> {
    diff.added.iter().chain(&diff.modified).chain(&diff.deleted)
}

fn text(changed: &Changed) -> Option<String> {
    let hunks = changed.hunks.as_ref().filter(|hunks| !hunks.is_empty())?;
    let hunks: String = hunks.iter().map(ToString::to_string).collect();
    Some(format!("\n\n{}\n{}", changed.path, hunks.trim_end_matches('\n')))
}

/// Adds the lines that fit, and says of how many files they do not.
pub(super) fn add(message: &mut String, lines: &[String]) {
    let mut left_out = 0;
    for text in lines {
        if message.len() + text.len() > MOST_BYTES { left_out += 1 } else { message.push_str(text) }
    }
    note_left_out(message, left_out);
}

fn note_left_out(message: &mut String, left_out: u64) {
    if left_out > 0 {
        let files = counted(left_out, "file");
        *message += &format!("\nLines of {files} are not shown; see them with diff and a path.");
    }
}
