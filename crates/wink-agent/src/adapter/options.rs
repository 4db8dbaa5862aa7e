//! The limits of a loop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::exec::Executor;
use crate::policy::PathRules;
use crate::tool::budget::Budget;

/// The limits and options of a loop.
///
/// ```
/// use wink_agent::Budget;
/// use wink_agent::adapter::AdapterOptions;
///
/// let options = AdapterOptions::default().max_turns(5).budget(Budget::calls(20));
/// assert_eq!(options.max_turns, 5);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdapterOptions {
    /// How many turns the model gets in one run.
    pub max_turns: u64,
    /// How many calls of one turn happen at the same time.
    pub threads: usize,
    /// When the loop ends.
    pub deadline: Option<Instant>,
    /// How many calls may be made.
    pub budget: Option<Budget>,
    /// Which paths may be seen and changed.
    pub rules: Arc<PathRules>,
    /// The executor of programs; without it the one of the section's own context, if any.
    pub executor: Option<Arc<dyn Executor>>,
    /// Set by the caller to cancel: running searches and programs are then ended, changes by unfinished calls are
    /// rolled back, and no turn begins.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Default for AdapterOptions {
    fn default() -> Self {
        Self {
            max_turns: 100,
            threads: 16,
            deadline: None,
            budget: None,
            rules: Arc::default(),
            executor: None,
            cancelled: None,
        }
    }
}

impl AdapterOptions {
    /// Sets how many turns the model gets in one run.
    #[must_use]
    pub fn max_turns(mut self, turns: u64) -> Self {
        self.max_turns = turns;
        self
    }

    /// Sets how many calls of one turn happen at the same time; there is always one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets when the loop ends: no turn begins then, and calls are refused.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how many calls may be made.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Sets the executor of programs.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Sets the flag by which the caller may cancel.
    #[must_use]
    pub fn cancelled(mut self, cancelled: Arc<AtomicBool>) -> Self {
        self.cancelled = Some(cancelled);
        self
    }

    /// Sets which paths may be seen and changed.
    #[must_use]
    pub fn rules(mut self, rules: PathRules) -> Self {
        self.rules = Arc::new(rules);
        self
    }
}
