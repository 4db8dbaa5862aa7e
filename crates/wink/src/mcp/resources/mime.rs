//! What a file is, by the end of its name.

use wink_fs::TreePath;

/// Ends of names, each with the type that clients know.
const KNOWN: &[(&str, &str)] = &[
    ("c", "text/x-c"),
    ("cpp", "text/x-c++"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("go", "text/x-go"),
    ("gz", "application/gzip"),
    ("h", "text/x-c"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("java", "text/x-java"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("py", "text/x-python"),
    ("rs", "text/x-rust"),
    ("sh", "text/x-shellscript"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("ts", "text/typescript"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// Returns the type of a file, if its name tells.
pub(super) fn by_name(path: &TreePath) -> Option<&'static str> {
    let text = path.to_string();
    let name = text.rsplit('/').next().unwrap_or_default();
    let (_, end) = name.rsplit_once('.')?;
    let end = end.to_ascii_lowercase();
    KNOWN.binary_search_by_key(&&*end, |(known, _)| known).ok().map(|at| KNOWN[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_tells() {
        assert!(KNOWN.is_sorted());
        let by_name = |path: &str| by_name(&TreePath::parse(path).expect("a path"));
        assert_eq!(by_name("src/main.RS"), Some("text/x-rust"));
        assert_eq!(by_name("a.d/Makefile"), None);
        assert_eq!(by_name("zip"), None);
    }
}
