//! The loop: a turn of the model, its calls, their answers, the next turn.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::conversation::{Conversation, ToolAnswer};
use super::error::{AdapterError, Interrupted};
use super::model::{Model, ModelRequest, ModelTurn, ToolRequest};
use super::options::AdapterOptions;
use super::parallel::in_order;
use crate::prompt::{OfferedTool, Prompt, PromptError, RenderedPrompt};
use crate::session::caught;
use crate::tool::context::ToolContext;
use crate::tool::engine;
use crate::tool::error::ToolError;
use crate::tool::result::ToolResult;
use crate::tool::table::find;
use crate::tool::unknown_name;

/// Runs a prompt with a model.
///
/// Every call is recorded in the session of the prompt, with its turn and its id. One that
/// fails goes back to the model as its message.
///
/// ```
/// use serde_json::json;
/// use wink_agent::adapter::{Adapter, AdapterOptions, Conversation, ScriptedModel, Stopped};
/// use wink_agent::prompt::{PromptTemplate, SectionOptions, VfsSection};
/// use wink_agent::session::Session;
///
/// let session = Session::new();
/// let vfs = VfsSection::new(&session, SectionOptions::default());
/// let prompt = PromptTemplate::new("agents", "coder")?.section(&vfs).prompt(&session)?;
/// let adapter = Adapter::new(&prompt).options(AdapterOptions::default().max_turns(2));
/// let mut model = (0..9).fold(ScriptedModel::new(), |model, _| model.call("ls", json!({})));
/// let finished = adapter.run(&mut model, Conversation::of("Look around."))?;
/// assert_eq!((finished.stopped, model.left()), (Stopped::TurnLimit, 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adapter {
    prompt: Prompt,
    options: AdapterOptions,
}

/// Why a loop ended.
///
/// ```
/// use std::time::Instant;
/// use wink_agent::adapter::{Adapter, AdapterOptions, Conversation, ScriptedModel, Stopped};
/// use wink_agent::prompt::PromptTemplate;
/// use wink_agent::session::Session;
///
/// let prompt = PromptTemplate::new("agents", "coder")?.prompt(&Session::new())?;
/// let adapter = Adapter::new(&prompt).options(AdapterOptions::default().deadline(Instant::now()));
/// let finished = adapter.run(&mut ScriptedModel::new().say("Hi."), Conversation::default())?;
/// assert_eq!((finished.stopped, finished.text.as_str()), (Stopped::Deadline, ""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// The model made no more calls.
    Done,
    /// The model used all its turns.
    TurnLimit,
    /// The deadline passed.
    Deadline,
    /// The caller cancelled.
    Cancelled,
    /// The model went on calling although its calls were used up.
    Budget,
}

/// The outcome of a loop.
///
/// ```
/// use wink_agent::adapter::{Adapter, Conversation, ScriptedModel};
/// use wink_agent::prompt::PromptTemplate;
/// use wink_agent::session::Session;
///
/// let prompt = PromptTemplate::new("agents", "coder")?.prompt(&Session::new())?;
/// let mut model = ScriptedModel::new().say("Hello.").say("Bye.");
/// let first = Adapter::new(&prompt).run(&mut model, Conversation::of("Hi."))?;
/// let second = Adapter::new(&prompt).run(&mut model, first.conversation.say("Bye."))?;
/// assert_eq!((second.text.as_str(), second.conversation.turns()), ("Bye.", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finished {
    /// The last text of the model.
    pub text: String,
    /// Why the loop ended.
    pub stopped: Stopped,
    /// What was said and done.
    pub conversation: Conversation,
}

impl Adapter {
    /// Creates an adapter with the default options.
    pub fn new(prompt: &Prompt) -> Self {
        Self { prompt: prompt.clone(), options: AdapterOptions::default() }
    }

    /// Sets the limits of the loop.
    #[must_use]
    pub fn options(mut self, options: AdapterOptions) -> Self {
        self.options = options;
        self
    }

    /// Runs the loop until the model is done, or until it may not go on.
    ///
    /// If the prompt cannot be rendered or the model fails, the conversation until then is
    /// in the error.
    pub fn run(
        &self,
        model: &mut dyn Model,
        mut conversation: Conversation,
    ) -> Result<Finished, Interrupted> {
        let last = conversation.turns().saturating_add(self.options.max_turns);
        self.prompt.look_at_native_files();
        let stopped = loop {
            if let Some(stopped) = self.may_not_go_on() {
                break stopped;
            }
            if conversation.turns() == last {
                break Stopped::TurnLimit;
            }
            match self.turn(model, &mut conversation) {
                Ok(None) => {}
                Ok(Some(stopped)) => break stopped,
                Err(cause) => return Err(Interrupted::new(cause, conversation)),
            }
        };
        let text = conversation.last_text().to_owned();
        Ok(Finished { text, stopped, conversation })
    }

    /// Returns why no turn may begin now, if so.
    fn may_not_go_on(&self) -> Option<Stopped> {
        let AdapterOptions { deadline, cancelled, .. } = &self.options;
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            Some(Stopped::Cancelled)
        } else {
            is_late().then_some(Stopped::Deadline)
        }
    }

    /// Runs one turn, and returns why the loop ends if it was the last.
    fn turn(
        &self,
        model: &mut dyn Model,
        conversation: &mut Conversation,
    ) -> Result<Option<Stopped>, AdapterError> {
        let failed = |error: PromptError| AdapterError::Prompt(Box::new(error));
        let prompt = Arc::new(self.prompt.render().map_err(failed)?);
        let number = conversation.turns() + 1;
        let was_used_up = self.options.budget.as_ref().is_some_and(|budget| budget.left() == 0);
        let turn = self.ask(model, &prompt, conversation, number)?;
        let answers = self.answer(&turn, &prompt, number);
        let is_done = turn.calls.is_empty();
        conversation.add_turn(turn, answers);
        self.prompt.look_at_native_files();
        Ok(match (is_done, was_used_up) {
            (true, _) => Some(Stopped::Done),
            (false, true) => Some(Stopped::Budget),
            (false, false) => None,
        })
    }

    fn ask(
        &self,
        model: &mut dyn Model,
        prompt: &RenderedPrompt,
        conversation: &Conversation,
        number: u64,
    ) -> Result<ModelTurn, AdapterError> {
        let deadline = self.options.deadline;
        let request = ModelRequest::new(prompt, conversation.messages(), number, deadline);
        let answered = caught(|| model.turn(&request)).map_err(AdapterError::ModelPanicked)?;
        answered.map_err(AdapterError::Model)
    }

    /// Makes all calls of a turn; returns their answers in order.
    fn answer(
        &self,
        turn: &ModelTurn,
        prompt: &Arc<RenderedPrompt>,
        number: u64,
    ) -> Vec<ToolAnswer> {
        in_order(&turn.calls, self.options.threads, |call| ToolAnswer {
            call_id: call.id.clone(),
            name: call.name.clone(),
            result: self.call(call, prompt, number),
        })
    }

    fn call(&self, call: &ToolRequest, prompt: &Arc<RenderedPrompt>, turn: u64) -> ToolResult {
        let own_name = || find(&call.name).and_then(|tool| prompt.tool(tool.name));
        let offered = prompt.tool(&call.name).or_else(own_name);
        let context = offered.map(OfferedTool::context);
        let arguments = call.arguments.clone();
        match (offered, context) {
            (Some(offered), Some(Ok(context))) => {
                offered.tool.call(&self.in_turn(context, call, prompt, turn), arguments)
            }
            (_, unavailable) => {
                let refusal = match unavailable {
                    Some(Err(error)) => no_files(&error),
                    _ => unknown_name::refusal(
                        &call.name,
                        prompt.tools.iter().map(|it| it.tool.name),
                    ),
                };
                let context = ToolContext::new().session(self.prompt.session());
                let context = self.in_turn(context, call, prompt, turn);
                engine::refuse(
                    &unknown_name::shorten_name(&call.name),
                    &context,
                    &arguments,
                    refusal,
                )
            }
        }
    }

    /// Adds the options and the turn to a context.
    fn in_turn(
        &self,
        mut context: ToolContext,
        call: &ToolRequest,
        prompt: &Arc<RenderedPrompt>,
        turn: u64,
    ) -> ToolContext {
        let AdapterOptions { deadline, budget, rules, executor, cancelled, .. } = &self.options;
        context.executor = executor.clone().or(context.executor);
        context.cancelled = cancelled.clone().or(context.cancelled);
        (context.deadline, context.budget) = (*deadline, budget.clone());
        (context.rules, context.turn) = (rules.clone(), turn);
        context.prompt = Some(prompt.clone());
        context.call_id = Some(call.id.clone()).filter(|id| !id.is_empty());
        context
    }
}

/// Returns the error for a model; the message of `error` is for the program.
fn no_files(error: &PromptError) -> ToolError {
    let message = "The files of this tool are not available now; go on without them.";
    ToolError::new(error.kind(), message)
}
