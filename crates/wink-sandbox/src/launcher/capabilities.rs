//! What a program loses when the user is root.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::error::SandboxError;

/// What root needs to work on files of other owners; which files those are is Landlock's to say.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// Takes every other capability from this thread, and from what it starts.
pub(super) fn drop() -> Result<(), SandboxError> {
    let failed = |error: Errno| SandboxError::failed("drop capabilities", error);
    let held = capabilities(None).map_err(failed)?;
    clear_ambient_capability_set().map_err(failed)?;
    if held.effective.contains(CapabilitySet::SETPCAP) {
        // Root would get them back with the next program.
        for number in 0..u64::BITS {
            let one = CapabilitySet::from_bits_retain(1 << number);
            match remove_capability_from_bounding_set(one) {
                _ if KEPT.contains(one) => {}
                // The kernel knows no capability of this number.
                Ok(()) | Err(Errno::INVAL) => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
    let left = |set: CapabilitySet| set & KEPT;
    let sets = CapabilitySets {
        effective: left(held.effective),
        permitted: left(held.permitted),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(failed)
}
