//! A backend that fails on demand.

use parking_lot::Mutex;

use crate::error::{ErrorKind, Result};
use crate::filesystem::layer::{Call, Layer};
use crate::tree::Tree;

/// Fails the n-th call, or every call from the n-th on, and counts calls.
///
/// Counts the calls of [`Tree`] and [`Filesystem`](crate::Filesystem), from 1. A failed call does not reach the
/// backend below. By default nothing fails.
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
    /// Fails the n-th call with a given kind, and no other.
    pub fn fail_nth(nth: u64, kind: ErrorKind) -> Self {
        Self::of(Plan::Fail { nth, kind })
    }

    /// Fails the n-th and every later call, as if the backend were gone.
    pub fn die_at_nth(nth: u64) -> Self {
        Self::of(Plan::Die { nth })
    }

    /// Counts the calls so far, including failed ones.
    pub fn calls(&self) -> u64 {
        self.0.lock().calls
    }

    /// Takes over the settings of another one, and counts from the beginning.
    pub fn rearm(&self, other: Self) {
        *self.0.lock() = *other.0.lock();
    }

    fn of(plan: Plan) -> Self {
        Self(Mutex::new(State { calls: 0, plan }))
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
        match self.0.lock().count() {
            Some(kind) => Err(call.refused(kind)),
            None => Ok(()),
        }
    }
}
