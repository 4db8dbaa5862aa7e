//! Scopes and exclusions: which part of the files a call is about.

use std::fmt;

use crate::error::Result;
use crate::limits::Limits;
use crate::path::TreePath;
use crate::search::PathPattern;

/// Patterns of entries that are neither captured nor touched, each with everything below it.
///
/// Patterns are those of [`search`](crate::search). A pattern without `/`, except at its end, means entries of that
/// name at any depth; `/name` means only that of the root.
///
/// ```
/// use wink_fs::{Exclusions, TreePath};
///
/// let excluded = Exclusions::parse(["/.git", "node_modules/"])?;
/// assert!(excluded.matches(&TreePath::parse(".git/config")?));
/// assert!(excluded.matches(&TreePath::parse("web/node_modules")?));
/// assert!(!excluded.matches(&TreePath::parse("vendor/.git")?));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Exclusions(Vec<(String, PathPattern)>);

impl Exclusions {
    /// Parses patterns; one that does not parse is InvalidPattern.
    pub fn parse<T: Into<String>>(patterns: impl IntoIterator<Item = T>) -> Result<Self> {
        let parse = |text: String| {
            let pattern = PathPattern::parse(text.trim_end_matches('/'), &Limits::default())?;
            Ok((text, pattern))
        };
        patterns.into_iter().map(|text| parse(text.into())).collect::<Result<_>>().map(Self)
    }

    /// Adds patterns.
    pub(crate) fn and(&self, patterns: &[String]) -> Result<Self> {
        let known: Vec<&str> = self.patterns().collect();
        let new = patterns.iter().filter(|it| !known.contains(&it.as_str())).cloned();
        Ok(Self(self.0.iter().cloned().chain(Self::parse(new)?.0).collect()))
    }

    /// Returns the pattern of exactly one entry and everything below it, whatever its name.
    ///
    /// ```
    /// use wink_fs::{Exclusions, TreePath};
    ///
    /// assert_eq!(Exclusions::pattern_of(&TreePath::parse("src/a*")?), "/src/a[*]");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn pattern_of(path: &TreePath) -> String {
        let plain = |c: char| match c {
            '*' | '?' | '[' | '{' | '}' => format!("[{c}]"),
            c => c.to_string(),
        };
        format!("/{}", path.to_string().chars().map(plain).collect::<String>())
    }

    /// Returns the patterns as they were given.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(text, _)| &**text)
    }

    /// Returns whether nothing is excluded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a path, or a directory above it, is excluded.
    pub fn matches(&self, path: &TreePath) -> bool {
        !self.is_empty()
            && (self.matches_entry(path)
                || path.ancestors().any(|above| self.matches_entry(&above)))
    }

    /// Returns whether an entry is excluded, given that its parents are not.
    pub(crate) fn matches_entry(&self, path: &TreePath) -> bool {
        self.0.iter().any(|(_, pattern)| pattern.matches(path))
    }
}

impl fmt::Debug for Exclusions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.patterns()).finish()
    }
}

/// Which paths a call is about: all or some, without exclusions.
///
/// ```
/// use wink_fs::{Backend, MemoryBackend, Scope, Tree, TreePath, WriteOptions, ops};
///
/// let mut files = MemoryBackend::new();
/// let (one, two) = (TreePath::parse("one")?, TreePath::parse("two")?);
/// ops::write(&mut files, &one, "old", &WriteOptions::default())?;
/// let before = files.capture(&Default::default())?.tree;
/// ops::write(&mut files, &one, "new", &WriteOptions::default())?;
/// ops::write(&mut files, &two, "new", &WriteOptions::default())?;
///
/// files.replace(&*before, &Scope::paths([one.clone()]))?;
/// assert_eq!(&files.open(&one)?.read_all().unwrap()[..], b"old");
/// assert!(files.open(&two).is_ok());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scope {
    paths: Vec<TreePath>,
    excluded: Exclusions,
}

impl Scope {
    /// Returns the scope of all files.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Returns the scope of some entries and everything below them; an empty list means everything.
    pub fn paths(paths: impl IntoIterator<Item = TreePath>) -> Self {
        let mut paths: Vec<TreePath> = paths.into_iter().collect();
        paths.sort();
        // A path sorts right before those below it.
        paths.dedup_by(|below, above| below.starts_with(above));
        Self { paths, excluded: Exclusions::default() }
    }

    /// Adds exclusions.
    #[must_use]
    pub fn excluding(mut self, excluded: Exclusions) -> Self {
        self.excluded = excluded;
        self
    }

    /// Returns whether the scope has no bounds and no exclusions.
    pub fn is_everything(&self) -> bool {
        self.starts().is_empty() && self.excluded.is_empty()
    }

    /// Returns the exclusions.
    pub fn excluded(&self) -> &Exclusions {
        &self.excluded
    }

    /// Returns whether a path is in scope, ignoring exclusions, or above one that is.
    pub(crate) fn leads_to(&self, path: &TreePath) -> bool {
        let leads = |start: &TreePath| path.starts_with(start) || start.starts_with(path);
        self.starts().is_empty() || self.starts().iter().any(leads)
    }

    /// Returns the entries of the scope; empty for all files.
    pub(crate) fn starts(&self) -> &[TreePath] {
        match &*self.paths {
            [root] if root.is_root() => &[],
            paths => paths,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_another_is_meant_already() {
        let paths = ["b", "a/x", "a", "a-b", "a/y/z"];
        let scope = Scope::paths(paths.map(|path| TreePath::parse(path).unwrap()));
        let starts: Vec<_> = scope.starts().iter().map(ToString::to_string).collect();
        assert_eq!(starts, ["a", "a-b", "b"]);
        assert!(Scope::paths([TreePath::root()]).is_everything());
    }
}
