//! Containers on this computer.

#[cfg(target_os = "linux")]
use super::programs;
use super::{Check, Health, check};

/// Checks what `--backend podman` needs.
#[cfg(target_os = "linux")]
pub(super) fn checks() -> Vec<Check> {
    let program = programs::on_path("podman").into_iter().next();
    let found = wink_podman::examine(program.unwrap_or_else(|| "/nowhere".into())).into_iter();
    let checks = found.map(|it| {
        let health = match it.level {
            wink_podman::Level::Fine => Health::Ok,
            wink_podman::Level::Note => Health::Note,
            _ => Health::Warning,
        };
        check(it.name, health, it.said)
    });
    checks.collect()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn checks() -> Vec<Check> {
    vec![check("podman", Health::Note, "containers need Linux")]
}
