//! Mending a history with the help of the files themselves.

use std::collections::BTreeMap;
use std::io;

use super::{History, retried};
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::filesystem::event::Event;
use crate::path::TreePath;
use crate::snapshot::{NewSnapshot, Repaired, Skipped, Snapshot};
use crate::tree::scope::Exclusions;
use crate::tree::{Kind, Tree};
use crate::workspace::Workspace;

/// What cannot be read, with the reason.
type Unreadable = BTreeMap<TreePath, &'static str>;

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
        let (mut taken, mut unreadable) = (None, Unreadable::new());
        let mut repaired = history.snapshots.repair_by(&mut || {
            taken = Some(self.heal(history, &mut unreadable)?.id);
            Ok(())
        })?;
        repaired.taken = taken;
        let named = unreadable.iter().map(|(path, why)| Skipped::new(path.to_string(), *why));
        repaired.unreadable = named.collect();
        Ok(repaired)
    }

    /// Takes a snapshot of all that can be read.
    fn heal(&self, history: &History, unreadable: &mut Unreadable) -> Result<Snapshot> {
        loop {
            let taken = if unreadable.is_empty() {
                self.take(history, &NewSnapshot::new(history.clock.now()).message(MESSAGE))
            } else {
                retried(|| self.take_without(history, unreadable))
            };
            let (error, known) = match taken {
                Err(error) => (error, unreadable.len()),
                taken => return taken,
            };
            let excluded = history.excluded.known();
            find_unreadable(&*self.0.live, &excluded, unreadable);
            self.add_failing(&error, unreadable);
            // Without the root there are no others.
            if unreadable.len() == known || unreadable.contains_key(&TreePath::root()) {
                return Err(error);
            }
        }
    }

    /// Adds the file that an error is about, if it can be opened and not be read.
    fn add_failing(&self, error: &Error, unreadable: &mut Unreadable) {
        let Some(path) = error.path().and_then(|path| self.path(path).ok()) else { return };
        let Ok(content) = self.0.live.open(&path) else { return };
        if io::copy(&mut content.reader(), &mut io::sink()).is_err() {
            unreadable.insert(path, why(error));
        }
    }

    /// Takes a snapshot that says nothing of what cannot be read: a restore leaves that alone.
    fn take_without(&self, history: &History, unreadable: &Unreadable) -> Result<Snapshot> {
        let mut writer = self.turn()?;
        let _alone = self.alone(history, &mut writer)?;
        history.excluded.ask()?;
        let patterns: Vec<_> = unreadable.keys().map(Exclusions::pattern_of).collect();
        let excluded = history.excluded.known().and(&patterns)?;
        let backend = self.backend(&mut writer);
        let capture = backend.capture(&excluded)?;
        let new = NewSnapshot::new(history.clock.now()).message(MESSAGE).captured(&capture);
        let mut new = new.backend(backend.properties().backend.as_str());
        new.parent = history.head()?;
        new.excluded = excluded.patterns().map(str::to_owned).collect();
        let taken = history.snapshots.save(&*capture.tree, &new)?;
        history.set_head(taken.id)?;
        history.make_room(&taken)?;
        self.0.observers.tell(&Event::SnapshotTaken { id: taken.id });
        Ok(taken)
    }
}

/// Finds the files that cannot be opened and the directories that cannot be listed.
fn find_unreadable(tree: &dyn Tree, excluded: &Exclusions, found: &mut Unreadable) {
    let mut waiting = vec![TreePath::root()];
    while let Some(directory) = waiting.pop() {
        let mut failed = |path: &TreePath, error: Error| found.insert(path.clone(), why(&error));
        let entries = tree.list(&directory).map_err(|error| failed(&directory, error));
        for entry in entries.unwrap_or_default() {
            let Ok(path) = directory.join(&entry.name) else { continue };
            match entry.kind {
                _ if excluded.matches_entry(&path) => {}
                Kind::Directory => waiting.push(path),
                Kind::File => drop(tree.open(&path).map_err(|error| failed(&path, error))),
                _ => {}
            }
        }
    }
}

fn why(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::PermissionDenied => "access is denied",
        _ => "it cannot be read",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::filesystem::layer::{Call, Layer, Layered};
    use crate::memory::MemoryBackend;

    /// Refuses every call that lists the root.
    struct Shut;

    impl Layer for Shut {
        fn before(&self, _: &dyn Tree, call: &Call<'_>) -> Result<()> {
            match call {
                Call::List { path } if path.is_root() => {
                    Err(call.refused(ErrorKind::PermissionDenied))
                }
                _ => Ok(()),
            }
        }
    }

    /// Once, a pattern that excludes nothing stood for it, and it was named as left out of a snapshot.
    #[test]
    fn a_root_that_cannot_be_read_ends_a_repair_with_the_first_failure() {
        let has_failed = AtomicBool::new(false);
        let source = move || {
            if !has_failed.swap(true, Ordering::Relaxed) {
                Err(Error::new(Operation::Read, ErrorKind::PermissionDenied))
            } else {
                Ok(None)
            }
        };
        let backend = Layered::new(MemoryBackend::new(), Shut);
        let files = Workspace::builder(backend).exclude_by(source).build();
        let history = files.history(Operation::Repair).unwrap();
        let error = files.heal(history, &mut Unreadable::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        assert_eq!(files.snapshots().unwrap(), []);
    }
}
