//! Why a loop ended that should have gone on.

use std::error::Error as StdError;
use std::fmt;

use wink_fs::ErrorKind;

use super::conversation::Conversation;
use super::model::ModelError;
use crate::prompt::PromptError;

/// Says what ended a loop.
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
    /// Returns what kind of failure it is; the doors decide by it.
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

/// Holds what ended a loop, and all that was said and done until then.
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
        match &self.cause {
            AdapterError::Prompt(error) => Some(&**error),
            AdapterError::Model(error) => Some(&**error),
            AdapterError::ModelPanicked(_) => None,
        }
    }
}
