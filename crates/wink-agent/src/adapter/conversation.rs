//! What was said and done.

use super::model::ModelTurn;
use crate::tool::result::ToolResult;

/// The messages between a program and a model; it can be continued at any time.
///
/// ```
/// use wink_agent::adapter::Conversation;
///
/// let conversation = Conversation::of("Fix the build.").say("It is urgent.");
/// assert_eq!((conversation.messages().len(), conversation.turns()), (2, 0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    messages: Vec<Message>,
    turns: u64,
}

impl Conversation {
    /// Begins a conversation with what the model is asked for.
    pub fn of(text: impl Into<String>) -> Self {
        Self::default().say(text)
    }

    /// Adds a message of the program, or of the person behind it.
    #[must_use]
    pub fn say(mut self, text: impl Into<String>) -> Self {
        self.messages.push(Message::User(text.into()));
        self
    }

    /// Returns the messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns how many turns the model has had.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Returns what the model said last.
    pub fn last_text(&self) -> &str {
        let texts = self.messages.iter().rev().filter_map(|message| match message {
            Message::Model(turn) => Some(turn.text.as_str()),
            _ => None,
        });
        texts.into_iter().next().unwrap_or_default()
    }

    /// Adds a turn of the model with the answers to all its calls.
    pub(super) fn add_turn(&mut self, turn: ModelTurn, answers: Vec<ToolAnswer>) {
        self.turns += 1;
        self.messages.push(Message::Model(turn));
        if !answers.is_empty() {
            self.messages.push(Message::Tools(answers));
        }
    }
}

/// A message of a conversation.
///
/// ```
/// use wink_agent::adapter::{Conversation, Message};
///
/// let conversation = Conversation::of("Hello.");
/// assert!(matches!(&conversation.messages()[0], Message::User(text) if text == "Hello."));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message {
    /// What the program said, or the person behind it.
    User(String),
    /// What the model said and called.
    Model(ModelTurn),
    /// The answers to the calls of the turn before, in their order.
    Tools(Vec<ToolAnswer>),
}

/// The answer to one call.
///
/// ```
/// use serde_json::json;
/// use wink_agent::adapter::{Adapter, Conversation, Message, ScriptedModel};
/// use wink_agent::prompt::PromptTemplate;
/// use wink_agent::session::Session;
///
/// let prompt = PromptTemplate::new("agents", "none")?.prompt(&Session::new())?;
/// let mut model = ScriptedModel::new().call("fly", json!({})).say("I cannot fly.");
/// let finished = Adapter::new(&prompt).run(&mut model, Conversation::of("Fly."))?;
/// let Message::Tools(answers) = &finished.conversation.messages()[2] else { panic!() };
/// assert_eq!(answers[0].result.message, "There is no tool `fly`; none is offered.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolAnswer {
    /// The id by which the model knows the call.
    pub call_id: String,
    /// The name of the tool, as the model gave it.
    pub name: String,
    /// What came out; its message is for the model, whether the call went well or not.
    pub result: ToolResult,
}
