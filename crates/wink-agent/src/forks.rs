//! Forks by name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wink_fs::{ErrorKind, Workspace};

use crate::refusal::Refusal;
use crate::suggest::nearest;

/// How many forks there are at most: each keeps what was changed in it in memory.
const MOST: usize = 64;

/// Holds the forks that calls made; a clone holds the same ones.
///
/// A model makes, compares, merges and removes them by name. The files of a fork are a workspace of
/// their own: the program gets it here, and runs another agent over it with a context of its own.
///
/// ```
/// use serde_json::json;
/// use wink_agent::{ToolContext, Toolset};
///
/// let files = wink_fs::Workspace::memory();
/// let context = ToolContext::over(&files);
/// assert!(Toolset::ALL.call(&context, "fork", json!({"name": "attempt"})).ok());
///
/// let attempt = ToolContext::over(&context.forks.get("attempt").unwrap());
/// Toolset::ALL.call(&attempt, "write_file", json!({"path": "a.txt", "content": "tried"}));
/// assert!(!files.exists("a.txt"));
///
/// assert!(Toolset::ALL.call(&context, "merge", json!({"name": "attempt"})).ok());
/// assert_eq!(files.read("a.txt")?.content, "tried");
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Forks(Arc<Mutex<BTreeMap<String, Workspace>>>);

impl Forks {
    /// Returns the files of a fork.
    pub fn get(&self, name: &str) -> Option<Workspace> {
        self.lock().get(name).cloned()
    }

    /// Returns the names of all forks, sorted.
    pub fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Gives a fork a name, unless another one has it or there are too many.
    pub(crate) fn add(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<Workspace, Refusal>,
    ) -> Result<Workspace, Refusal> {
        let mut forks = self.lock();
        if forks.contains_key(name) {
            return Err(Refusal::new(
                ErrorKind::AlreadyExists,
                format!("There is a fork `{name}` already; choose another name."),
            ));
        }
        if forks.len() >= MOST {
            return Err(Refusal::new(
                ErrorKind::TooLarge,
                format!("There are {MOST} forks already; remove one with fork and remove first."),
            ));
        }
        let fork = make()?;
        forks.insert(name.to_owned(), fork.clone());
        Ok(fork)
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), Refusal> {
        let removed = self.lock().remove(name);
        removed.map(drop).ok_or_else(|| self.unknown(name))
    }

    /// Returns the files of a fork that a model named.
    pub(crate) fn find(&self, name: &str) -> Result<Workspace, Refusal> {
        self.get(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Refusal {
        let names = self.names();
        let shown: String = name.chars().take(60).collect();
        let hint = match (nearest(name, names.iter().map(String::as_str)), names.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, true) => "make one with fork.".to_owned(),
            (None, false) => format!("the forks are {}.", names.join(", ")),
        };
        Refusal::new(ErrorKind::NotFound, format!("There is no fork `{shown}`; {hint}"))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Workspace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
