//! Changed lines.

use std::fmt;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

use super::Diff;
use crate::error::{Error, Operation, Result};
use crate::path::TreePath;
use crate::tree::{Kind, Tree};

/// How many unchanged lines are shown around changed ones.
const CONTEXT: usize = 3;

/// Larger files are not compared by lines.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// How long to look for the smallest difference of one file; then a larger one is accepted.
const PATIENCE: Duration = Duration::from_millis(500);

/// Lines that changed together, with unchanged ones around them.
///
/// Its text is a hunk of a unified diff.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Hunk {
    /// The first line in the first file, counted from 1, or the line before it if there is none.
    pub old_start: usize,
    /// The number of lines in the first file.
    pub old_lines: usize,
    /// The first line in the second file, counted from 1, or the line before it if there is none.
    pub new_start: usize,
    /// The number of lines in the second file.
    pub new_lines: usize,
    /// The lines.
    pub lines: Vec<DiffLine>,
}

/// One line, with its ending.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DiffLine {
    /// Whether it was added, removed or kept.
    pub change: LineChange,
    /// The line as it is in the file.
    pub text: String,
}

/// What happened to a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LineChange {
    /// In both files.
    Kept,
    /// In the second file only.
    Added,
    /// In the first file only.
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

/// Adds hunks to every file that is text on both sides.
pub(super) fn find(diff: &mut Diff, before: &dyn Tree, after: &dyn Tree) -> Result<()> {
    let lists = [&mut diff.added, &mut diff.modified, &mut diff.deleted];
    for changed in lists.into_iter().flatten() {
        let old = text(before, &changed.path, changed.before)?;
        let new = text(after, &changed.path, changed.after)?;
        changed.hunks = old.zip(new).map(|(old, new)| hunks(&old, &new));
    }
    Ok(())
}

/// Reads a file as text; a missing file is an empty text, and a binary one has none.
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
    // A single carriage return does not end a line, in a patch or elsewhere.
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = TextDiff::configure().deadline(deadline).diff_slices(&old, &new);
    let group = |group: &Vec<similar::DiffOp>| hunk(&diff, group);
    diff.grouped_ops(CONTEXT).iter().filter_map(group).collect()
}

fn hunk(diff: &TextDiff<'_, '_, str>, group: &[similar::DiffOp]) -> Option<Hunk> {
    let first = group.first()?;
    let last = group.last()?;
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
    let old_start = start(&old);
    let new_start = start(&new);
    let old_lines = old.len();
    let new_lines = new.len();
    Some(Hunk { old_start, old_lines, new_start, new_lines, lines: lines.collect() })
}
