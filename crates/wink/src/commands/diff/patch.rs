//! Differences as git writes them, so that `git apply` reads them.

use std::fmt::Write as _;

use wink_fs::{Changed, Diff, DiffOptions, Hunk, Kind, MemoryBackend, Scope, Tree, TreePath, diff};

use super::binary;
use super::git_entry::{self, Mode};
use crate::error::CliError;
use crate::ui::format;

const NOTHING: &str = "/dev/null";
const NO_NEWLINE: &str = "\n\\ No newline at end of file\n";

/// What a patch holds at most of files without lines: both contents of all of them together.
pub(super) const MOST_BYTES: u64 = 128 * 1024 * 1024;

/// Says how a change is written that has no lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    /// In one line, for people.
    Told,
    /// With both contents, for `git apply`.
    Whole,
}

/// A patch, and what is not in it because it is too large.
#[derive(Default)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) left_out: Vec<TreePath>,
    /// Whether anything in it is in git's format.
    pub(super) is_for_git: bool,
    /// Whether there are lines in it that are not, which git passes over.
    pub(super) has_other_lines: bool,
}

/// Writes a patch.
pub(super) fn text(
    before: &dyn Tree,
    after: &dyn Tree,
    all: &[&Changed],
    binary: Binary,
) -> Result<Written, CliError> {
    let mut patch = Patch { before, after, binary, room: MOST_BYTES, written: Written::default() };
    all.iter().try_for_each(|changed| patch.entry(changed))?;
    Ok(patch.written)
}

struct Patch<'a> {
    before: &'a dyn Tree,
    after: &'a dyn Tree,
    binary: Binary,
    /// Bytes of files without lines that it can still hold.
    room: u64,
    written: Written,
}

impl Patch<'_> {
    fn entry(&mut self, changed: &Changed) -> Result<(), CliError> {
        match (changed.before, changed.after) {
            // Git knows no directories.
            (Some(Kind::Directory), Some(Kind::Directory)) => {
                let mode = |tree| git_entry::mode(tree, &changed.path, Kind::Directory);
                let old = mode(self.before)?;
                let new = mode(self.after)?;
                self.privacy(&changed.path, Some(old), Some(new));
            }
            (Some(Kind::Directory), _) => {
                self.other_line(&format!("deleted empty directory {}", changed.path))
            }
            (_, Some(Kind::Directory)) => {
                self.other_line(&format!("new empty directory {}", changed.path))
            }
            (Some(before), Some(after)) if before != after => return self.exchange(changed),
            (before, after) => {
                return self.file(&changed.path, before, after, changed.hunks.as_deref());
            }
        }
        Ok(())
    }

    fn line(&mut self, text: &str) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.written.text, "{text}");
    }

    /// Writes a line that is none of git's own, which it passes over.
    fn other_line(&mut self, text: &str) {
        self.written.has_other_lines = true;
        self.line(text);
    }

    /// Writes a file that became a link, or the other way round, as one that went and one that came.
    fn exchange(&mut self, changed: &Changed) -> Result<(), CliError> {
        let nothing = MemoryBackend::new();
        let options =
            DiffOptions::default().hunks(true).scope(Scope::paths([changed.path.clone()]));
        let Diff { deleted, .. } = diff(self.before, &nothing, &options)?;
        let Diff { added, .. } = diff(&nothing, self.after, &options)?;
        deleted
            .iter()
            .chain(&added)
            .try_for_each(|it| self.file(&it.path, it.before, it.after, it.hunks.as_deref()))
    }

    fn file(
        &mut self,
        path: &TreePath,
        before: Option<Kind>,
        after: Option<Kind>,
        hunks: Option<&[Hunk]>,
    ) -> Result<(), CliError> {
        let old = before.map(|kind| git_entry::mode(self.before, path, kind)).transpose()?;
        let new = after.map(|kind| git_entry::mode(self.after, path, kind)).transpose()?;
        self.privacy(path, old, new);
        let (modes, body) = (modes(old, new), self.body(path, before, after, hunks)?);
        if modes.is_empty() && body.as_ref().is_some_and(String::is_empty) {
            return Ok(());
        }
        let (a, b) = (quoted("a/", path), quoted("b/", path));
        self.written.is_for_git = true;
        self.line(&format!("diff --git {a} {b}"));
        self.written.text += &modes;
        let a = if before.is_some() { a } else { NOTHING.to_owned() };
        let b = if after.is_some() { b } else { NOTHING.to_owned() };
        match body {
            Some(body) if body.is_empty() => {}
            Some(body) => {
                self.written.text += &format!("--- {}\n+++ {}\n{body}", ended(&a), ended(&b));
            }
            None => return self.bytes(path, [before, after], [&a, &b]),
        }
        Ok(())
    }

    /// Says what git has no mode for.
    fn privacy(&mut self, path: &TreePath, old: Option<Mode>, new: Option<Mode>) {
        let Some(new) = new else { return };
        match (old.is_some_and(|old| old.private), new.private) {
            (false, true) => self.other_line(&format!("newly private {path}")),
            (true, false) => self.other_line(&format!("no longer private {path}")),
            _ => {}
        }
    }

    /// Writes a change that has no lines.
    ///
    /// Git does not apply a patch of which a line says that files differ, and not how: what is left out is
    /// not passed over.
    fn bytes(
        &mut self,
        path: &TreePath,
        [before, after]: [Option<Kind>; 2],
        [a, b]: [&str; 2],
    ) -> Result<(), CliError> {
        let old = before.map(|kind| git_entry::size(self.before, path, kind)).transpose()?;
        let new = after.map(|kind| git_entry::size(self.after, path, kind)).transpose()?;
        let room = self.room.checked_sub(old.unwrap_or(0).saturating_add(new.unwrap_or(0)));
        match room.filter(|_| self.binary == Binary::Whole) {
            Some(room) => {
                self.room = room;
                let old =
                    before.map(|kind| git_entry::content(self.before, path, kind)).transpose()?;
                let new =
                    after.map(|kind| git_entry::content(self.after, path, kind)).transpose()?;
                let text = binary::text(old.as_deref(), new.as_deref());
                self.written.text += &text.map_err(|error| CliError::other(&error))?;
            }
            None => {
                self.line(&format!("Binary files {} and {} differ", sized(a, old), sized(b, new)));
                if self.binary == Binary::Whole {
                    self.written.left_out.push(path.clone());
                }
            }
        }
        Ok(())
    }

    /// Returns the lines; `None` where they are not to be told.
    fn body(
        &self,
        path: &TreePath,
        before: Option<Kind>,
        after: Option<Kind>,
        hunks: Option<&[Hunk]>,
    ) -> Result<Option<String>, CliError> {
        if let Some(hunks) = hunks {
            return Ok(Some(hunks.iter().map(ToString::to_string).collect()));
        }
        if before.or(after) != Some(Kind::Symlink) {
            return Ok(same_content(self.before, self.after, path, before.zip(after)));
        }
        let target = |tree: &dyn Tree, kind: Option<Kind>| {
            kind.map(|_| tree.read_link(path)).transpose().map(|it| it.map(String::from_utf8))
        };
        let (old, new) = (target(self.before, before)?, target(self.after, after)?);
        let (Ok(old), Ok(new)) = (old.transpose(), new.transpose()) else { return Ok(None) };
        let is_line = [&old, &new].into_iter().flatten().all(|target| !target.contains('\n'));
        Ok(is_line.then(|| link_hunk(old.as_deref(), new.as_deref())))
    }
}

/// Writes what modes there were and are, where that is to be said.
fn modes(old: Option<Mode>, new: Option<Mode>) -> String {
    match (old.map(|it| it.text), new.map(|it| it.text)) {
        (None, Some(new)) => format!("new file mode {new}\n"),
        (Some(old), None) => format!("deleted file mode {old}\n"),
        (Some(old), Some(new)) if old != new => format!("old mode {old}\nnew mode {new}\n"),
        _ => String::new(),
    }
}

/// Returns a name with the size of what has it.
fn sized(name: &str, size: Option<u64>) -> String {
    size.map_or(name.to_owned(), |size| format!("{name} ({})", format::size(size)))
}

/// Says where a name with spaces ends, as git does: programs that read patches take a space for the end.
fn ended(name: &str) -> String {
    if name.contains(' ') { format!("{name}\t") } else { name.to_owned() }
}

/// Returns nothing to tell of a file that is no text where only its mode changed.
fn same_content(
    before: &dyn Tree,
    after: &dyn Tree,
    path: &TreePath,
    both: Option<(Kind, Kind)>,
) -> Option<String> {
    both?;
    let hash = |tree| wink_fs::ops::content_hash(tree, path).ok();
    hash(before).zip(hash(after)).is_some_and(|(a, b)| a == b).then(String::new)
}

/// Writes the targets of a link as git does: a file of one line without an end.
fn link_hunk(old: Option<&str>, new: Option<&str>) -> String {
    let range = |target: Option<&str>| target.map_or("0,0", |_| "1");
    let line = |sign: char, target: Option<&str>| {
        target.map_or(String::new(), |target| format!("{sign}{target}{NO_NEWLINE}"))
    };
    format!("@@ -{} +{} @@\n{}{}", range(old), range(new), line('-', old), line('+', new))
}

/// Writes a path as git does: in quotes, with escapes, where its name is not plain.
fn quoted(prefix: &str, path: &TreePath) -> String {
    let bytes = path.as_bytes();
    if !path.is_escaped() && !bytes.iter().any(|byte| matches!(byte, b'"' | b'\\')) {
        return format!("{prefix}{path}");
    }
    let mut text = format!("\"{prefix}");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b'\n' => text += "\\n",
            b'\t' => text += "\\t",
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_plain_are_quoted_as_git_does() {
        let quoted = |name: &[u8]| quoted("a/", &TreePath::from_disk(name).unwrap());
        assert_eq!(quoted(b"src/x y.rs"), "a/src/x y.rs");
        assert_eq!(quoted("größe".as_bytes()), "a/größe");
        assert_eq!(quoted(b"a\nb\"c\\d\xe9\x07"), r#""a/a\nb\"c\\d\351\007""#);
    }
}
