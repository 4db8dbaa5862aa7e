//! What a provider implements.

use std::error::Error;
use std::time::Instant;

use serde_json::Value;

use super::conversation::Message;
use crate::prompt::RenderedPrompt;

/// Why a model gave no answer, in the provider's own words.
pub type ModelError = Box<dyn Error + Send + Sync>;

/// Answers one turn of a conversation.
///
/// # Contract
///
/// - A turn without calls is the last one.
/// - A failed turn has changed nothing that the conversation knows of, so it can be asked for again.
/// - Calls of one turn happen at the same time: one that needs what another does belongs in a later turn.
///
/// ```
/// use wink_agent::adapter::{Model, ModelError, ModelRequest, ModelTurn};
///
/// struct Echo;
///
/// impl Model for Echo {
///     fn turn(&mut self, request: &ModelRequest<'_>) -> Result<ModelTurn, ModelError> {
///         Ok(ModelTurn::text(format!("{} tools are offered.", request.prompt.tools.len())))
///     }
/// }
/// ```
pub trait Model {
    /// Gives the next turn.
    fn turn(&mut self, request: &ModelRequest<'_>) -> Result<ModelTurn, ModelError>;
}

/// The request for one turn of a model.
///
/// ```
/// use wink_agent::adapter::{ModelRequest, ScriptedModel};
///
/// let model = ScriptedModel::new().answer(|request: &ModelRequest<'_>| {
///     Ok(wink_agent::adapter::ModelTurn::text(format!("This is turn {}.", request.turn)))
/// });
/// # let _ = model;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ModelRequest<'r> {
    /// The prompt as it is in this turn: the text, and the tools that may be called.
    pub prompt: &'r RenderedPrompt,
    /// What was said and done so far, oldest first.
    pub messages: &'r [Message],
    /// The number of the turn, from 1.
    pub turn: u64,
    /// When the work must end.
    pub deadline: Option<Instant>,
}

impl<'r> ModelRequest<'r> {
    pub(super) fn new(
        prompt: &'r RenderedPrompt,
        messages: &'r [Message],
        turn: u64,
        deadline: Option<Instant>,
    ) -> Self {
        Self { prompt, messages, turn, deadline }
    }
}

/// A model's turn: its text, and the tools it calls.
///
/// ```
/// use serde_json::json;
/// use wink_agent::adapter::ModelTurn;
///
/// let turn = ModelTurn::text("I look around.").call("call-1", "ls", json!({"path": "src"}));
/// assert_eq!(turn.calls[0].name, "ls");
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct ModelTurn {
    /// The text.
    pub text: String,
    /// The calls, in the order in which their answers are wanted.
    pub calls: Vec<ToolRequest>,
}

impl ModelTurn {
    /// Creates a turn with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }

    /// Adds a call.
    #[must_use]
    pub fn call(
        mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: Value,
    ) -> Self {
        self.calls.push(ToolRequest { id: id.into(), name: name.into(), arguments });
        self
    }
}

/// A model's call of a tool: its name and arguments.
///
/// ```
/// use serde_json::json;
/// use wink_agent::adapter::ModelTurn;
///
/// let call = ModelTurn::default().call("call-1", "ls", json!({})).calls.remove(0);
/// assert_eq!((call.id.as_str(), call.name.as_str()), ("call-1", "ls"));
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ToolRequest {
    /// The id by which the model knows the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model gave them.
    pub arguments: Value,
}
