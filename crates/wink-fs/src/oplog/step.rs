//! Steps: the single changes of an operation, as lines of its list.
//!
//! Each line is written before its change is made, so that a process that dies leaves a list of everything it may have
//! changed. The line's number names the pre-image.

use super::content_id::ContentId;
use crate::hash::ContentHash;
use crate::path::TreePath;
use crate::tree::FileMode;
use crate::tree::merkle::{self, Identity};

/// One change of one or two paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Put a file with this content.
    Put { path: TreePath, content: ContentHash },
    /// Put a link, or a directory with everything in it.
    Place { path: TreePath, left: ContentId },
    /// Made an empty directory.
    MakeDir { path: TreePath },
    /// Changed a file's mode.
    SetMode { path: TreePath, was: FileMode, is: FileMode },
    /// Removed an entry with everything below it.
    Remove { path: TreePath },
    /// Moved an entry to a free path, or to one that the step before removed.
    Move { from: TreePath, to: TreePath, moved: ContentId },
}

impl Step {
    /// Returns its path; for a move, the old one.
    pub(crate) fn path(&self) -> &TreePath {
        match self {
            Self::Put { path, .. }
            | Self::Place { path, .. }
            | Self::MakeDir { path }
            | Self::SetMode { path, .. }
            | Self::Remove { path }
            | Self::Move { from: path, .. } => path,
        }
    }

    /// Returns all paths that it changes.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &TreePath> {
        let to = match self {
            Self::Move { to, .. } => Some(to),
            _ => None,
        };
        [self.path()].into_iter().chain(to)
    }

    /// Returns what it left at a path, if it changed it; the mode of a file is not known.
    pub(crate) fn left_at(&self, path: &TreePath) -> Option<Option<ContentId>> {
        let entry = |identity| Some(Some(ContentId::Entry(identity)));
        match self {
            Self::Put { path: at, content } if at == path => {
                entry(Identity::File { mode: FileMode::default(), hash: *content })
            }
            Self::Place { path: at, left } | Self::Move { to: at, moved: left, .. }
                if at == path =>
            {
                Some(Some(left.clone()))
            }
            Self::MakeDir { path: at } if at == path => {
                entry(Identity::Directory(merkle::directory_hash(&[])))
            }
            Self::Remove { path: at } | Self::Move { from: at, .. } if at == path => Some(None),
            _ => None,
        }
    }

    /// Returns its line, without the checksum.
    fn text(&self) -> String {
        match self {
            Self::Put { path, content } => format!("put\t{path}\t{content}"),
            Self::Place { path, left } => format!("place\t{path}\t{left}"),
            Self::MakeDir { path } => format!("mkdir\t{path}\t"),
            Self::SetMode { path, was, is } => {
                format!("mode\t{path}\t{} {}", merkle::mode_bits(*was), merkle::mode_bits(*is))
            }
            Self::Remove { path } => format!("rm\t{path}\t"),
            Self::Move { from, to, moved } => format!("mv\t{from}\t{to}\t{moved}"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.splitn(4, '\t');
        let verb = fields.next()?;
        let path = TreePath::parse(fields.next()?).ok()?;
        let rest = fields.next()?;
        Some(match verb {
            "put" => Self::Put { path, content: rest.parse().ok()? },
            "place" => Self::Place { path, left: ContentId::parse(rest) },
            "mkdir" => Self::MakeDir { path },
            "mode" => {
                let (was, is) = rest.split_once(' ')?;
                let mode = |text: &str| text.parse().ok().map(merkle::mode_of);
                Self::SetMode { path, was: mode(was)?, is: mode(is)? }
            }
            "rm" => Self::Remove { path },
            "mv" => {
                let to = TreePath::parse(rest).ok()?;
                let moved = ContentId::parse(fields.next()?);
                Self::Move { from: path, to, moved }
            }
            _ => return None,
        })
    }
}

/// A line of an operation's list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    Step(Step),
    /// The steps from this line on, up to here, were not made.
    Void {
        from: usize,
    },
    /// A rollback has dealt with the step of this line: it is no longer part of the operation.
    Undone {
        line: usize,
    },
    /// From an earlier version: the path may have changed, and this content was put there.
    Touched {
        path: TreePath,
        content: Option<ContentHash>,
    },
}

impl Line {
    /// Encodes the line: the CRC-32 of its text, and the text.
    pub(crate) fn encode(&self) -> String {
        let text = match self {
            Self::Step(step) => step.text(),
            Self::Void { from } => format!("void\t{from}\t"),
            Self::Undone { line } => format!("undone\t{line}\t"),
            Self::Touched { path, content: None } => path.to_string(),
            Self::Touched { path, content: Some(content) } => format!("{path}\t{content}"),
        };
        format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()))
    }

    fn decode(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line.get(9..)?.strip_suffix(b"\n")?).ok()?;
        // The list is not synced, so a power loss may leave a part of a line, or zeros.
        if format!("{:08x} ", crc32fast::hash(text.as_bytes())).as_bytes() != &line[..9] {
            return None;
        }
        // Paths have no tabs. Lines of earlier versions have at most one, and steps at least two.
        match text.matches('\t').count() {
            0 => Some(Self::Touched { path: TreePath::parse(text).ok()?, content: None }),
            1 => {
                let (path, content) = text.split_once('\t')?;
                let path = TreePath::parse(path).ok()?;
                let content = content.parse().ok()?;
                Some(Self::Touched { path, content: Some(content) })
            }
            _ => match text.split_once('\t')? {
                ("void", from) => Some(Self::Void { from: from.trim_end().parse().ok()? }),
                ("undone", line) => Some(Self::Undone { line: line.trim_end().parse().ok()? }),
                _ => Step::parse(text).map(Self::Step),
            },
        }
    }
}

/// Returns the number of bytes before the first damaged or incomplete line.
pub(crate) fn intact_length(list: &[u8]) -> usize {
    let lines = list.split_inclusive(|byte| *byte == b'\n');
    lines.take_while(|line| Line::decode(line).is_some()).map(<[u8]>::len).sum()
}

/// Decodes a list, up to the first damaged or incomplete line.
pub(crate) fn lines(list: &[u8]) -> Vec<(usize, Line)> {
    let lines = list.split_inclusive(|byte| *byte == b'\n').map(Line::decode);
    lines.map_while(|line| line).enumerate().collect()
}

/// Returns the paths of a list of an earlier version.
pub(crate) fn earlier_paths(list: &[u8]) -> Vec<(usize, TreePath)> {
    let path = |(number, line)| match line {
        Line::Touched { path, .. } => Some((number, path)),
        _ => None,
    };
    lines(list).into_iter().filter_map(path).collect()
}

/// Returns all steps, including those that were not made.
pub(crate) fn announced_steps(list: &[u8]) -> Vec<(usize, Step)> {
    let step = |(number, line)| match line {
        Line::Step(step) => Some((number, step)),
        _ => None,
    };
    lines(list).into_iter().filter_map(step).collect()
}

/// Returns the steps that were made, or may have been, and were not rolled back.
pub(crate) fn steps(list: &[u8]) -> Vec<(usize, Step)> {
    let mut steps: Vec<(usize, Step)> = Vec::new();
    for (number, line) in lines(list) {
        match line {
            Line::Step(step) => steps.push((number, step)),
            Line::Void { from } => steps.retain(|(number, _)| *number < from),
            Line::Undone { line } => steps.retain(|(number, _)| *number != line),
            Line::Touched { path, content: Some(content) } => {
                steps.push((number, Step::Put { path, content }));
            }
            // With a pre-image and a free path, undoing a removal restores the entry; otherwise it leaves the path
            // alone.
            Line::Touched { path, content: None } => steps.push((number, Step::Remove { path })),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::parse(text).unwrap()
    }

    fn all() -> Vec<Step> {
        let left = ContentId::parse(&format!("link {}", ContentHash::of(b"a")));
        let was = FileMode::default();
        let is = FileMode::default().executable(true);
        vec![
            Step::Put { path: path("a b"), content: ContentHash::of(b"a") },
            Step::Place { path: path("put"), left: left.clone() },
            Step::MakeDir { path: path("void") },
            Step::SetMode { path: path("a"), was, is },
            Step::Remove { path: path(&ContentHash::of(b"a").to_string()) },
            Step::Move { from: path("a"), to: path("b"), moved: left },
        ]
    }

    #[test]
    fn every_step_is_read_as_it_was_written() {
        let list: String = all().into_iter().map(|step| Line::Step(step).encode()).collect();
        let read: Vec<Step> = steps(list.as_bytes()).into_iter().map(|(_, step)| step).collect();
        assert_eq!(read, all());
    }

    #[test]
    fn changes_that_were_not_made_are_none() {
        let [one, two, ..] = &all()[..] else { unreachable!() };
        let lines = [
            Line::Step(one.clone()),
            Line::Step(two.clone()),
            Line::Void { from: 1 },
            Line::Step(two.clone()),
        ];
        let list: String = lines.iter().map(Line::encode).collect();
        assert_eq!(steps(list.as_bytes()), [(0, one.clone()), (3, two.clone())]);
    }

    #[test]
    fn a_damaged_line_ends_the_list() {
        let list: String = all().into_iter().map(|step| Line::Step(step).encode()).collect();
        let second = list.find('\n').unwrap() + 1;
        for at in second..list.len() {
            let mut damaged = list.clone().into_bytes();
            damaged[at] ^= 1;
            assert!(steps(&damaged).len() < all().len(), "byte {at}");
            assert_eq!(steps(&damaged)[0].1, all()[0]);
        }
    }
}
