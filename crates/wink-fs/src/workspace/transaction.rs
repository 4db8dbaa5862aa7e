//! One call that writes: all of it or nothing, and written down as an operation.

use std::any::Any;

use parking_lot::MutexGuard;

use super::Workspace;
use super::history::History;
use super::recovery::Failed;
use super::undo::take_back::is_of_the_path;
use crate::error::{Error, Result};
use crate::filesystem::guard::Guard;
use crate::filesystem::layer::Layered;
use crate::filesystem::{Backend, Filesystem};
use crate::oplog::Record;

impl Workspace {
    /// Does something for an agent, as the only writer, within the limits.
    ///
    /// It is one operation: where `work` fails, what it changed so far is taken back, and where it
    /// succeeds, [`undo`](Self::undo) takes it back. A workspace that keeps no history, as
    /// [`snapshot_store`](Self::snapshot_store) tells, can take nothing back: there each change is whole by
    /// itself, and those that were made before a failure stay. Writers take turns: `work` must use the filesystem
    /// it is given. Another call that writes through a handle to this workspace, from `work` or from an
    /// observer, would wait for itself for ever.
    pub fn as_agent<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T>,
    ) -> Result<T> {
        Ok(self.as_agent_operation(name, work)?.0)
    }

    /// Does the same, and returns also the number of the operation, for [`retract`](Self::retract).
    ///
    /// There is none where nothing changed, and in a workspace that keeps no history. `work` may fail with an error of
    /// its own type.
    ///
    /// ```
    /// let files = wink_fs::Workspace::memory();
    /// let directory = files.path("src")?;
    /// let ((), made) = files.as_agent_operation("make", |fs| fs.create_dir(&directory))?;
    /// assert_eq!(made, Some(1));
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    pub fn as_agent_operation<T, E: From<Error>>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T, E>,
    ) -> Result<(T, Option<u64>), E> {
        self.operate(name, self.turn()?, |writer| work(writer))
    }

    /// Does something for the program itself, as the only writer, without limits.
    ///
    /// It is one operation, as for an agent.
    pub fn as_owner<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T>,
    ) -> Result<T> {
        Ok(self.operate(name, self.turn()?, |writer| work(self.backend(writer)))?.0)
    }

    /// Takes back what a call had changed whose process died.
    pub(super) fn recover(&self) -> Result<()> {
        let Some(history) = &self.0.history else { return Ok(()) };
        let interrupted = history.oplog.interrupted()?;
        if self.0.properties.read_only || interrupted.is_empty() {
            return Ok(());
        }
        let mut writer = self.turn()?;
        let has_changes =
            |number: &u64| history.oplog.recorded(*number).is_ok_and(|it| !it.steps.is_empty());
        if interrupted.iter().any(has_changes) {
            return self.alone(history, &mut writer).map(drop);
        }
        // The operation may belong to a program that is still running, and opening a workspace does not wait for
        // that.
        match history.oplog.lock_if_free()? {
            Some(_alone) => history.recover(self.backend(&mut writer), &self.0.recording),
            None => Ok(()),
        }
    }

    /// Keeps other processes out until the value is dropped, and mends what one left that died.
    pub(super) fn alone(
        &self,
        history: &History,
        writer: &mut Layered<Guard>,
    ) -> Result<Box<dyn Any + Send>> {
        let alone = history.oplog.lock()?;
        history.recover(self.backend(writer), &self.0.recording)?;
        Ok(alone)
    }

    /// Does something as one operation: all of it or nothing, and written down under a number.
    fn operate<T, E: From<Error>>(
        &self,
        name: &str,
        mut writer: MutexGuard<'_, Layered<Guard>>,
        work: impl FnOnce(&mut Layered<Guard>) -> Result<T, E>,
    ) -> Result<(T, Option<u64>), E> {
        let Some(history) = &self.0.history else { return Ok((work(&mut writer)?, None)) };
        let _alone = self.alone(history, &mut writer)?;
        let (sequence, aside) = history.oplog.next()?;
        let recorded = self.0.recording.during(writer.before_image(&aside)?, || work(&mut writer));
        let (result, record) = recorded;
        let done = result
            .and_then(|done| Ok((done, history.record(sequence, name, &record, &self.0.live)?)));
        if done.is_err() {
            self.roll_back(history, &mut writer, sequence, name, &record);
        }
        done
    }

    /// Takes back an operation that failed; where that fails too, the next call that writes tries again.
    pub(super) fn roll_back(
        &self,
        history: &History,
        writer: &mut Layered<Guard>,
        number: u64,
        name: &str,
        record: &Record,
    ) {
        let recorded = record.recorded();
        let rolled_back = record.rescued().and_then(|rescued| {
            let failed = Failed { number, name, recorded: recorded.clone().and(rescued) };
            let backend = self.backend(writer);
            history.roll_back(backend, &self.0.recording, &failed, is_of_the_path)
        });
        if rolled_back.is_err() {
            history.oplog.remember_interrupted(number, recorded);
        }
    }
}
