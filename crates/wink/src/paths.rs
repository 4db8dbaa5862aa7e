//! From a path that a person types to one of the workspace.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use wink_fs::TreePath;

use crate::disk;
use crate::failure::Failure;

/// Resolves a path that is relative to a directory; both the root and the directory are real paths.
pub(crate) fn resolve(root: &Path, directory: &Path, named: &Path) -> Result<TreePath, Failure> {
    let path = without_dots(&directory.join(named));
    let inside = match path.strip_prefix(root) {
        Ok(inside) => inside.to_owned(),
        // The workspace may have been reached through a link above it.
        Err(_) => real_parent(&path)
            .and_then(|path| path.strip_prefix(root).map(Path::to_owned).ok())
            .ok_or_else(|| Failure::outside(named, root))?,
    };
    Ok(TreePath::from_disk(inside.as_os_str().as_bytes())?)
}

/// Returns an absolute path without `.` and `..`.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Returns a path whose directory has no links in it; what it names itself may be a link.
fn real_parent(path: &Path) -> Option<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Some(disk::real_path_to_be(parent).ok()?.join(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(named: &str) -> Option<String> {
        let (root, directory) = (Path::new("/w"), Path::new("/w/src"));
        resolve(root, directory, Path::new(named)).ok().map(|path| path.to_string())
    }

    #[test]
    fn paths_are_relative_to_where_the_person_is() {
        assert_eq!(resolved("a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(resolved("../b//./c").as_deref(), Some("b/c"));
        assert_eq!(resolved("/w/d").as_deref(), Some("d"));
        assert_eq!(resolved("..").as_deref(), Some("."));
        assert_eq!(resolved("a\nb").as_deref(), Some(r"src/a\x0ab"));
    }

    #[test]
    fn what_is_outside_is_refused() {
        for outside in ["../..", "/", "/wx", "/nowhere/at/all", "../../wx/a"] {
            assert_eq!(resolved(outside), None, "{outside}");
        }
    }
}
