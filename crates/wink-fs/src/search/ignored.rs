//! Ignore files, if asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::path::TreePath;
use crate::tree::{Entry, Kind, Tree};

/// The ignore files; later ones override earlier ones.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// The rules of a directory and of those above it.
#[derive(Clone, Default)]
pub(super) struct Rules(Option<Arc<Level>>);

struct Level {
    rules: Gitignore,
    above: Rules,
}

impl Rules {
    /// Collects the rules of all directories above one, from the root down.
    pub(super) fn above(tree: &dyn Tree, directory: &TreePath) -> Self {
        let mut rules = Self::default();
        let root = (!directory.is_root()).then(TreePath::root);
        let up = directory.ancestors();
        for above in root.into_iter().chain(up) {
            if let Ok(entries) = tree.list(&above) {
                rules = rules.enter(tree, &above, &entries);
            }
        }
        rules
    }

    /// Adds the rules of a directory.
    pub(super) fn enter(&self, tree: &dyn Tree, directory: &TreePath, entries: &[Entry]) -> Self {
        let mut builder = GitignoreBuilder::new(absolute(directory));
        for name in NAMES {
            let found = entries
                .iter()
                .find(|e| e.kind == Kind::File && e.name.as_bytes() == name.as_bytes());
            if let Some(text) = found.and_then(|entry| read(tree, directory, entry)) {
                for line in text.trim_start_matches('\u{feff}').lines() {
                    // An invalid line ignores nothing, as in git.
                    let _ = builder.add_line(None, &without_alternatives(line));
                }
            }
        }
        match builder.build() {
            Ok(rules) if !rules.is_empty() => {
                Self(Some(Arc::new(Level { rules, above: self.clone() })))
            }
            _ => self.clone(),
        }
    }

    /// Returns whether an entry is hidden; the nearest rule decides.
    pub(super) fn hide(&self, path: &TreePath, kind: Kind) -> bool {
        let absolute = absolute(path);
        let mut level = self.0.as_deref();
        while let Some(Level { rules, above }) = level {
            match rules.matched(&absolute, kind == Kind::Directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = above.0.as_deref(),
            }
        }
        false
    }
}

fn read(tree: &dyn Tree, directory: &TreePath, entry: &Entry) -> Option<String> {
    let bytes = tree.open(&directory.join(&entry.name).ok()?).ok()?.read_all().ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Escapes braces, which are literal in git's patterns and alternatives in the library's.
fn without_alternatives(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut escaped = false;
    let mut in_set = false;
    for character in line.chars() {
        if matches!(character, '{' | '}') && !escaped && !in_set {
            text.push('\\');
        }
        match character {
            '[' if !escaped => in_set = true,
            ']' if !escaped => in_set = false,
            _ => {}
        }
        escaped = character == '\\' && !escaped;
        text.push(character);
    }
    text
}

/// Returns a path as text, below a root that stands for the workspace's.
fn absolute(path: &TreePath) -> PathBuf {
    if path.is_root() { PathBuf::from("/") } else { Path::new("/").join(path.to_string()) }
}
