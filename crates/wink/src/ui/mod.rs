//! What people see: output, styles, progress, questions and notices.
//!
//! `output` is the only place that prints; `answer` holds what a command returns, as text and as JSON.

pub(crate) mod answer;
pub(crate) mod format;
pub(crate) mod input;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod prune_notice;
pub(crate) mod recovery_notice;
pub(crate) mod style;
pub(crate) mod terminal;
pub(crate) mod word_diff;
