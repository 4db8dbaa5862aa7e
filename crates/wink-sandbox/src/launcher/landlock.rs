//! Which files a program reads and writes, and which processes it signals.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};

use crate::error::SandboxError;
use crate::readable::DEVICES;

/// The first version that keeps signals inside: Linux 6.12.
const NEEDED: ABI = ABI::V6;

/// Fails if the kernel cannot enforce the rules.
pub(crate) fn check() -> Result<(), SandboxError> {
    begin(false).map(drop)
}

/// Restricts this thread, and what it starts.
pub(super) fn restrict(
    writable: &[PathBuf],
    readable: &[PathBuf],
    has_network: bool,
) -> Result<(), SandboxError> {
    let mut rules = begin(has_network)?;
    for path in writable {
        rules = allow(rules, path, writing())?;
    }
    let reading = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    for path in readable {
        rules = allow(rules, path, reading)?;
    }
    for path in DEVICES.iter().map(Path::new) {
        // A container may lack some.
        if open_path(path).is_ok() {
            rules =
                allow(rules, path, AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev)?;
        }
    }
    let restricted = rules.restrict_self();
    restricted.map(drop).map_err(|error| SandboxError::unsupported(error.to_string()))
}

fn begin(has_network: bool) -> Result<RulesetCreated, SandboxError> {
    let created = || {
        let rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))?
            .scope(Scope::from_all(NEEDED))?;
        if has_network {
            rules.create()
        } else {
            rules.handle_access(AccessNet::from_all(NEEDED))?.create()
        }
    };
    created().map_err(|error: RulesetError| {
        SandboxError::unsupported(format!(
            "Landlock as in Linux 6.12 (ABI 6), or it is turned off: {error}"
        ))
    })
}

/// Everything but devices: making them, and talking to those that are there.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEEDED) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
}

fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, SandboxError> {
    let (handle, is_directory) = open_path(path)?;
    // The kernel refuses rights of directories for a file.
    let access = if is_directory { access } else { access & AccessFs::from_file(NEEDED) };
    let rule = PathBeneath::new(handle, access).set_compatibility(CompatLevel::HardRequirement);
    rules.add_rule(rule).map_err(|error| SandboxError::unsupported(error.to_string()))
}

/// Opens a real path. Between its resolution and this, a program may have put a link in its place, which is refused.
fn open_path(path: &Path) -> Result<(OwnedFd, bool), SandboxError> {
    let failed = |error: rustix::io::Errno| SandboxError::path(path, error.into());
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let handle =
        match openat2(rustix::fs::CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // Some containers forbid the call; the rules are for what is opened, wherever that is.
            Err(rustix::io::Errno::NOSYS) => open(path, flags | OFlags::NOFOLLOW, Mode::empty()),
            opened => opened,
        };
    let handle = handle.map_err(failed)?;
    let kind = FileType::from_raw_mode(fstat(&handle).map_err(failed)?.st_mode);
    Ok((handle, kind == FileType::Directory))
}
