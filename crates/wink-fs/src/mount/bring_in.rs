//! Applies all mounts, or none.

use std::path::Path;
use std::sync::Arc;

use super::allowed::AllowedRoots;
use super::overlay::{Added, Overlay};
use super::plan::Plan;
use super::{HostMount, MountReport};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend;
use crate::tree::scope::Scope;

/// Plans all mounts, and only then changes the backend.
pub(super) fn bring_in(
    backend: &mut dyn Backend,
    mounts: &[HostMount],
    allowed_roots: &[&Path],
) -> Result<Vec<MountReport>> {
    let allowed = AllowedRoots::open(allowed_roots.iter().copied())?;
    let mut added = Added::default();
    let plan = |mount: &HostMount| Plan::make(mount, &allowed, &mut added);
    let reports = mounts.iter().map(plan).collect::<Result<_>>()?;
    backend
        .replace(&Overlay::new(backend.live(), Arc::new(added)), &Scope::everything())
        .map_err(|error| error.during(Operation::Mount))?;
    Ok(reports)
}

/// Returns the error for a refused mount; the host path is shown only as the program gave it.
pub(super) fn refused(mount: &HostMount, kind: ErrorKind, why: impl Into<String>) -> Error {
    Error::new(Operation::Mount, kind)
        .with_path_text(&mount.host_path.to_string_lossy())
        .with_detail(why)
}
