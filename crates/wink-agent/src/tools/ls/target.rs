//! Where links lead.

use std::fmt;

use wink_fs::{Kind, Name, Result, Tree, TreePath};

use super::walk::{Found, is_about_the_entry};
use crate::policy::PathRules;

/// A link's target, as far as a model may know it.
pub(super) enum Target {
    /// The path of the workspace that it stands for, whether anything is there or not.
    Inside(TreePath),
    /// A relative path that leaves the workspace, or that no path of it can be.
    Outside,
    /// A path of the host.
    Absolute,
    /// A path of the workspace that is not there for the session.
    Denied,
}

impl Target {
    /// Returns where a link leads that is still there.
    pub(super) fn of(tree: &dyn Tree, rules: &PathRules, found: &Found) -> Result<Option<Self>> {
        if found.kind != Kind::Symlink {
            return Ok(None);
        }
        match tree.read_link(&found.path) {
            Err(error) if is_about_the_entry(&error) => Ok(None),
            target => Ok(Some(Self::from(&found.path, &target?).by_the_rules(tree, rules))),
        }
    }

    /// Keeps back a path that is denied; what is not there is judged as a file.
    fn by_the_rules(self, tree: &dyn Tree, rules: &PathRules) -> Self {
        let is_denied = |path: &TreePath| {
            let kind = tree.stat(path).map_or(Kind::File, |stat| stat.kind);
            !rules.permits(path, kind)
        };
        match self {
            Self::Inside(path) if !rules.is_empty() && is_denied(&path) => Self::Denied,
            target => target,
        }
    }

    /// Goes from the directory of a link where the target says, without looking at any file.
    fn from(link: &TreePath, target: &[u8]) -> Self {
        if target.starts_with(b"/") {
            return Self::Absolute;
        }
        let step = |path: TreePath, segment: &[u8]| match segment {
            b"" | b"." => Some(path),
            b".." => path.parent(),
            name => path.join(&Name::from_disk(name).ok()?).ok(),
        };
        let mut segments = target.split(|byte| *byte == b'/');
        let path = link.parent().and_then(|from| segments.try_fold(from, step));
        path.map_or(Self::Outside, Self::Inside)
    }

    /// Returns the path, if it is in the workspace.
    pub(super) fn path(&self) -> Option<String> {
        match self {
            Self::Inside(path) => Some(path.to_string()),
            Self::Outside | Self::Absolute | Self::Denied => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inside(path) => write!(f, " -> {path}"),
            Self::Outside => f.write_str(" -> (outside the workspace)"),
            Self::Absolute => f.write_str(" -> (an absolute path, which is not shown)"),
            Self::Denied => f.write_str(" -> (denied by the rules of this session)"),
        }
    }
}
