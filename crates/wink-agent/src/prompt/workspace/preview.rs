//! What is mounted, as a model is shown it.

use std::fmt::Write as _;

use wink_fs::{Kind, MountReport, Tree, TreePath};

use crate::prompt::code::inline_code;
use crate::util::counted;

/// How many mounts are shown, how many files of each, and how many characters of a path.
const MOST_MOUNTS: usize = 20;
const MOST_FILES: usize = 20;
const MOST_CHARACTERS: usize = 200;

/// How many directories are looked into for the files of a mount.
const MOST_DIRECTORIES: usize = 200;

/// The beginning of what a mount brought in.
#[derive(Clone, Debug)]
pub(crate) struct Preview {
    pub(crate) report: MountReport,
    files: Vec<TreePath>,
    is_cut: bool,
}

impl Preview {
    /// Looks at what a mount brought in, in the order of the paths.
    pub(crate) fn of(report: MountReport, tree: &dyn Tree) -> Self {
        let mut look = Look::default();
        look.at(tree, &report.mount_path);
        Self { report, files: look.files, is_cut: look.is_cut }
    }

    fn write(&self, text: &mut String) {
        let MountReport { mount_path, files, links, bytes, .. } = &self.report;
        let _ = write!(text, "\n- {}: {}", code(mount_path), counted(*files, "file"));
        if *links > 0 {
            let _ = write!(text, ", {}", counted(*links, "link"));
        }
        let _ = write!(text, ", {}", counted(*bytes, "byte"));
        for file in self.files.iter().filter(|file| *file != mount_path) {
            let _ = write!(text, "\n  - {}", code(file));
        }
        if self.is_cut {
            text.push_str("\n  - and more");
        }
    }
}

/// Lists what is mounted; the same mounts give the same text.
pub(crate) fn list(previews: &[Preview]) -> String {
    let mut text = "Mounted from the host when this workspace was made:\n".to_owned();
    previews.iter().take(MOST_MOUNTS).for_each(|preview| preview.write(&mut text));
    if let Some(more) = previews.len().checked_sub(MOST_MOUNTS).filter(|more| *more > 0) {
        let _ = write!(text, "\n- and {}", counted(more as u64, "more mount"));
    }
    text
}

fn code(path: &TreePath) -> String {
    let path = path.to_string();
    let shown: String = path.chars().take(MOST_CHARACTERS).collect();
    if shown.len() < path.len() { inline_code(&format!("{shown}…")) } else { inline_code(&shown) }
}

#[derive(Default)]
struct Look {
    files: Vec<TreePath>,
    directories: usize,
    is_cut: bool,
}

impl Look {
    fn at(&mut self, tree: &dyn Tree, path: &TreePath) {
        match tree.stat(path) {
            Ok(stat) if stat.kind == Kind::Directory => self.into(tree, path),
            Ok(_) => self.add(path.clone()),
            // Another mount took its place.
            Err(_) => {}
        }
    }

    fn into(&mut self, tree: &dyn Tree, directory: &TreePath) {
        self.directories += 1;
        self.is_cut |= self.directories > MOST_DIRECTORIES;
        for entry in tree.list(directory).unwrap_or_default() {
            if self.is_cut {
                return;
            }
            let Ok(path) = directory.join(&entry.name) else { continue };
            match entry.kind {
                Kind::Directory => self.into(tree, &path),
                _ => self.add(path),
            }
        }
    }

    fn add(&mut self, path: TreePath) {
        if self.files.len() < MOST_FILES { self.files.push(path) } else { self.is_cut = true }
    }
}
