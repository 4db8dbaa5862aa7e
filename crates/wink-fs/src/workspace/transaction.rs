//! Transactions: a call that writes is done as a whole or not at all, and recorded as an operation.

use std::any::Any;

use parking_lot::MutexGuard;

use super::Workspace;
use super::history::History;
use super::recovery::FailedOperation;
use super::undo::take_back::concerns_path;
use crate::error::{Error, Result};
use crate::filesystem::guard::Guard;
use crate::filesystem::layer::Layered;
use crate::filesystem::{Backend, Filesystem};
use crate::oplog::{OperationCause, Record};

impl Workspace {
    /// Runs `work` for an agent, as the only writer and within the limits.
    ///
    /// It is one operation: if `work` fails, its changes are rolled back; if it succeeds, [`undo`](Self::undo) can
    /// undo it. A workspace without history (see [`snapshot_store`](Self::snapshot_store)) cannot roll back: each
    /// change is atomic, and those made before a failure stay. `work` must use the filesystem that it is given:
    /// another writing call through a handle to this workspace, from `work` or an observer, would deadlock.
    pub fn as_agent<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T>,
    ) -> Result<T> {
        Ok(self.as_agent_operation(name, work)?.0)
    }

    /// Like [`as_agent`](Self::as_agent), and returns the number of the operation, for [`retract`](Self::retract).
    ///
    /// There is none if nothing changed, or in a workspace without history. `work` may fail with its own error type.
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

    /// Runs `work` for the program itself, as the only writer and without limits, as one operation.
    pub fn as_owner<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Filesystem) -> Result<T>,
    ) -> Result<T> {
        Ok(self.operate(name, self.turn()?, |writer| work(self.backend(writer)))?.0)
    }

    /// Rolls back interrupted calls.
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
        // The operation may belong to a program that is still running, and opening a workspace must not wait for it.
        match history.oplog.lock_if_free()? {
            Some(_alone) => history.recover(self.backend(&mut writer), &self.0.recording),
            None => Ok(()),
        }
    }

    /// Locks out other processes until the value is dropped, and recovers from those that died.
    pub(super) fn alone(
        &self,
        history: &History,
        writer: &mut Layered<Guard>,
    ) -> Result<Box<dyn Any + Send>> {
        let alone = history.oplog.lock()?;
        // What a dead process left behind is no part of the call that finds it.
        let call = history.set_call(None);
        let recovered = history.recover(self.backend(writer), &self.0.recording);
        history.set_call(call);
        recovered?;
        Ok(alone)
    }

    /// Runs `work` as one operation.
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
        let done = result.and_then(|done| {
            let cause = OperationCause::Call;
            let live = &self.0.live;
            Ok((done, history.record(sequence, name, cause, Vec::new(), &record, live)?))
        });
        if done.is_err() {
            self.roll_back(history, &mut writer, sequence, name, &record);
        }
        done
    }

    /// Rolls back a failed operation; if that fails too, the next call that writes tries again.
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
            let failed = FailedOperation { number, name, recorded: recorded.clone().and(rescued) };
            let backend = self.backend(writer);
            history.roll_back(backend, &self.0.recording, &failed, concerns_path)
        });
        if rolled_back.is_err() {
            history.oplog.remember_interrupted(number, recorded);
        }
    }
}
