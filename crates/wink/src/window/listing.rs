//! The paths of a state in the order in which a tree shows them, so that a page can ask for the rows that it sees.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Serialize;
use wink_fs::{Kind, Result, Tree, TreePath};

/// How many listings of a run are kept.
const KEPT: usize = 4;

/// All entries of a state, each directory before what is in it.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    entries: Vec<Listed>,
    files: usize,
}

#[derive(Debug)]
struct Listed {
    path: String,
    /// The path as a filter compares it, where that differs.
    lower: Option<String>,
    depth: u16,
    kind: Kind,
}

/// One row of the tree.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Row {
    pub(crate) path: String,
    /// How many directories it is in.
    pub(crate) depth: u16,
    /// `file`, `directory`, `symlink` or `other`.
    pub(crate) kind: String,
    /// The bytes of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
}

impl Listing {
    /// Lists a tree.
    pub(crate) fn of(tree: &dyn Tree) -> Result<Self> {
        let mut listing = Self::default();
        // Directories to list, the next one last; a tree may be deeper than a stack.
        let mut waiting = vec![(TreePath::root(), Kind::Directory)];
        while let Some((path, kind)) = waiting.pop() {
            if !path.is_root() {
                let depth = u16::try_from(path.depth() - 1).unwrap_or(u16::MAX);
                let path = path.to_string();
                let lower = Some(path.to_lowercase()).filter(|lower| *lower != path);
                listing.entries.push(Listed { path, lower, depth, kind });
                listing.files += usize::from(kind != Kind::Directory);
            }
            if kind == Kind::Directory {
                let entries = tree.list(&path)?;
                for entry in entries.into_iter().rev() {
                    waiting.push((path.join(&entry.name)?, entry.kind));
                }
            }
        }
        Ok(listing)
    }

    /// Returns how many files and links there are.
    pub(crate) fn files(&self) -> u64 {
        self.files as u64
    }

    /// Returns the paths of all files and links.
    pub(crate) fn file_paths(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|it| it.kind != Kind::Directory).map(|it| it.path.as_str())
    }

    /// Returns some rows and how many there are, of all entries or of the files whose paths have all words in them.
    pub(crate) fn rows(
        &self,
        tree: &dyn Tree,
        filter: &str,
        offset: usize,
        limit: usize,
    ) -> (usize, Vec<Row>) {
        let row = |it: &Listed| Row {
            path: it.path.clone(),
            depth: it.depth,
            kind: it.kind.to_string(),
            size: size(tree, it),
        };
        let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            let rows = self.entries.iter().skip(offset).take(limit).map(row).collect();
            return (self.entries.len(), rows);
        }
        let is_wanted = |it: &&Listed| {
            let path = it.lower.as_ref().unwrap_or(&it.path);
            let has = |word: &String| path.contains(word.as_str());
            it.kind != Kind::Directory && words.iter().all(has)
        };
        let mut total = 0;
        let mut rows = Vec::new();
        for entry in self.entries.iter().filter(is_wanted) {
            if (offset..offset.saturating_add(limit)).contains(&total) {
                rows.push(row(entry));
            }
            total += 1;
        }
        (total, rows)
    }
}

fn size(tree: &dyn Tree, entry: &Listed) -> Option<u64> {
    if entry.kind != Kind::File {
        return None;
    }
    tree.stat(&TreePath::parse(&entry.path).ok()?).ok().map(|stat| stat.size_bytes)
}

/// The listings that were asked for last.
#[derive(Debug, Default)]
pub(crate) struct Listings(VecDeque<(String, Arc<Listing>)>);

impl Listings {
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Listing>> {
        self.0.iter().find(|(it, _)| it == key).map(|(_, listing)| listing.clone())
    }

    pub(crate) fn add(&mut self, key: &str, listing: &Arc<Listing>) {
        self.0.truncate(KEPT - 1);
        self.0.push_front((key.to_owned(), listing.clone()));
    }
}

#[cfg(test)]
mod tests {
    use wink_fs::Workspace;

    use super::*;

    #[test]
    fn rows_come_in_the_order_of_a_tree_and_only_those_that_were_asked_for() {
        let files = Workspace::memory();
        for path in ["src/b.rs", "src/auth/Token.rs", "Cargo.toml", "tests/größe.txt"] {
            files.write(path, "12345").expect("written");
        }
        let tree = files.tree();
        let listing = Listing::of(&*tree).expect("listed");
        let shown = |filter: &str, offset, limit| {
            let (total, rows) = listing.rows(&*tree, filter, offset, limit);
            let rows =
                rows.into_iter().map(|it| format!("{}{}", "  ".repeat(it.depth.into()), it.path));
            (total, rows.collect::<Vec<_>>())
        };
        assert_eq!(
            shown("", 0, 99).1,
            [
                "Cargo.toml",
                "src",
                "  src/auth",
                "    src/auth/Token.rs",
                "  src/b.rs",
                "tests",
                "  tests/größe.txt"
            ]
        );
        assert_eq!(shown("", 1, 2), (7, vec!["src".to_owned(), "  src/auth".to_owned()]));
        assert_eq!(shown("RS token", 0, 99), (1, vec!["    src/auth/Token.rs".to_owned()]));
        assert_eq!(shown("GRÖSSE", 0, 99).0, 0);
        assert_eq!(shown("GRÖßE", 0, 99).0, 1);
        assert_eq!(listing.files(), 4);
    }
}
