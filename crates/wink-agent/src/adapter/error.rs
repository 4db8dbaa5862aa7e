//! Why a loop ended that should have gone on.

use std::error::Error as StdError;
use std::fmt;

use wink_fs::ErrorKind;

use super::conversation::Conversation;
use super::model::ModelError;
use crate::prompt::PromptError;

/// An error that ended a loop.
///
/// ```
/// use wink_agent::adapter::{Adapter, AdapterError, Conversation, ScriptedModel};
/// use wink_agent::prompt::PromptTemplate;
/// use wink_agent::session::Session;
///
/// let prompt = PromptTemplate::new("agents", "coder")?.prompt(&Session::new())?;
/// let mut model = ScriptedModel::new().fail("the provider is busy");
/// let interrupted = Adapter::new(&prompt).run(&mut model, Conversation::of("Hi.")).unwrap_err();
/// assert!(matches!(interrupted.cause, AdapterError::Model(_)));
/// # Ok::<(), wink_agent::prompt::PromptError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum AdapterError {
    /// The prompt could not be rendered.
    Prompt(Box<PromptError>),
    /// The model gave no answer.
    Model(ModelError),
    /// The code of the model panicked, with this message.
    ModelPanicked(String),
}

impl AdapterError {
    /// Returns the kind of failure, which callers map to an exit code or HTTP status.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Prompt(error) => error.kind(),
            Self::Model(_) => ErrorKind::Unavailable,
            Self::ModelPanicked(_) => ErrorKind::Io,
        }
    }
}

impl fmt::Display for AdapterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt(error) => write!(f, "{error}"),
            Self::Model(error) => write!(f, "the model gave no answer: {error}"),
            Self::ModelPanicked(message) => write!(f, "the code of the model panicked: {message}"),
        }
    }
}

// The messages contain the inner error, so the source is the inner error's own.
impl StdError for AdapterError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Prompt(error) => error.source(),
            Self::Model(error) => error.source(),
            Self::ModelPanicked(_) => None,
        }
    }
}

/// An interrupted loop: the error, and the conversation until then.
///
/// Each turn in the conversation has the answers to its calls, so that it can be continued.
///
/// ```
/// use wink_agent::adapter::{Adapter, Conversation, ScriptedModel};
/// use wink_agent::prompt::PromptTemplate;
/// use wink_agent::session::Session;
///
/// let prompt = PromptTemplate::new("agents", "coder")?.prompt(&Session::new())?;
/// let adapter = Adapter::new(&prompt);
/// let mut model = ScriptedModel::new().fail("the provider is busy").say("Hello.");
/// let interrupted = adapter.run(&mut model, Conversation::of("Hi.")).unwrap_err();
/// let finished = adapter.run(&mut model, interrupted.conversation)?;
/// assert_eq!(finished.text, "Hello.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Interrupted {
    /// What ended the loop.
    pub cause: AdapterError,
    /// What was said and done.
    pub conversation: Conversation,
}

impl Interrupted {
    pub(super) fn new(cause: AdapterError, conversation: Conversation) -> Self {
        Self { cause, conversation }
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turn = self.conversation.turns() + 1;
        write!(f, "turn {turn}: {}", self.cause)
    }
}

impl StdError for Interrupted {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.source()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use wink_fs::{Error, Operation};

    use super::*;
    use crate::session::SessionError;

    /// Writes an error as programs do: the message, then that of each source.
    fn chain(error: &dyn StdError) -> String {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            text += &format!(" <- {error}");
            source = error.source();
        }
        text
    }

    #[test]
    fn a_chain_of_causes_names_each_once() {
        let model = AdapterError::Model("the provider is busy".into());
        assert_eq!(chain(&model), "the model gave no answer: the provider is busy");
        let interrupted = Interrupted::new(model, Conversation::of("Hi."));
        assert_eq!(chain(&interrupted), "turn 1: the model gave no answer: the provider is busy");

        let denied = || Error::system(Operation::Read, io::Error::other("the disk is gone"));
        let expected = format!("{} <- the disk is gone", denied());
        assert_eq!(chain(&SessionError::File(denied())), expected);
        let error = SessionError::File(denied());
        let prompt = PromptError::Files { section: "task".into(), error };
        assert_eq!(
            chain(&AdapterError::Prompt(Box::new(prompt))),
            format!("the files of the section `task` cannot be made: {expected}")
        );
    }
}
