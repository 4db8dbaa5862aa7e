//! What `wink doctor` says about containers on this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use wink_fs::search::Stop;
use wink_supervisor::PROGRAM;

use crate::cli::Podman;
use crate::machine;
use crate::problem::Problem;
use crate::seccomp;

const TO_ANSWER: Duration = Duration::from_secs(10);

/// The oldest Podman that wink is tested with.
const OLDEST_PODMAN: [u64; 3] = [4, 3, 0];

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// What was looked at.
    pub name: &'static str,
    /// How it is.
    pub level: Level,
    /// What a person should know.
    pub said: String,
}

/// How serious a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Level {
    /// It is as it should be.
    Fine,
    /// It is missing, and needed only for containers.
    Note,
    /// It weakens the protection, or will fail.
    Warning,
}

/// Looks at Podman, its runtime, and what this machine can limit.
///
/// ```
/// let found = wink_podman::examine("/nowhere/podman");
/// assert_eq!(found[0].level, wink_podman::Level::Note);
/// assert!(found[0].said.starts_with("not found"));
/// ```
pub fn examine(program: impl Into<PathBuf>) -> Vec<Finding> {
    let podman = Podman::new(program.into());
    let info = match podman.ask(&["info", "--format=json"], TO_ANSWER, &Stop::default()) {
        Err(Problem::Missing) => {
            let said = "not found; it runs programs apart from this computer".to_owned();
            return vec![Finding { name: "podman", level: Level::Note, said }];
        }
        Err(problem) => return vec![broken(&problem)],
        Ok(ran) if ran.code != Some(0) => return vec![broken(&ran.problem())],
        Ok(ran) => serde_json::from_slice::<Value>(&ran.stdout),
    };
    let Ok(info) = info else { return vec![broken(&Problem::Garbage)] };
    let mut found = vec![version(&info), runtime(&info), limits(), profile(), supervisor()];
    found.extend(ids());
    found
}

fn broken(problem: &Problem) -> Finding {
    Finding { name: "podman", level: Level::Warning, said: problem.to_string() }
}

fn version(info: &Value) -> Finding {
    let text = info["version"]["Version"].as_str().unwrap_or("of an unknown version");
    let is_old = numbers(text).is_none_or(|version| version < OLDEST_PODMAN);
    let (level, old) =
        if is_old { (Level::Warning, ", and wink needs 4.3") } else { (Level::Fine, "") };
    Finding { name: "podman", level, said: format!("{text}{old}") }
}

/// Releases of runtimes from which a program could escape: name, the release that fixed it, what it is.
///
/// Each line counts for the releases before it in its own line of releases, as `1.2` is one.
const FIXED: [(&str, [u64; 3], &str); 6] = [
    ("runc", [1, 1, 12], "CVE-2024-21626"),
    ("runc", [1, 2, 8], "CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881"),
    ("runc", [1, 3, 3], "CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881"),
    ("crun", [0, 10, 5], "CVE-2019-18837"),
    ("crun", [1, 4, 4], "CVE-2022-27650"),
    ("crun", [1, 20, 0], "CVE-2025-24965"),
];

fn runtime(info: &Value) -> Finding {
    let runtime = &info["host"]["ociRuntime"];
    let name = runtime["name"].as_str().unwrap_or("unknown");
    let words = runtime["version"].as_str().unwrap_or_default();
    let text = words.split_whitespace().find(|word| numbers(word).is_some()).unwrap_or("?");
    let package = runtime["package"].as_str().unwrap_or_default();
    let escapes = numbers(text).map(|version| escapes(name, version)).unwrap_or_default();
    if escapes.is_empty() {
        return Finding { name: "runtime", level: Level::Fine, said: format!("{name} {text}") };
    }
    let said = format!(
        "{name} {text} has known escapes ({}) unless the distribution fixed them in {package}; update it",
        escapes.join("; ")
    );
    Finding { name: "runtime", level: Level::Warning, said }
}

/// Returns the known escapes from a release.
fn escapes(name: &str, version: [u64; 3]) -> Vec<&'static str> {
    let of_name = FIXED.iter().filter(|(runtime, _, _)| *runtime == name);
    let mut known: Vec<_> =
        of_name.filter(|(_, fixed, _)| version < *fixed).map(|(_, _, what)| *what).collect();
    // A release of an older line may have the fix as well.
    if name == "runc" && version[..2] == [1, 2] && version >= [1, 2, 8] {
        known.clear();
    }
    known.dedup();
    known
}

fn limits() -> Finding {
    let (level, said) = if machine::can_limit() {
        (Level::Fine, "memory, processors and processes of a container can be limited".to_owned())
    } else {
        (Level::Warning, Problem::NoLimits.to_string())
    };
    Finding { name: "limits", level, said }
}

fn profile() -> Finding {
    let (level, said) = match seccomp::profile() {
        Ok(_) => {
            (Level::Fine, "Podman's profile, without set-id bits and user namespaces".to_owned())
        }
        Err(problem) => (Level::Warning, problem.to_string()),
    };
    Finding { name: "seccomp", level, said }
}

fn supervisor() -> Finding {
    let (level, said) = if PROGRAM.is_empty() {
        (
            Level::Note,
            "not a part of this build: each command gets a container of its own, which is slower",
        )
    } else {
        (Level::Fine, "a part of this build: commands run in a container that is kept")
    };
    Finding { name: "supervisor", level, said: said.to_owned() }
}

/// Says whether a user without root has further ids, which images with several users need.
fn ids() -> Option<Finding> {
    if machine::is_root() {
        return None;
    }
    let user = std::env::var("USER").unwrap_or_default();
    let has_range = |file: &str| {
        read(Path::new(file)).lines().any(|line| {
            let owner = line.split(':').next().unwrap_or_default();
            !owner.is_empty() && owner == user
        })
    };
    let (level, said) = if has_range("/etc/subuid") && has_range("/etc/subgid") {
        (Level::Fine, "this user has ranges in /etc/subuid and /etc/subgid")
    } else {
        (
            Level::Note,
            "no range for this user in /etc/subuid and /etc/subgid: images with several users do not work",
        )
    };
    Some(Finding { name: "ids", level, said: said.to_owned() })
}

#[allow(clippy::disallowed_methods, reason = "configuration of the system")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Returns the three numbers that a version begins with.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let plain = version.trim_start_matches('v');
    let end = plain.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(plain.len());
    let mut parts = plain[..end].split('.').map(str::parse);
    let mut next = || parts.next().map_or(Some(0), Result::ok);
    let is_version = plain[..end].contains('.');
    Some([next()?, next()?, next()?]).filter(|_| is_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_begin_with_three_numbers() {
        assert_eq!(numbers("1.1.5+ds1"), Some([1, 1, 5]));
        assert_eq!(numbers("v5.8"), Some([5, 8, 0]));
        assert_eq!(numbers("1.4.0-rc.3"), Some([1, 4, 0]));
        assert_eq!(numbers("runc"), None);
        assert_eq!(numbers("1"), None);
    }

    #[test]
    fn a4_70_releases_with_known_escapes_are_named() {
        assert_eq!(escapes("runc", [1, 1, 5]).len(), 2);
        assert_eq!(escapes("runc", [1, 1, 12]).len(), 1);
        assert_eq!(escapes("runc", [1, 2, 7]).len(), 1);
        assert!(escapes("runc", [1, 2, 8]).is_empty());
        assert_eq!(escapes("runc", [1, 3, 2]).len(), 1);
        assert!(escapes("runc", [1, 3, 3]).is_empty());
        assert_eq!(escapes("crun", [1, 8, 1]), ["CVE-2025-24965"]);
        assert!(escapes("crun", [1, 20, 0]).is_empty());
        assert!(escapes("youki", [0, 1, 0]).is_empty());
    }
}
