//! One case: what it is called, what it asks for, how it is measured.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::context::Context;
use crate::stats::Samples;

/// A measurement with a name that stays the same for ever.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What is measured, in a few words.
    pub(crate) what: &'static str,
    /// The ratio (theirs / ours) that is wanted.
    pub(crate) at_least: f64,
    measure: fn(&Context) -> Result<Outcome>,
    child: Option<ChildPart>,
}

/// The part of a case that needs a process of its own.
type ChildPart = fn(&[String]) -> Result<Value>;

impl Case {
    pub(crate) const fn new(
        name: &'static str,
        what: &'static str,
        at_least: f64,
        measure: fn(&Context) -> Result<Outcome>,
    ) -> Self {
        Self { name, what, at_least, measure, child: None }
    }

    /// Gives the case a part that [`Context::ask_child`] runs in a fresh process.
    pub(crate) const fn with_child(mut self, child: ChildPart) -> Self {
        self.child = Some(child);
        self
    }

    pub(crate) fn measure(&self, context: &Context) -> Result<Outcome> {
        (self.measure)(context)
    }

    pub(crate) fn answer_as_child(&self, arguments: &[String]) -> Result<Value> {
        let child = self.child.with_context(|| format!("{} has no child", self.name))?;
        child(arguments)
    }
}

/// What a case found.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) peer: Peer,
    pub(crate) ours: Samples,
    /// The unit of both sides; less of it is better.
    pub(crate) unit: &'static str,
    /// Where it ran: the file system, and warm or cold.
    pub(crate) place: String,
    /// What a reader must know to judge the comparison.
    pub(crate) note: String,
}

/// What the measurement is held against.
#[derive(Debug)]
pub(crate) enum Peer {
    /// Something else that gave the same result.
    Measured { name: &'static str, command: String, samples: Samples },
    /// A number, in the case's unit.
    Budget(f64),
}

impl Peer {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Measured { name, .. } => name,
            Self::Budget(_) => "budget",
        }
    }

    pub(crate) fn value(&self) -> f64 {
        match self {
            Self::Measured { samples, .. } => samples.median(),
            Self::Budget(budget) => *budget,
        }
    }
}

impl Outcome {
    pub(crate) fn ratio(&self) -> f64 {
        self.peer.value() / self.ours.median()
    }
}
