//! What decides whether a section is enabled.

use std::any::Any;

use super::parameters::Parameters;
use crate::session::Session;

/// Shows a section what its prompt is rendered with.
///
/// ```
/// use wink_agent::prompt::{PromptTemplate, Section};
/// use wink_agent::session::{Session, ToolInvoked};
///
/// let first_turn_only = Section::new("Welcome", "welcome", "Look around first.")?
///     .enabled(|given| given.session().query::<ToolInvoked>().is_ok_and(|calls| calls.is_empty()));
/// let prompt = PromptTemplate::new("agents", "coder")?
///     .section(first_turn_only)
///     .prompt(&Session::new())?;
/// assert_eq!(prompt.render()?.text, "## 1. Welcome\n\nLook around first.\n");
/// # Ok::<(), wink_agent::prompt::PromptError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Given<'p> {
    pub(super) session: &'p Session,
    pub(super) parameters: &'p Parameters,
}

impl<'p> Given<'p> {
    /// Returns the session that the prompt is for.
    pub fn session(&self) -> &'p Session {
        self.session
    }

    /// Returns the parameters of a type, if some were bound.
    pub fn get<P: Any>(&self) -> Option<&'p P> {
        self.parameters.get()
    }
}
