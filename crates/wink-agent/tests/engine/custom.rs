//! Tools that a program adds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use wink_agent::{Effect, Tool, ToolContext, ToolResult};

use crate::scene::on_each_backend;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Params {
    /// How often.
    #[schemars(range(min = 1, max = 10))]
    times: u64,
}

#[test]
fn a_custom_tool_has_state_a_schema_and_forgiving_arguments_like_ours() {
    on_each_backend(|files| {
        let rung = Arc::new(AtomicUsize::new(0));
        let bell = rung.clone();
        let tool = Tool::new("ring", "Rings.", Effect::Reads, move |_, params: Params| {
            bell.fetch_add(params.times as usize, Ordering::Relaxed);
            Ok(ToolResult::success("Rung.".to_owned(), json!({"times": params.times})))
        })
        .title("Ring the bell");
        assert_eq!(tool.input_schema()["properties"]["times"]["type"], "integer");
        let context = ToolContext::over(files);
        assert!(tool.call(&context, json!({"times": "3"})).ok());
        let wrong = tool.call(&context, json!({"time": 3}));
        assert!(wrong.message.contains("did you mean `times`"), "{}", wrong.message);
        assert_eq!(rung.load(Ordering::Relaxed), 3);
    });
}
