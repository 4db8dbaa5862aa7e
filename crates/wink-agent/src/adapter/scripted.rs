//! A model with prepared turns.

use std::collections::VecDeque;
use std::fmt;

use serde_json::Value;

use super::model::{Model, ModelError, ModelRequest, ModelTurn};

type Step = dyn FnOnce(&ModelRequest<'_>) -> Result<ModelTurn, ModelError> + Send;

/// Plays prepared turns, for tests and demonstrations.
///
/// The calls of turn 2 have the ids `call-2-1`, `call-2-2` and so on. A script that is at its end fails.
///
/// ```
/// use serde_json::json;
/// use wink_agent::adapter::ScriptedModel;
///
/// let model = ScriptedModel::new()
///     .call("ls", json!({}))
///     .calls([("read_file", json!({"path": "a"})), ("read_file", json!({"path": "b"}))])
///     .say("Done.");
/// assert_eq!(model.left(), 3);
/// ```
#[derive(Default)]
pub struct ScriptedModel(VecDeque<Box<Step>>);

impl ScriptedModel {
    /// Creates a model without turns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn with a text and no calls.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        let turn = ModelTurn::text(text);
        self.answer(move |_| Ok(turn))
    }

    /// Adds a turn with one call.
    #[must_use]
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.calls([(name, arguments)])
    }

    /// Adds a turn with calls that happen at the same time.
    #[must_use]
    pub fn calls<'n>(self, calls: impl IntoIterator<Item = (&'n str, Value)>) -> Self {
        let calls = calls.into_iter().map(|(name, arguments)| (name.to_owned(), arguments));
        let calls: Vec<_> = calls.collect();
        self.answer(move |request| {
            let calls = calls.into_iter().zip(1..);
            Ok(calls.fold(ModelTurn::default(), |turn, ((name, arguments), number)| {
                turn.call(format!("call-{}-{number}", request.turn), name, arguments)
            }))
        })
    }

    /// Adds a turn that fails.
    #[must_use]
    pub fn fail(self, why: impl Into<String>) -> Self {
        let why = why.into();
        self.answer(move |_| Err(why.into()))
    }

    /// Adds a turn that a function makes from the request.
    #[must_use]
    pub fn answer(
        mut self,
        answer: impl FnOnce(&ModelRequest<'_>) -> Result<ModelTurn, ModelError> + Send + 'static,
    ) -> Self {
        self.0.push_back(Box::new(answer));
        self
    }

    /// Returns how many turns are left.
    pub fn left(&self) -> usize {
        self.0.len()
    }
}

impl Model for ScriptedModel {
    fn turn(&mut self, request: &ModelRequest<'_>) -> Result<ModelTurn, ModelError> {
        let answer = self.0.pop_front().ok_or("the script has no more turns")?;
        answer(request)
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("left", &self.left()).finish()
    }
}
