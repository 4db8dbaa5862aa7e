//! Mending a history with the help of the files themselves.

use crate::error::{Operation, Result};
use crate::snapshot::{NewSnapshot, Repaired, Snapshot};
use crate::workspace::Workspace;

/// What is told of the snapshot that is taken.
const MESSAGE: &str = "repair";

impl Workspace {
    /// Puts aside what is damaged in the history; what is missing then and the files still have is stored
    /// again, as a snapshot of them.
    ///
    /// Only snapshots that miss something all the same are put aside too. Nothing is deleted. Files that cannot be
    /// read are reported, and do not keep the repair from storing the others.
    ///
    /// ```
    /// # let directory = tempfile::tempdir().unwrap();
    /// let store = wink_fs::Store::create_ambient(directory.path())?;
    /// let files = wink_fs::Workspace::builder(wink_fs::MemoryBackend::new()).store(store).build();
    /// files.snapshot("whole")?;
    /// assert!(files.repair()?.quarantined.is_empty());
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn repair(&self) -> Result<Repaired> {
        let history = self.history(Operation::Repair)?;
        let mut taken = None;
        let mut repaired = history.snapshots.repair_by(&mut || {
            let new = NewSnapshot::new(history.clock.now()).message(MESSAGE);
            taken = Some(self.take(history, &new)?);
            Ok(())
        })?;
        repaired.unreadable = taken.iter().flat_map(Snapshot::missing).cloned().collect();
        repaired.taken = taken.map(|taken| taken.id);
        Ok(repaired)
    }
}
