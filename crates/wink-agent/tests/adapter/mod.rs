//! The tool loop: what a model is asked with, what its calls do, and how it ends.

mod answers;
mod bounds;
mod failing;
mod parallel;
mod turns;

use serde_json::Value;
use wink_agent::ToolResult;
use wink_agent::adapter::{
    Adapter, AdapterOptions, Conversation, Finished, Interrupted, Message, ScriptedModel,
    ToolAnswer,
};
use wink_agent::prompt::{Prompt, SectionOptions};
use wink_agent::session::{Session, ToolInvoked};

use crate::prompt::scene::{Backend, Owner};

/// A session with an empty workspace and a prompt about it.
struct Scene {
    session: Session,
    owner: Owner,
    prompt: Prompt,
}

impl Scene {
    fn new(backend: Backend) -> Self {
        let session = Session::new();
        let owner = backend.owner(&session, SectionOptions::default());
        let prompt = owner.prompt(&session);
        Self { session, owner, prompt }
    }

    fn run(&self, model: &mut ScriptedModel) -> Finished {
        self.run_with(AdapterOptions::default(), model).unwrap()
    }

    fn run_with(
        &self,
        options: AdapterOptions,
        model: &mut ScriptedModel,
    ) -> Result<Finished, Interrupted> {
        Adapter::new(&self.prompt).options(options).run(model, Conversation::of("Go."))
    }

    /// Returns the turn, id, tool and success of each call that was written down.
    fn calls(&self) -> Vec<(u64, String, String, bool)> {
        let calls = self.session.query::<ToolInvoked>().unwrap();
        let call = |call: &std::sync::Arc<ToolInvoked>| {
            (call.turn, call.call_id.clone(), call.tool.clone(), call.success)
        };
        calls.all().map(call).collect()
    }
}

/// Returns all answers of a conversation, turn by turn.
fn answers(conversation: &Conversation) -> Vec<&ToolAnswer> {
    let of_turn = conversation.messages().iter().filter_map(|message| match message {
        Message::Tools(answers) => Some(answers),
        _ => None,
    });
    of_turn.flatten().collect()
}

/// Makes a write of a path that has its own name as content.
fn write(path: &str) -> Value {
    serde_json::json!({"path": path, "content": path})
}

fn succeeded(text: &str) -> ToolResult {
    ToolResult::success(text.to_owned(), Value::Null)
}
