//! Dumps a whole tree as text.

use crate::error::{Error, Operation, Result};
use crate::path::TreePath;
use crate::tree::{FileMode, Kind, Tree};

/// Larger content is shown as its hash.
const SHOWN_BYTES: u64 = 200;

/// Returns one line for each entry below the root: path, kind, mode, and content or target.
///
/// Two trees are equal if and only if their lines are; times are omitted.
///
/// ```
/// use wink_fs::{FileMode, Workspace, testkit};
///
/// let files = Workspace::memory();
/// files.write("src/run.sh", "true\n")?;
/// files.set_mode("src/run.sh", FileMode::default().executable(true))?;
/// files.symlink("link", b"/etc")?;
/// let lines = testkit::dump(&*files.tree())?;
/// assert_eq!(lines, [r#"link -> "/etc""#, "src/", r#"src/run.sh executable "true\n""#]);
/// # Ok::<(), wink_fs::Error>(())
/// ```
pub fn dump(tree: &dyn Tree) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    dump_below(tree, &TreePath::root(), &mut lines)?;
    Ok(lines)
}

fn dump_below(tree: &dyn Tree, directory: &TreePath, lines: &mut Vec<String>) -> Result<()> {
    for entry in tree.list(directory)? {
        let path = directory.join(&entry.name)?;
        lines.push(line(tree, &path, entry.kind)?);
        if entry.kind == Kind::Directory {
            dump_below(tree, &path, lines)?;
        }
    }
    Ok(())
}

fn line(tree: &dyn Tree, path: &TreePath, kind: Kind) -> Result<String> {
    Ok(match kind {
        Kind::Directory => format!("{path}/{}", mode_text(tree.stat(path)?.mode)),
        Kind::Symlink => format!("{path} -> \"{}\"", tree.read_link(path)?.escape_ascii()),
        Kind::File => {
            let mode = tree.stat(path)?.mode;
            format!("{path}{} {}", mode_text(mode), content_text(tree, path)?)
        }
        Kind::Other => format!("{path} (special)"),
    })
}

fn mode_text(mode: FileMode) -> &'static str {
    match (mode.executable, mode.private) {
        (false, false) => "",
        (true, false) => " executable",
        (false, true) => " private",
        (true, true) => " executable private",
    }
}

fn content_text(tree: &dyn Tree, path: &TreePath) -> Result<String> {
    let failed = |error| Error::system(Operation::Read, error).with_path(path);
    let content = tree.open(path)?;
    if content.len() > SHOWN_BYTES {
        return Ok(content.hash().map_err(failed)?.to_string());
    }
    Ok(format!("\"{}\"", content.read_all().map_err(failed)?.escape_ascii()))
}
