//! The files of a fork, kept where it was made.

use super::Workspace;
use crate::capture::Capture;
use crate::compare::compare;
use crate::error::{Operation, Result};
use crate::scope::{Exclusions, Scope};
use crate::snapshot::{FORKS, NewSnapshot, Snapshot};

impl Workspace {
    /// Keeps the files of a fork in a snapshot here, for when the fork is gone; nothing where all that was done
    /// in it is here already.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let attempt = files.fork(&files.snapshot("start")?)?;
    /// assert!(files.keep_fork(&attempt, "attempt")?.is_none());
    /// attempt.write("a.txt", "tried")?;
    /// let kept = files.keep_fork(&attempt, "attempt")?.unwrap();
    /// assert_eq!(files.diff(&kept, wink_fs::At::Live)?.deleted.len(), 1);
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn keep_fork(&self, fork: &Self, message: &str) -> Result<Option<Snapshot>> {
        let base = fork.origin(Operation::Snapshot)?.base_for(self)?;
        let captured = self.capture_fork(fork)?;
        let everything = Scope::everything().excluding(captured.1.clone());
        match compare(&*base, &*captured.0.tree, &everything)?.is_empty() {
            true => Ok(None),
            false => self.save_fork(fork, captured, message).map(Some),
        }
    }

    /// Keeps the files of a fork in a snapshot here, whatever was done in it.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "one")?;
    /// let attempt = files.fork(wink_fs::At::Live)?;
    /// files.write("a.txt", "two")?;
    /// files.restore(&files.snapshot_fork(&attempt, "attempt")?)?;
    /// assert_eq!(files.read("a.txt")?.content, "one");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn snapshot_fork(&self, fork: &Self, message: &str) -> Result<Snapshot> {
        fork.origin(Operation::Snapshot)?;
        self.save_fork(fork, self.capture_fork(fork)?, message)
    }

    /// Captures the files of a fork, but for what is excluded here, which it returns too.
    fn capture_fork(&self, fork: &Self) -> Result<(Capture, Exclusions)> {
        self.heed_exclusions()?;
        let excluded = self.history(Operation::Snapshot)?.excluded.known();
        Ok((fork.backend(&mut *fork.turn()?).capture(&excluded)?, excluded))
    }

    fn save_fork(
        &self,
        fork: &Self,
        (capture, excluded): (Capture, Exclusions),
        message: &str,
    ) -> Result<Snapshot> {
        let history = self.history(Operation::Snapshot)?;
        let mut writer = self.turn()?;
        let alone = self.alone(history, &mut writer)?;
        // Whoever takes out of the history what he excluded first does that alone.
        history.excluded.ask()?;
        if !history.excluded.known().patterns().eq(excluded.patterns()) {
            drop((alone, writer));
            return self.save_fork(fork, self.capture_fork(fork)?, message);
        }
        let mut new = NewSnapshot::new(history.clock.now()).message(message).line(FORKS);
        new = new.captured(&capture).backend(fork.properties().backend);
        new.parent = fork.forked_from();
        new.excluded = excluded.patterns().map(str::to_owned).collect();
        let kept = history.snapshots.save(&*capture.tree, &new)?;
        history.make_room(&kept)?;
        Ok(kept)
    }
}
