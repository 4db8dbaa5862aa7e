//! Gives back the space that forgetting snapshots alone did not.

use std::io::{self, Write as _};
use std::sync::PoisonError;

use super::{KeptSnapshots, MANIFESTS};
use crate::error::{Error, Operation, Result};
use crate::snapshot::{Reclaimed, Snapshot};
use crate::store::temporary::Temporary;
use crate::store::{catalog, failure, lock};
use crate::strategy::keeper::Condensed;
use crate::strategy::manifest::Manifest;

fn failed(error: io::Error) -> Error {
    failure::of(Operation::Prune, error)
}

impl KeptSnapshots {
    /// Writes anew what is still needed of what is partly superfluous, and removes the old.
    pub(super) fn condense(&self) -> Result<Reclaimed> {
        let _only = lock::prune(&self.disk)?;
        let prepared = {
            let _shared = lock::share(&self.disk)?;
            // If it fails, another process may have deleted a snapshot while it was being read.
            self.prepare().ok()
        };
        let _alone = lock::exclusive(&self.disk)?;
        let names = catalog::names(&self.disk).map_err(failed)?;
        let condensed = match prepared {
            Some((seen, condensed)) if seen == names => condensed,
            // A snapshot taken meanwhile may rely on what no snapshot needed before.
            _ => self.prepare()?.1,
        };
        let done = self.keeper.remove_condensed(&condensed).map_err(failed)?;
        condensed.notes.map_or(Ok(()), |notes| self.rewrite_last(notes)).map_err(failed)?;
        Ok(done)
    }

    /// Returns the names of all records, and what takes the place of what; where one is damaged, nothing may go.
    fn prepare(&self) -> Result<(Vec<String>, Condensed)> {
        let names = catalog::names(&self.disk).map_err(failed)?;
        let snapshots: Vec<Snapshot> =
            names.iter().map(|name| catalog::read(&self.disk, name)).collect::<Result<_>>()?;
        let manifest_of = |snapshot: &Snapshot| self.manifest(snapshot);
        let condensed = self.keeper.condense(&snapshots, &manifest_of).map_err(failed)?;
        Ok((names, condensed))
    }

    /// Lets the last snapshot say what it relies on now, so that the next one can be what is new since.
    fn rewrite_last(&self, notes: Vec<u8>) -> io::Result<()> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let Some(last) = self.catalog.list(&self.disk)?.pop() else { return Ok(()) };
        let manifest = Manifest { notes, ..self.manifest(&last)? };
        let mut file = Temporary::over(&self.disk, MANIFESTS, last.id.to_string())?;
        file.write_all(&manifest.encode())?;
        file.sync()?;
        file.replace()
    }
}
