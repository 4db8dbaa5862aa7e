//! What every program may read.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The parts of the system that programs need; no home, no data of other services.
const SYSTEM: &[&str] = &[
    "/bin",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/proc",
    "/run/current-system",
    "/run/systemd/resolve",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var/lib/snapd/snap",
];

/// Devices that give nothing away. `/dev/tty` is the terminal of the program itself; those of others are not here.
pub(crate) const DEVICES: &[&str] =
    &["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];

/// Where tools keep themselves below a home; none of these holds secrets. `.cargo` as a whole would: it has the tokens of
/// registries.
const TOOLS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".bun/install",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".config/git",
    ".deno/bin",
    ".gitconfig",
    ".gvm",
    ".jenv",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nodenv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".volta",
    "go",
    "miniconda3",
];

/// Variables that name the directory of a tool.
const NAMED_BY: &[&str] = &[
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
];

/// Returns what exists of what every program may read, except what has one of the protected directories in it.
pub(crate) fn usual(protected: &[PathBuf]) -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let path = env::var_os("PATH").unwrap_or_default();
    let mut all: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    all.extend(env::split_paths(&path));
    all.extend(NAMED_BY.iter().filter_map(env::var_os).map(PathBuf::from));
    all.extend(home.iter().flat_map(|home| TOOLS.iter().map(|tool| home.join(tool))));
    if let Some(cargo) = env::var_os("CARGO_HOME").map(PathBuf::from) {
        all.extend(["bin", "git", "registry", "config.toml"].map(|part| cargo.join(part)));
    }
    all.retain(|path| path.is_absolute());
    let real = all.iter().filter_map(|path| real_path(path));
    let mut real: Vec<PathBuf> =
        real.filter(|path| is_harmless(path, home.as_deref(), protected)).collect();
    real.sort();
    // What is below another one adds nothing; sorted, it comes right after it.
    real.dedup_by(|path, kept| path.starts_with(kept));
    real
}

#[allow(clippy::disallowed_methods, reason = "the paths are the operator's, not a workspace's")]
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// A `PATH` with the home or `/` in it would open everything.
fn is_harmless(path: &Path, home: Option<&Path>, protected: &[PathBuf]) -> bool {
    let contains = |inner: &Path| inner.starts_with(path);
    path != Path::new(OsStr::new("/"))
        && !home.is_some_and(contains)
        && !protected.iter().any(|it| contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_open_everything_is_left_out() {
        let home = Path::new("/home/me");
        let protected = [PathBuf::from("/home/me/.local/share/wink/project")];
        let is_in = |path: &str| is_harmless(Path::new(path), Some(home), &protected);
        assert!(is_in("/usr") && is_in("/home/me/.local/bin"));
        for path in ["/", "/home", "/home/me", "/home/me/.local", "/home/me/.local/share/wink"] {
            assert!(!is_in(path), "{path}");
        }
    }
}
