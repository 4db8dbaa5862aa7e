//! Resolves typed paths to paths of the workspace.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use wink_fs::TreePath;

use crate::error::CliError;
use crate::sys::disk;

/// Resolves a path that is relative to a directory; both the root and the directory are real paths.
pub(crate) fn resolve(root: &Path, directory: &Path, named: &Path) -> Result<TreePath, CliError> {
    let named = &written_out(root, named)?;
    let path = without_dots(&directory.join(named));
    let inside = match path.strip_prefix(root) {
        Ok(inside) => inside.to_owned(),
        // The workspace may have been reached through a link above it.
        Err(_) => real_parent(&path)
            .and_then(|path| path.strip_prefix(root).map(Path::to_owned).ok())
            .ok_or_else(|| CliError::outside(named, root))?,
    };
    Ok(TreePath::from_disk(inside.as_os_str().as_bytes())?)
}

/// Decodes the escapes with which listings show names that are not plain text.
fn written_out(root: &Path, named: &Path) -> Result<PathBuf, CliError> {
    match named.strip_prefix(root) {
        Ok(inside) => Ok(root.join(unescaped(inside)?)),
        Err(_) if named.is_absolute() => Ok(named.to_owned()),
        Err(_) => unescaped(named),
    }
}

fn unescaped(path: &Path) -> Result<PathBuf, CliError> {
    let part = |part: Component<'_>| match part.as_os_str().to_str().filter(|it| is_escaped(it)) {
        Some(text) => Ok(OsStr::from_bytes(TreePath::parse(text)?.as_bytes()).to_owned()),
        None => Ok(part.as_os_str().to_owned()),
    };
    path.components().map(part).collect()
}

/// Returns whether a name contains an escape, and no character that would be escaped.
fn is_escaped(name: &str) -> bool {
    let is_byte = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    !name.chars().any(char::is_control) && name.split("\\x").skip(1).any(is_byte)
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

/// Resolves the links in a path's directory, but not the last component.
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
    fn what_a_listing_shows_means_what_was_listed() {
        assert_eq!(resolved(r"../a\x0ab/c\x").as_deref(), Some(r"a\x0ab/c\x"));
        assert_eq!(resolved(r"/w/caf\xe9").as_deref(), Some(r"caf\xe9"));
        assert_eq!(resolved(r"a\x5cx0a").as_deref(), Some(r"src/a\x5cx0a"));
        assert_eq!(resolved("a\n\\x0a").as_deref(), Some(r"src/a\x0a\x5cx0a"));
        assert_eq!(resolved(r"a\x41"), None, "there is one text of a path");
        let raw = Path::new(OsStr::from_bytes(b"caf\xe9"));
        let path = resolve(Path::new("/w"), Path::new("/w"), raw).ok();
        assert_eq!(path.map(|it| it.to_string()).as_deref(), Some(r"caf\xe9"));
    }

    #[test]
    fn what_is_outside_is_refused() {
        for outside in ["../..", "/", "/wx", "/nowhere/at/all", "../../wx/a"] {
            assert_eq!(resolved(outside), None, "{outside}");
        }
    }
}
