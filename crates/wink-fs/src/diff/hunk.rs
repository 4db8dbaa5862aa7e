//! The lines that changed.

use std::fmt;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

use super::Diff;
use crate::error::{Error, Operation, Result};
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// Lines that are shown around those that changed.
const CONTEXT: usize = 3;

/// Files beyond this size are not compared line by line.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The time for finding the smallest difference of one file; after it a larger one will do.
const PATIENCE: Duration = Duration::from_millis(500);

/// Holds lines that changed together, with some that did not around them.
///
/// Its text is that of a unified diff.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Hunk {
    /// The first line in the first file, counted from 1, or the one before it where there is none.
    pub old_start: usize,
    /// How many lines of the first file.
    pub old_lines: usize,
    /// The first line in the second file, counted from 1, or the one before it where there is none.
    pub new_start: usize,
    /// How many lines of the second file.
    pub new_lines: usize,
    /// The lines.
    pub lines: Vec<DiffLine>,
}

/// Holds one line, with its ending.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DiffLine {
    /// Whether it was added, removed, or is in both.
    pub change: LineChange,
    /// The line as it is in the file.
    pub text: String,
}

/// Says what happened to a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LineChange {
    /// It is in both files.
    Kept,
    /// It is only in the second file.
    Added,
    /// It is only in the first file.
    Removed,
}

impl fmt::Display for Hunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { old_start, old_lines, new_start, new_lines, lines } = self;
        writeln!(f, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@")?;
        lines.iter().try_for_each(|line| write!(f, "{line}"))
    }
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.change {
            LineChange::Kept => ' ',
            LineChange::Added => '+',
            LineChange::Removed => '-',
        };
        write!(f, "{sign}{}", self.text)?;
        if self.text.ends_with('\n') {
            Ok(())
        } else {
            f.write_str("\n\\ No newline at end of file\n")
        }
    }
}

/// Adds the lines that changed to every file that is text on both sides.
pub(super) fn find(diff: &mut Diff, before: &dyn Tree, after: &dyn Tree) -> Result<()> {
    let lists = [&mut diff.added, &mut diff.modified, &mut diff.deleted];
    for changed in lists.into_iter().flatten() {
        let old = text(before, &changed.path, changed.before)?;
        let new = text(after, &changed.path, changed.after)?;
        changed.hunks = old.zip(new).map(|(old, new)| hunks(&old, &new));
    }
    Ok(())
}

/// Reads a file as text; nothing there is no text, and what is no text has none.
fn text(tree: &dyn Tree, path: &TreePath, kind: Option<Kind>) -> Result<Option<String>> {
    match kind {
        None => return Ok(Some(String::new())),
        Some(Kind::File) => {}
        Some(_) => return Ok(None),
    }
    let content = tree.open(path)?;
    if content.len() > MAX_BYTES {
        return Ok(None);
    }
    let bytes = content.read_all();
    let bytes = bytes.map_err(|error| Error::system(Operation::Diff, error).with_path(path))?;
    let is_text = !bytes.contains(&0);
    Ok(String::from_utf8(bytes.into()).ok().filter(|_| is_text))
}

fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let deadline = Instant::now() + PATIENCE;
    // A carriage return alone ends no line, in a patch or elsewhere.
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = TextDiff::configure().deadline(deadline).diff_slices(&old, &new);
    let group = |group: &Vec<similar::DiffOp>| hunk(&diff, group);
    diff.grouped_ops(CONTEXT).iter().filter_map(group).collect()
}

fn hunk(diff: &TextDiff<'_, '_, str>, group: &[similar::DiffOp]) -> Option<Hunk> {
    let (first, last) = (group.first()?, group.last()?);
    let old = first.old_range().start..last.old_range().end;
    let new = first.new_range().start..last.new_range().end;
    let lines = group.iter().flat_map(|op| diff.iter_changes(op)).map(|change| DiffLine {
        change: match change.tag() {
            ChangeTag::Equal => LineChange::Kept,
            ChangeTag::Insert => LineChange::Added,
            ChangeTag::Delete => LineChange::Removed,
        },
        text: change.value().to_owned(),
    });
    let start = |range: &std::ops::Range<usize>| range.start + usize::from(!range.is_empty());
    let (old_start, new_start) = (start(&old), start(&new));
    let (old_lines, new_lines) = (old.len(), new.len());
    Some(Hunk { old_start, old_lines, new_start, new_lines, lines: lines.collect() })
}
