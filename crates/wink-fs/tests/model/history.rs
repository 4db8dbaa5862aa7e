//! Random operations, snapshots, restores, undos and deaths, compared with a stack of plain maps.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestError};
use tempfile::TempDir;
use wink_fs::testkit::{Fault, dump};
use wink_fs::{
    Backend, ErrorKind, HostBackend, Layered, MemoryBackend, Retention, SnapshotOptions, Store,
    Workspace,
};

use crate::model::operation::{Op, any_operation};
use crate::model::reference::Model;

/// Steps of one sequence on average.
const SEQUENCE: usize = 40;

#[derive(Clone, Debug)]
enum Step {
    Do(Op),
    Snapshot,
    /// Goes back to one of the snapshots there are.
    Restore(usize),
    Undo,
    Redo,
    /// The backend is gone from some call on; then the workspace is opened again.
    Die(Op, u64),
    /// One call fails, in the middle of an operation perhaps.
    Fail(Op, u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    let call = 1..12_u64;
    prop_oneof![
        12 => any_operation().prop_map(Step::Do),
        2 => Just(Step::Snapshot),
        3 => (0..8_usize).prop_map(Step::Restore),
        4 => Just(Step::Undo),
        2 => Just(Step::Redo),
        1 => (any_operation(), call.clone()).prop_map(|(op, call)| Step::Die(op, call)),
        1 => (any_operation(), call).prop_map(|(op, call)| Step::Fail(op, call)),
    ]
}

/// What a history should be.
#[derive(Default)]
struct History {
    now: Model,
    snapshots: Vec<Model>,
    done: Vec<(Model, Model)>,
    undone: Vec<(Model, Model)>,
}

impl History {
    fn change(&mut self, after: Model) {
        if after.lines() != self.now.lines() {
            self.done.push((self.now.clone(), after.clone()));
            self.undone.clear();
        }
        self.now = after;
    }

    fn undo(&mut self) -> bool {
        let Some((before, after)) = self.done.pop() else { return false };
        self.now = before.clone();
        self.undone.push((before, after));
        true
    }

    fn redo(&mut self) -> bool {
        let Some((before, after)) = self.undone.pop() else { return false };
        self.now = after.clone();
        self.done.push((before, after));
        true
    }
}

/// A workspace that can be made to die, and opened again where it lies on a disk.
struct Subject {
    files: Workspace,
    fault: Arc<Fault>,
    place: Option<TempDir>,
}

fn over(backend: Box<dyn Backend>) -> (Layered<Fault>, Arc<Fault>) {
    let fault = Arc::new(Fault::default());
    (Layered::over(backend, fault.clone()), fault)
}

impl Subject {
    fn memory() -> Self {
        let (backend, fault) = over(Box::new(MemoryBackend::new()));
        let files = Workspace::builder(backend).retention(Retention::everything()).build();
        Self { files, fault, place: None }
    }

    fn host() -> Self {
        // In memory, because every restore syncs.
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let root = Workspace::host(place.path()).unwrap();
        root.mkdir("root").unwrap();
        drop(Store::create_ambient(place.path().join("store")).unwrap());
        Self::open(place)
    }

    fn open(place: TempDir) -> Self {
        let store = Store::open_ambient(place.path().join("store")).unwrap();
        let host = HostBackend::open_ambient(place.path().join("root")).unwrap();
        let (backend, fault) = over(Box::new(host));
        let files = Workspace::builder(backend).store(store);
        let files = files.retention(Retention::everything()).build();
        Self { files, fault, place: Some(place) }
    }

    fn open_again(self) -> Self {
        match self.place {
            None => {
                // What could not be taken back is, by the next call that writes.
                self.files.as_owner("nothing", |_| Ok(())).unwrap();
                self
            }
            Some(place) => {
                drop(self.files);
                Self::open(place)
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        dump(&*self.files.tree()).unwrap()
    }

    fn run(&self, op: &Op, expected: Option<wink_fs::ContentHash>) {
        let done = self.files.as_owner("step", |fs| match op.run(fs, expected) {
            crate::model::operation::Answer::Refused(refusal) => Err(refusal.error()),
            _ => Ok(()),
        });
        drop(done);
    }
}

fn in_step(mut subject: Subject, steps: Vec<Step>) -> Result<(), String> {
    let mut history = History::default();
    for step in steps {
        subject = apply(subject, &mut history, &step)?;
        let (found, expected) = (subject.lines(), history.now.lines());
        if found != expected {
            return Err(format!("{step:?}: {found:#?}, and not {expected:#?}"));
        }
    }
    Ok(())
}

fn apply(subject: Subject, history: &mut History, step: &Step) -> Result<Subject, String> {
    let files = &subject.files;
    let agree = |done: Result<(), wink_fs::Error>, expected: bool| match (done, expected) {
        (Ok(()), true) => Ok(()),
        (Err(error), false) if error.kind() == ErrorKind::NotFound => Ok(()),
        (done, _) => Err(format!("{step:?}: {done:?}, and expected {expected}")),
    };
    match step {
        Step::Do(op) => {
            let (op, expected) = op.clone().resolve(&history.now);
            let mut after = history.now.clone();
            op.run_model(&mut after, expected);
            subject.run(&op, expected);
            history.change(after);
        }
        Step::Snapshot => {
            files.snapshot_with(&SnapshotOptions::default()).map_err(|error| error.to_string())?;
            history.snapshots.push(history.now.clone());
        }
        Step::Restore(nth) => {
            let all = files.snapshots().map_err(|error| error.to_string())?;
            let asked_for = |it: &&wink_fs::Snapshot| it.cause == wink_fs::SnapshotCause::Requested;
            let all: Vec<_> = all.iter().filter(asked_for).collect();
            if let (Some(snapshot), Some(model)) = (all.get(*nth), history.snapshots.get(*nth)) {
                files.restore(*snapshot).map_err(|error| error.to_string())?;
                let model = model.clone();
                history.change(model);
            }
        }
        Step::Undo => agree(files.undo().map(drop), history.undo())?,
        Step::Redo => agree(files.redo().map(drop), history.redo())?,
        Step::Die(op, call) => {
            return Ok(disturbed(subject, history, op, Fault::die_at_nth(*call)));
        }
        Step::Fail(op, call) => {
            let fault = Fault::fail_nth(*call, ErrorKind::Io);
            return Ok(disturbed(subject, history, op, fault));
        }
    }
    Ok(subject)
}

/// Does an operation that may fail anywhere: then it is as if it had not been begun.
fn disturbed(subject: Subject, history: &mut History, op: &Op, fault: Fault) -> Subject {
    let (op, expected) = op.clone().resolve(&history.now);
    let mut after = history.now.clone();
    op.run_model(&mut after, expected);
    subject.fault.rearm(fault);
    subject.run(&op, expected);
    subject.fault.rearm(Fault::default());
    let subject = subject.open_again();
    if subject.lines() == after.lines() {
        history.change(after);
    }
    subject
}

fn check(subject: fn() -> Subject) {
    let steps = vec(any_step(), 0..2 * SEQUENCE);
    let checked = crate::model::runner_of(SEQUENCE)
        .run(&steps, |steps| in_step(subject(), steps).map_err(TestCaseError::fail));
    match checked {
        Err(TestError::Fail(why, steps)) => panic!("{why}\nby:\n{steps:#?}"),
        Err(error) => panic!("{error}"),
        Ok(()) => {}
    }
}

#[test]
fn a_history_in_memory_is_a_stack_of_plain_maps() {
    check(Subject::memory);
}

#[test]
fn a_history_on_a_host_is_a_stack_of_plain_maps() {
    check(Subject::host);
}
