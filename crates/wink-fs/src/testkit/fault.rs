//! A backend that fails when it is told to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{ErrorKind, Result};
use crate::filesystem::layer::{Call, Layer};
use crate::tree::Tree;

/// Lets the n-th call fail, or every call from the n-th on; counts calls either way.
///
/// Calls are those of [`Tree`] and [`Filesystem`](crate::Filesystem), the first one being number 1. A
/// call that fails does not reach the backend below. By default nothing fails.
///
/// ```
/// use wink_fs::testkit::Fault;
/// use wink_fs::{ErrorKind, Filesystem, Layered, MemoryBackend, Tree, TreePath};
///
/// let mut files = Layered::new(MemoryBackend::new(), Fault::fail_nth(2, ErrorKind::NoSpace));
/// files.create_dir(&TreePath::parse("a")?)?;
/// let error = files.create_dir(&TreePath::parse("b")?).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NoSpace);
/// files.create_dir(&TreePath::parse("b")?)?;
/// assert_eq!(files.layer().calls(), 3);
///
/// let files = Layered::new(MemoryBackend::new(), Fault::die_at_nth(1));
/// for _ in 0..3 {
///     let error = files.stat(&TreePath::root()).unwrap_err();
///     assert_eq!(error.kind(), ErrorKind::Unavailable);
/// }
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Fault(Mutex<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    calls: u64,
    plan: Plan,
}

#[derive(Clone, Copy, Debug, Default)]
enum Plan {
    #[default]
    Pass,
    Fail {
        nth: u64,
        kind: ErrorKind,
    },
    Die {
        nth: u64,
    },
}

impl Fault {
    /// Makes one that lets the n-th call fail with a given kind, and no other.
    pub fn fail_nth(nth: u64, kind: ErrorKind) -> Self {
        Self::of(Plan::Fail { nth, kind })
    }

    /// Makes one that lets the n-th and every later call fail, as if the backend were gone.
    pub fn die_at_nth(nth: u64) -> Self {
        Self::of(Plan::Die { nth })
    }

    /// Counts the calls so far, those that failed included.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Takes over what another one was made for, and counts from the beginning.
    pub fn rearm(&self, other: Self) {
        *self.state() = *other.state();
    }

    fn of(plan: Plan) -> Self {
        Self(Mutex::new(State { calls: 0, plan }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&mut self) -> Option<ErrorKind> {
        self.calls += 1;
        match self.plan {
            Plan::Fail { nth, kind } if self.calls == nth => Some(kind),
            Plan::Die { nth } if self.calls >= nth => Some(ErrorKind::Unavailable),
            _ => None,
        }
    }
}

impl Layer for Fault {
    fn before(&self, _: &dyn Tree, call: &Call<'_>) -> Result<()> {
        match self.state().count() {
            Some(kind) => Err(call.refused(kind)),
            None => Ok(()),
        }
    }
}
