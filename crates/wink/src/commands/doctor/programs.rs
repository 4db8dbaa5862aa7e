//! The programs on this computer.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::check;
use super::{Check, Health};
use crate::sys::disk;
use crate::ui::format;

/// Optional programs, each with its use.
const OTHERS: [(&str, &str); 1] = [("git", "applies the patches that `wink diff` writes")];

/// Checks this program, and others of its name on PATH.
pub(super) fn wink() -> Vec<Check> {
    let version = env!("CARGO_PKG_VERSION");
    let own = env::current_exe().and_then(|path| disk::real_path(&path)).ok();
    let shown = own.as_ref().map_or("?".into(), |path| path.display().to_string());
    let mut checks = vec![check("wink", Health::Ok, format!("{version}, {shown}"))];
    let others = on_path("wink").into_iter().filter(|other| own.as_ref() != Some(other));
    let warning = |other: PathBuf| {
        let said = format!("another one is on PATH: {}", other.display());
        check("wink", Health::Warning, said)
    };
    checks.extend(others.map(warning));
    checks
}

pub(super) fn others() -> Vec<Check> {
    OTHERS.iter().map(|(name, what_for)| other(name, what_for)).collect()
}

fn other(name: &'static str, what_for: &str) -> Check {
    let Some(program) = on_path(name).into_iter().next() else {
        return check(name, Health::Note, format!("not found; it {what_for}"));
    };
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    match version.as_deref().map(format::first_line) {
        Ok(line) if !line.is_empty() => check(name, Health::Ok, line),
        _ => check(name, Health::Warning, "found, but cannot be started"),
    }
}

/// Returns the real paths of the programs of a name, in the order of PATH.
pub(in super::super) fn on_path(name: &str) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut found = Vec::new();
    for directory in env::split_paths(&path) {
        let program = directory.join(name);
        let real = disk::is_program(&program).then(|| disk::real_path(&program).ok()).flatten();
        found.extend(real.filter(|real| !found.contains(real)));
    }
    found
}
