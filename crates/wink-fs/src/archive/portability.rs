//! Names that other systems do not support.

use std::collections::HashMap;
use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

use crate::error::Result;
use crate::path::{TreePath, escape};
use crate::tree::{Entry, Kind, Tree};

/// Why another system may not support a name.
///
/// ```
/// use wink_fs::archive::PortabilityProblem;
///
/// assert_eq!(PortabilityProblem::ReservedName.to_string(), "a name that Windows keeps for a device");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PortabilityProblem {
    /// It is not plain text, so other programs see its escaped form.
    Escaped,
    /// It has a backslash or one of `< > : " | ? *`, which Windows does not allow.
    ReservedCharacter,
    /// It is `CON`, `NUL`, `COM1` or the like, with any extension.
    ReservedName,
    /// It ends with a dot or a space, which Windows drops.
    TrailingDotOrSpace,
    /// Another name in the directory differs only in case or Unicode normalisation.
    SameWhenFolded,
}

impl fmt::Display for PortabilityProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Escaped => "bytes that are not plain text",
            Self::ReservedCharacter => "a character that Windows does not allow in names",
            Self::ReservedName => "a name that Windows keeps for a device",
            Self::TrailingDotOrSpace => "a dot or space at the end, which Windows drops",
            Self::SameWhenFolded => "only case or normalisation tells it from another name",
        })
    }
}

/// An entry whose name another system may not support.
///
/// ```
/// use wink_fs::archive::{self, PortabilityProblem};
///
/// let files = wink_fs::Workspace::memory();
/// files.write("src/aux.rs", "")?;
/// let found = &archive::portability(&*files.tree())?[0];
/// assert_eq!(found.path.to_string(), "src/aux.rs");
/// assert_eq!(found.problem, PortabilityProblem::ReservedName);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Portability {
    /// The entry.
    pub path: TreePath,
    /// The problem with its name.
    pub problem: PortabilityProblem,
}

/// Returns the entries of a tree that other systems may not support, sorted by path.
pub fn portability(tree: &dyn Tree) -> Result<Vec<Portability>> {
    let mut found = Vec::new();
    check_below(tree, &TreePath::root(), &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn check_below(tree: &dyn Tree, path: &TreePath, found: &mut Vec<Portability>) -> Result<()> {
    let entries = tree.list(path)?;
    check_directory(path, &entries, found)?;
    for entry in entries.iter().filter(|entry| entry.kind == Kind::Directory) {
        check_below(tree, &path.join(&entry.name)?, found)?;
    }
    Ok(())
}

/// Adds the problems of the names in one directory.
pub(super) fn check_directory(
    directory: &TreePath,
    entries: &[Entry],
    found: &mut Vec<Portability>,
) -> Result<()> {
    let folding = same_when_folded(entries);
    for (entry, folds) in entries.iter().zip(folding) {
        for problem in problems(entry.name.as_bytes(), folds) {
            found.push(Portability { path: directory.join(&entry.name)?, problem });
        }
    }
    Ok(())
}

fn problems(name: &[u8], folds: bool) -> impl Iterator<Item = PortabilityProblem> {
    use PortabilityProblem as P;
    let reserved = |b: &u8| matches!(b, b'\\' | b'<' | b'>' | b':' | b'"' | b'|' | b'?' | b'*');
    [
        (escape(name).as_bytes() != name, P::Escaped),
        (name.iter().any(reserved), P::ReservedCharacter),
        (is_device(name), P::ReservedName),
        (matches!(name, [.., b'.' | b' ']), P::TrailingDotOrSpace),
        (folds, P::SameWhenFolded),
    ]
    .into_iter()
    .filter_map(|(found, problem)| found.then_some(problem))
}

fn is_device(name: &[u8]) -> bool {
    let stem = name.split(|b| *b == b'.').next().unwrap_or_default().trim_ascii_end();
    let is_port = |stem: &[u8]| match stem {
        [letters @ .., b'0'..=b'9'] => letters == b"COM" || letters == b"LPT",
        _ => false,
    };
    let stem = stem.to_ascii_uppercase();
    [&b"CON"[..], b"PRN", b"AUX", b"NUL", b"CONIN$", b"CONOUT$"].contains(&&*stem) || is_port(&stem)
}

/// Tells for each entry whether another one has the same name except for case and normalisation.
fn same_when_folded(entries: &[Entry]) -> Vec<bool> {
    let keys: Vec<_> = entries.iter().map(|entry| fold(entry.name.as_bytes())).collect();
    let mut counts: HashMap<&[u8], usize> = HashMap::with_capacity(keys.len());
    for key in &keys {
        *counts.entry(key).or_default() += 1;
    }
    keys.iter().map(|key| counts[key.as_slice()] > 1).collect()
}

/// Returns a name without case and normalisation.
fn fold(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) if !text.is_ascii() => {
            text.nfd().flat_map(char::to_lowercase).nfc().collect::<String>().into_bytes()
        }
        _ => name.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Name;

    fn of(names: &[&[u8]]) -> Vec<(String, PortabilityProblem)> {
        let entry = |name: &&[u8]| Entry::new(Name::from_disk(name).unwrap(), Kind::File);
        let entries: Vec<_> = names.iter().map(entry).collect();
        let mut found = Vec::new();
        check_directory(&TreePath::root(), &entries, &mut found).unwrap();
        found.into_iter().map(|f| (f.path.to_string(), f.problem)).collect()
    }

    #[test]
    fn every_problem_is_found() {
        use PortabilityProblem as P;
        let one =
            |name: &[u8]| of(&[name]).into_iter().map(|(_, problem)| problem).collect::<Vec<_>>();
        assert_eq!(one(b"main.rs"), []);
        assert_eq!(one(b"console.txt"), []);
        assert_eq!(one(br"a\b"), [P::ReservedCharacter]);
        assert_eq!(one(b"C:"), [P::ReservedCharacter]);
        assert_eq!(one(b"con.txt"), [P::ReservedName]);
        assert_eq!(one(b"x."), [P::TrailingDotOrSpace]);
        assert_eq!(one(b"new\nline"), [P::Escaped]);
        assert_eq!(one(b"\xff: "), [P::Escaped, P::ReservedCharacter, P::TrailingDotOrSpace]);
    }

    #[test]
    fn names_that_fold_to_one_are_found() {
        let folded = |names: &[&str]| of(&names.iter().map(|n| n.as_bytes()).collect::<Vec<_>>());
        assert_eq!(folded(&["README", "ReadMe", "other"]).len(), 2);
        assert_eq!(folded(&["caf\u{e9}", "cafe\u{301}"]).len(), 2);
        assert_eq!(folded(&["STRASSE\u{c4}", "strasse\u{e4}"]).len(), 2);
        assert_eq!(folded(&["a", "b"]).len(), 0);
    }
}
