//! Differences as git writes them, so that `git apply` reads them.

use std::fmt::Write as _;

use wink_fs::{Changed, Diff, DiffOptions, Hunk, Kind, MemoryBackend, Scope, Tree, TreePath, diff};

use crate::failure::Failure;

const NOTHING: &str = "/dev/null";
const NO_NEWLINE: &str = "\n\\ No newline at end of file\n";

/// Writes a patch.
pub(super) fn text(
    before: &dyn Tree,
    after: &dyn Tree,
    all: &[&Changed],
) -> Result<String, Failure> {
    let mut patch = Patch { before, after, text: String::new() };
    all.iter().try_for_each(|changed| patch.entry(changed))?;
    Ok(patch.text)
}

struct Patch<'a> {
    before: &'a dyn Tree,
    after: &'a dyn Tree,
    text: String,
}

impl Patch<'_> {
    fn entry(&mut self, changed: &Changed) -> Result<(), Failure> {
        match (changed.before, changed.after) {
            // Git knows no directories; it passes over a line that is none of its own.
            (Some(Kind::Directory), _) => {
                self.line(&format!("deleted empty directory {}", changed.path))
            }
            (_, Some(Kind::Directory)) => {
                self.line(&format!("new empty directory {}", changed.path))
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
        let _ = writeln!(self.text, "{text}");
    }

    /// Writes a file that became a link, or the other way round, as one that went and one that came.
    fn exchange(&mut self, changed: &Changed) -> Result<(), Failure> {
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
    ) -> Result<(), Failure> {
        let (a, b) = (quoted("a/", path), quoted("b/", path));
        self.line(&format!("diff --git {a} {b}"));
        let old = before.map(|kind| mode(self.before, path, kind)).transpose()?;
        let new = after.map(|kind| mode(self.after, path, kind)).transpose()?;
        match (old, new) {
            (None, Some(new)) => self.line(&format!("new file mode {new}")),
            (Some(old), None) => self.line(&format!("deleted file mode {old}")),
            (Some(old), Some(new)) if old != new => {
                self.line(&format!("old mode {old}\nnew mode {new}"));
            }
            _ => {}
        }
        let a = if before.is_some() { a } else { NOTHING.to_owned() };
        let b = if after.is_some() { b } else { NOTHING.to_owned() };
        match self.body(path, before, after, hunks)? {
            Some(body) if body.is_empty() => {}
            Some(body) => self.text += &format!("--- {}\n+++ {}\n{body}", ended(&a), ended(&b)),
            None => self.line(&format!("Binary files {a} and {b} differ")),
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
    ) -> Result<Option<String>, Failure> {
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
        match (old.transpose(), new.transpose()) {
            (Ok(old), Ok(new)) => Ok(Some(link_hunk(old.as_deref(), new.as_deref()))),
            _ => Ok(None),
        }
    }
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

/// Returns a mode as git writes it; a private file's says that nobody else has access.
fn mode(tree: &dyn Tree, path: &TreePath, kind: Kind) -> Result<&'static str, Failure> {
    if kind == Kind::Symlink {
        return Ok("120000");
    }
    let mode = tree.stat(path)?.mode;
    Ok(match (mode.executable, mode.private) {
        (false, false) => "100644",
        (true, false) => "100755",
        (false, true) => "100600",
        (true, true) => "100700",
    })
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
