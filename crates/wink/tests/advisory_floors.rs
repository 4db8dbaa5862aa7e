//! Keeps dependencies with published advisories at or above the release that fixed them.
//!
//! `cargo deny` knows every advisory but needs its database; this test needs only `Cargo.lock`.

use semver::Version;

const CARGO_LOCK: &str = include_str!("../../../Cargo.lock");

/// The lowest releases that may be in the lock file. A package that is absent passes.
const FLOORS: &[(&str, Version)] = &[
    // Older releases diffed maps wrongly and misused memory.
    ("imbl", Version::new(7, 0, 2)),
    // CVE-2026-44471: a crafted tree put a symbolic link outside the checkout.
    ("gix-fs", Version::new(0, 21, 1)),
    // RUSTSEC-2026-0189: the HTTP server answered any Host, so a web page could reach it.
    ("rmcp", Version::new(1, 6, 0)),
    // CVE-2026-33056: unpacking followed a link and changed the mode of a directory outside.
    ("tar", Version::new(0, 4, 45)),
    // CVE-2025-29787: links in an archive led extraction outside.
    ("zip", Version::new(2, 3, 0)),
];

/// Every `(name, version)` of a lock file.
///
/// Cargo writes the file itself, one key a line and the name before the version, so a TOML parser
/// would add nothing.
fn packages(lock: &str) -> Vec<(&str, Version)> {
    lock.split("[[package]]")
        .skip(1)
        .map(|entry| {
            let name = value(entry, "name");
            let version = value(entry, "version");
            let parsed = version.parse().unwrap_or_else(|e| panic!("{name} {version}: {e}"));
            (name, parsed)
        })
        .collect()
}

fn value<'a>(entry: &'a str, key: &str) -> &'a str {
    entry
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
        .unwrap_or_else(|| panic!("a package without {key}: {entry}"))
}

fn below_floor(lock: &str) -> Vec<String> {
    let floor_of = |name: &str| FLOORS.iter().find(|(floored, _)| *floored == name);
    packages(lock)
        .into_iter()
        .filter_map(|(name, version)| {
            let (_, floor) = floor_of(name)?;
            (version < *floor).then(|| format!("{name} {version} is below {floor}"))
        })
        .collect()
}

#[test]
fn no_locked_dependency_is_below_its_floor() {
    assert!(packages(CARGO_LOCK).iter().any(|(name, _)| *name == "wink"), "wrong lock file");
    assert_eq!(below_floor(CARGO_LOCK), Vec::<String>::new());
}

#[test]
fn versions_below_the_floor_are_found() {
    let lock = r#"
version = 4

[[package]]
name = "imbl"
version = "7.0.2"
dependencies = [
 "tar",
]

[[package]]
name = "rmcp"
version = "1.6.0-rc.1"

[[package]]
name = "tar"
version = "0.4.9"

[[package]]
name = "tar"
version = "0.5.0+build"

[[package]]
name = "tar-like"
version = "0.1.0"
"#;
    assert_eq!(below_floor(lock), ["rmcp 1.6.0-rc.1 is below 1.6.0", "tar 0.4.9 is below 0.4.45"]);
}
