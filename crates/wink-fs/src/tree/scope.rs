//! Which part of the files a capture or a replacement is about.

use std::fmt;

use crate::error::Result;
use crate::limits::Limits;
use crate::path::TreePath;
use crate::search::PathPattern;

/// Names what is neither captured nor touched: patterns, each for an entry with all that is below it.
///
/// A pattern is of the dialect of [`search`](crate::search); one without `/`, but for one at its end,
/// means entries of that name at any depth, and `/name` only that of the root.
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

    /// Returns the pattern that means one entry, with all that is below it, whatever is in its name.
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

    /// Tells whether nothing is excluded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a path, or a directory above it, is excluded.
    pub fn matches(&self, path: &TreePath) -> bool {
        !self.is_empty()
            && (self.matches_entry(path)
                || path.ancestors().any(|above| self.matches_entry(&above)))
    }

    /// Tells whether an entry is excluded whose parents are known not to be.
    pub(crate) fn matches_entry(&self, path: &TreePath) -> bool {
        self.0.iter().any(|(_, pattern)| pattern.matches(path))
    }
}

impl fmt::Debug for Exclusions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.patterns()).finish()
    }
}

/// Says which paths are meant: everything but what is excluded, or only some.
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
    /// Means all files.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Means some entries, each with all that is below it; none at all means everything.
    pub fn paths(paths: impl IntoIterator<Item = TreePath>) -> Self {
        let mut paths: Vec<TreePath> = paths.into_iter().collect();
        paths.sort();
        // A path comes right before those below it.
        paths.dedup_by(|below, above| below.starts_with(above));
        Self { paths, excluded: Exclusions::default() }
    }

    /// Leaves out what is excluded.
    #[must_use]
    pub fn excluding(mut self, excluded: Exclusions) -> Self {
        self.excluded = excluded;
        self
    }

    /// Tells whether nothing at all is left out.
    pub fn is_everything(&self) -> bool {
        self.starts().is_empty() && self.excluded.is_empty()
    }

    /// Returns what is left out.
    pub fn excluded(&self) -> &Exclusions {
        &self.excluded
    }

    /// Tells whether a path is meant, excluded or not, or lies above one that is.
    pub(crate) fn leads_to(&self, path: &TreePath) -> bool {
        let leads = |start: &TreePath| path.starts_with(start) || start.starts_with(path);
        self.starts().is_empty() || self.starts().iter().any(leads)
    }

    /// Returns the entries that are meant; none where all files are.
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
