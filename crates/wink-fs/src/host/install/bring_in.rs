//! Bringing in an entry that is somewhere else, in one rename.

use std::sync::Arc;

use rustix::fs::RenameFlags;
use rustix::io::Errno;

use crate::error::{Operation, Result};
use crate::filesystem::layer::Source;
use crate::host::replace::stage::Writer;
use crate::host::{HostTree, failure};
use crate::oplog::KeptEntry;
use crate::path::TreePath;
use crate::tree::scope::Exclusions;

/// Brings in an entry, with all that is below it, where nothing is.
pub(crate) fn install(host: &Arc<HostTree>, path: &TreePath, source: Source<'_>) -> Result<()> {
    let failed = |errno| failure::creating(Operation::Replace, path, errno);
    let slot = host.new_slot(Operation::Replace, path)?;
    let area = host.area().map_err(failed)?;
    let kind = source.tree.stat(source.at)?.kind;
    let writer = Writer { before: None, target: source.tree, excluded: &Exclusions::default() };
    let staged = writer.entry_at(&area, source.at, kind)?;
    let (from, to, flags) = (area.directory(), &slot.directory, RenameFlags::NOREPLACE);
    rustix::fs::renameat_with(from, staged.name(), to, slot.name, flags).map_err(failed)
}

/// Moves an entry that was kept back to its place, where nothing is; tells whether it could be moved.
pub(crate) fn give_back(host: &HostTree, path: &TreePath, kept: &KeptEntry) -> Result<bool> {
    let failed = |errno| failure::creating(Operation::Replace, path, errno);
    let holder = kept.tree.own_state().and_then(|tree| tree.downcast_ref::<HostTree>());
    let Some(holder) = holder else { return Ok(false) };
    let from = holder.slot(Operation::Replace, &kept.at)?;
    let to = host.new_slot(Operation::Replace, path)?;
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&from.directory, from.name, &to.directory, to.name, flags) {
        Err(Errno::XDEV | Errno::INVAL) => Ok(false),
        moved => moved.map(|()| true).map_err(failed),
    }
}
