//! Forks by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use wink_fs::{ErrorKind, MergeOptions, Merged, SnapshotId, Workspace};

use crate::history::changes;
use crate::tool::error::ToolError;
use crate::tool::suggest::nearest;
use crate::tool::unknown_name;
use crate::util::lock;

/// How many forks there are at most: each keeps what was changed in it in memory.
const MOST: usize = 64;

/// The forks that calls made; a clone is another handle to them.
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
#[derive(Clone, Default)]
pub struct Forks {
    made: Arc<Mutex<Named>>,
    elsewhere: Option<Elsewhere>,
    merging: Option<Merging>,
}

/// Finds the snapshot with the files of a fork that no call made.
type Elsewhere = Arc<dyn Fn(&str) -> wink_fs::Result<Option<SnapshotId>> + Send + Sync>;

/// Merges a fork that no call made.
type Merging =
    Arc<dyn Fn(&Workspace, &str, &MergeOptions) -> wink_fs::Result<Option<Merged>> + Send + Sync>;

/// Forks by name; one that is being made has its name already.
type Named = BTreeMap<String, Option<Workspace>>;

impl Forks {
    /// Sets how to find the snapshot of a fork that was made elsewhere, as by a person, so that a model can name
    /// it where it names states.
    ///
    /// ```
    /// use serde_json::json;
    /// use wink_agent::{ToolContext, Toolset};
    ///
    /// let files = wink_fs::Workspace::memory();
    /// files.write("a.txt", "tried")?;
    /// let attempt = files.snapshot_with(&Default::default())?.id;
    /// files.write("a.txt", "another")?;
    /// let mut context = ToolContext::over(&files);
    /// context.forks = context.forks.and_elsewhere(move |name| Ok((name == "attempt").then_some(attempt)));
    /// assert!(Toolset::ALL.call(&context, "restore", json!({"snapshot": "attempt"})).ok());
    /// assert_eq!(files.read("a.txt")?.content, "tried");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn and_elsewhere(
        self,
        find: impl Fn(&str) -> wink_fs::Result<Option<SnapshotId>> + Send + Sync + 'static,
    ) -> Self {
        Self { elsewhere: Some(Arc::new(find)), ..self }
    }

    /// Sets how a fork that was made elsewhere is merged, if it can be: only its owner knows what of it
    /// was brought in before.
    ///
    /// ```
    /// use serde_json::json;
    /// use wink_agent::{ToolContext, Toolset};
    ///
    /// let files = wink_fs::Workspace::memory();
    /// let start = files.snapshot("start")?.id;
    /// files.write("a.txt", "tried")?;
    /// let attempt = files.snapshot("end")?.id;
    /// files.restore("start")?;
    /// let mut context = ToolContext::over(&files);
    /// context.forks = context.forks.and_merging(move |files, name, options| match name {
    ///     "attempt" => files.merge_states(start, attempt, options).map(Some),
    ///     _ => Ok(None),
    /// });
    /// assert!(Toolset::ALL.call(&context, "merge", json!({"name": "attempt"})).ok());
    /// assert_eq!(files.read("a.txt")?.content, "tried");
    /// # Ok::<(), wink_fs::Error>(())
    /// ```
    #[must_use]
    pub fn and_merging(
        self,
        merge: impl Fn(&Workspace, &str, &MergeOptions) -> wink_fs::Result<Option<Merged>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { merging: Some(Arc::new(merge)), ..self }
    }

    /// Merges a fork, whether a tool or another program made it.
    pub(crate) fn merge(
        &self,
        files: &Workspace,
        name: &str,
        options: &MergeOptions,
    ) -> Result<Merged, ToolError> {
        let merged = match (self.get(name), &self.merging) {
            (Some(fork), _) => files.merge_with(&fork, options).map(Some),
            (None, Some(merge)) => merge(files, name, options),
            (None, None) => Ok(None),
        };
        merged.map_err(changes::refusal)?.ok_or_else(|| self.unknown(name))
    }

    /// Returns the snapshot that has the files of a fork that was made elsewhere.
    pub(crate) fn elsewhere(&self, name: &str) -> wink_fs::Result<Option<SnapshotId>> {
        self.elsewhere.as_ref().map_or(Ok(None), |find| find(name))
    }

    /// Returns the files of a fork.
    pub fn get(&self, name: &str) -> Option<Workspace> {
        self.lock().get(name).cloned().flatten()
    }

    /// Returns the names of all forks, sorted.
    pub fn names(&self) -> Vec<String> {
        let made = |(name, fork): (&String, &Option<_>)| fork.is_some().then(|| name.clone());
        self.lock().iter().filter_map(made).collect()
    }

    /// Gives a fork a name, unless another one has it or there are too many.
    ///
    /// No other caller waits while the fork is made, which may take long.
    pub(crate) fn add(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<Workspace, ToolError>,
    ) -> Result<Workspace, ToolError> {
        let _reserved = self.reserve(name)?;
        let fork = make()?;
        self.lock().insert(name.to_owned(), Some(fork.clone()));
        Ok(fork)
    }

    fn reserve<'f>(&'f self, name: &'f str) -> Result<Reserved<'f>, ToolError> {
        self.hold(name, MOST)
    }

    /// Holds a name that no fork has, so that none gets it until this is dropped.
    pub(crate) fn keep_free<'f>(&'f self, name: &'f str) -> Result<Reserved<'f>, ToolError> {
        self.hold(name, usize::MAX)
    }

    fn hold<'f>(&'f self, name: &'f str, most: usize) -> Result<Reserved<'f>, ToolError> {
        let mut forks = self.lock();
        if forks.contains_key(name) {
            return Err(ToolError::new(
                ErrorKind::AlreadyExists,
                format!("There is a fork `{name}` already; choose another name."),
            ));
        }
        if forks.len() >= most {
            return Err(ToolError::new(
                ErrorKind::TooLarge,
                format!("There are {most} forks already; remove one with fork and remove first."),
            ));
        }
        forks.insert(name.to_owned(), None);
        Ok(Reserved { forks: self, name })
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), ToolError> {
        let mut forks = self.lock();
        let is_made = forks.get(name).is_some_and(Option::is_some);
        let removed = is_made.then(|| forks.remove(name));
        // The fork may be the last to hold much memory: no other caller has to wait while it is freed.
        drop(forks);
        removed.map(drop).ok_or_else(|| self.unknown(name))
    }

    /// Returns the files of a fork that a model named; a name that is not there is refused in words for it.
    pub fn find(&self, name: &str) -> Result<Workspace, ToolError> {
        self.get(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names = self.names();
        let shown = unknown_name::shorten_name(name);
        if self.elsewhere(name).is_ok_and(|found| found.is_some()) {
            return ToolError::new(
                ErrorKind::NotFound,
                format!(
                    "No call made the fork `{shown}`, but a person did or an earlier server kept it: look at it \
                     with diff and `to`, bring it in with merge, or make a fork of it with fork and `at`."
                ),
            );
        }
        let hint = match (nearest(name, names.iter().map(String::as_str)), names.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, true) => "make one with fork.".to_owned(),
            (None, false) => format!("the forks are {}.", names.join(", ")),
        };
        ToolError::new(ErrorKind::NotFound, format!("There is no fork `{shown}`; {hint}"))
    }

    fn lock(&self) -> MutexGuard<'_, Named> {
        lock(&self.made)
    }
}

impl fmt::Debug for Forks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// A reserved name, which is free again if no fork gets it.
pub(crate) struct Reserved<'f> {
    forks: &'f Forks,
    name: &'f str,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut forks = self.forks.lock();
        if forks.get(self.name).is_some_and(Option::is_none) {
            forks.remove(self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn make() -> Result<Workspace, ToolError> {
        Ok(Workspace::memory())
    }

    #[test]
    fn a_fork_that_takes_long_to_make_delays_no_other_call() {
        let forks = Forks::default();
        forks.add("there", make).unwrap();
        let ((begun, has_begun), (go_on, may_go_on)) = (mpsc::channel(), mpsc::channel::<()>());
        thread::scope(|scope| {
            let slow = forks.clone();
            let slow = scope.spawn(move || {
                slow.add("slow", || {
                    begun.send(()).unwrap();
                    may_go_on.recv().unwrap();
                    make()
                })
            });
            has_begun.recv().unwrap();
            assert_eq!(forks.names(), ["there"]);
            assert!(forks.get("there").is_some() && forks.get("slow").is_none());
            forks.add("quick", make).unwrap();
            forks.remove("there").unwrap();
            assert_eq!(forks.remove("slow").unwrap_err().kind(), ErrorKind::NotFound);
            let twice = forks.add("slow", make).unwrap_err();
            assert_eq!(twice.kind(), ErrorKind::AlreadyExists, "its name is taken already");
            go_on.send(()).unwrap();
            slow.join().unwrap().unwrap();
        });
        assert_eq!(forks.names(), ["quick", "slow"]);
    }

    #[test]
    fn the_name_of_a_fork_that_could_not_be_made_is_free() {
        let forks = Forks::default();
        let fail = || Err(ToolError::new(ErrorKind::NoSpace, "The disk is full."));
        assert_eq!(forks.add("attempt", fail).unwrap_err().kind(), ErrorKind::NoSpace);
        let panic = AssertUnwindSafe(|| forks.add("attempt", || panic!("a bug")));
        assert!(catch_unwind(panic).is_err());
        forks.add("attempt", make).unwrap();
    }

    #[test]
    fn forks_that_are_being_made_count() {
        let forks = Forks::default();
        for number in 1..MOST {
            forks.add(&number.to_string(), make).unwrap();
        }
        let last = forks.add("last", || {
            assert_eq!(forks.add("one more", make).unwrap_err().kind(), ErrorKind::TooLarge);
            make()
        });
        last.unwrap();
    }
}
