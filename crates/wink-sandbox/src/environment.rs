//! Which environment variables a program gets.

use std::ffi::{OsStr, OsString};

/// Variables that programs need and that hold no secret. Everything else may be one: a list of what secrets are called
/// would always lack a name.
const PASSED: &[&str] = &[
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CC",
    "CFLAGS",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "CXX",
    "CXXFLAGS",
    "DEBIAN_FRONTEND",
    "EDITOR",
    "FORCE_COLOR",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LDFLAGS",
    "LESS",
    "LINES",
    "LOGNAME",
    "MAKEFLAGS",
    "NODE_ENV",
    "NO_COLOR",
    "NVM_DIR",
    "PAGER",
    "PATH",
    "PKG_CONFIG_PATH",
    "PYENV_ROOT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "SHELL",
    "SOURCE_DATE_EPOCH",
    "TERM",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "VISUAL",
];

/// Returns whether a variable is passed on to a program.
pub(crate) fn is_passed(name: &OsStr, named: &[OsString]) -> bool {
    let is_known = |name: &str| PASSED.binary_search(&name).is_ok() || name.starts_with("LC_");
    named.iter().any(|it| it == name) || name.to_str().is_some_and(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(PASSED.is_sorted());
    }

    #[test]
    fn secrets_are_passed_only_by_name() {
        for secret in [
            "AWS_SECRET_ACCESS_KEY",
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "LD_PRELOAD",
        ] {
            assert!(!is_passed(secret.as_ref(), &[]), "{secret}");
            assert!(is_passed(secret.as_ref(), &[secret.into()]), "{secret}");
        }
        assert!(is_passed("PATH".as_ref(), &[]) && is_passed("LC_ALL".as_ref(), &[]));
    }
}
