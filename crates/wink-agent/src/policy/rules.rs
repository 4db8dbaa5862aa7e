//! Which paths may be seen and changed.

use wink_fs::search::PathPattern;
use wink_fs::{Error, ErrorKind, Exclusions, Kind, Limits, Operation, Result, TreePath};

/// Allows and denies paths by patterns of the dialect of [`wink_fs::search`].
///
/// A denied entry and everything below it is hidden from tools: listings and searches omit it, and naming it is
/// PermissionDenied. If there are allowed patterns, all other files are denied; directories stay visible, because
/// something in them may be allowed. Denied patterns win over allowed ones.
///
/// ```
/// use wink_agent::PathRules;
/// use wink_fs::{Kind, TreePath};
///
/// let rules = PathRules::new().allow(["src/**"])?.deny(["*.key", "/src/vendor"])?;
/// let permits = |path: &str| rules.permits(&TreePath::parse(path).unwrap(), Kind::File);
/// assert!(permits("src/main.rs"));
/// assert!(!permits("README.md") && !permits("src/a.key") && !permits("src/vendor/lib.rs"));
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PathRules {
    allowed: Vec<PathPattern>,
    denied: Exclusions,
}

impl PathRules {
    /// Creates rules that permit everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows the files that match, and no others but those allowed already.
    pub fn allow<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>) -> Result<Self> {
        for pattern in patterns {
            self.allowed.push(PathPattern::parse(pattern, &Limits::default())?);
        }
        Ok(self)
    }

    /// Denies the entries that match, each with all that is below it.
    pub fn deny<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>) -> Result<Self> {
        let all = self.denied.patterns().map(str::to_owned);
        let all: Vec<String> = all.chain(patterns.into_iter().map(str::to_owned)).collect();
        self.denied = Exclusions::parse(all)?;
        Ok(self)
    }

    /// Returns whether everything is permitted.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.denied.is_empty()
    }

    /// Returns whether an entry may be seen and changed.
    pub fn permits(&self, path: &TreePath, kind: Kind) -> bool {
        let is_allowed = || self.allowed.iter().any(|pattern| pattern.matches(path));
        !self.denied.matches(path)
            && (self.allowed.is_empty() || kind == Kind::Directory || is_allowed())
    }

    pub(crate) fn check(&self, operation: Operation, path: &TreePath, kind: Kind) -> Result<()> {
        if self.permits(path, kind) {
            Ok(())
        } else {
            Err(Error::new(operation, ErrorKind::PermissionDenied)
                .with_path(path)
                .with_detail("the rules of this session deny this path; work on another one"))
        }
    }
}
