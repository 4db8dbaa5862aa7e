//! Mounts on systems other than Linux, which are unsupported.

use std::path::Path;

use super::{HostMount, MountReport};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::Backend;

/// Unsupported on this system.
pub(super) fn bring_in(
    _: &mut dyn Backend,
    _: &[HostMount],
    _: &[&Path],
) -> Result<Vec<MountReport>> {
    Err(Error::new(Operation::Mount, ErrorKind::Unsupported)
        .with_detail("host files can be mounted on Linux only; write them into the workspace"))
}
