//! Deadlines, budgets, and contexts that lack something.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use wink_agent::{Budget, Effect, Tool, ToolContext, ToolResult, Toolset, call};
use wink_fs::TreePath;
use wink_fs::ops::{self, WriteOptions};

use crate::engine::scene::{done, hash, on_each_backend, refused};

#[test]
fn without_files_every_tool_says_so() {
    let context = ToolContext::new();
    for tool in Toolset::ALL.tools() {
        let result = tool.call(&context, json!({}));
        assert_eq!(result.message, "No filesystem available in this context.", "{}", tool.name);
        assert_eq!(result.code(), Some("unavailable"));
    }
}

#[test]
fn after_the_deadline_nothing_begins() {
    on_each_backend(|files| {
        let before = hash(files);
        let context = ToolContext::over(files).deadline(Instant::now());
        let late = refused(&context, "write_file", json!({"path": "a", "content": "a"}));
        assert_eq!(late, "deadline");
        assert_eq!(hash(files), before);
        let soon = ToolContext::over(files).deadline(Instant::now() + Duration::from_secs(60));
        done(&soon, "write_file", json!({"path": "a", "content": "a"}));
    });
}

#[test]
fn a_writer_is_waited_for_until_the_deadline_and_no_longer() {
    on_each_backend(|files| {
        let deadline = Instant::now() + Duration::from_millis(80);
        let context = ToolContext::over(files).deadline(deadline);
        files
            .as_owner("busy", |_| {
                let code = refused(&context, "write_file", json!({"path": "a", "content": "a"}));
                assert_eq!(code, "deadline");
                Ok(())
            })
            .unwrap();
        assert!(Instant::now() >= deadline);
        assert!(!files.exists("a"));
    });
}

#[test]
fn a_budget_counts_every_call_of_all_who_share_it() {
    on_each_backend(|files| {
        let context = ToolContext::over(files).budget(Budget::calls(2));
        done(&context, "ls", json!({}));
        refused(&context.clone(), "read_file", json!({"path": "missing"}));
        let over = call(&context, "ls", json!({}));
        assert_eq!(over.message, "All 2 allowed calls are used up; finish with what you know.");
        assert_eq!(context.budget.as_ref().unwrap().left(), 0);
    });
}

#[test]
fn a_search_ends_when_it_is_cancelled() {
    on_each_backend(|files| {
        files.write("a.txt", "needle").unwrap();
        let given_up = Arc::new(AtomicBool::new(true));
        let mut context = ToolContext::over(files);
        context.cancelled = Some(given_up.clone());
        assert_eq!(refused(&context, "grep", json!({"pattern": "needle"})), "cancelled");
        given_up.store(false, Ordering::Relaxed);
        done(&context, "grep", json!({"pattern": "needle"}));
    });
}

#[test]
fn a_cancelled_call_is_rolled_back() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    on_each_backend(|files| {
        let before = hash(files);
        let given_up = Arc::new(AtomicBool::new(false));
        let context = ToolContext::over(files).cancelled(given_up.clone());
        let about = "Writes, and is given up while it does.";
        let tool = Tool::new("slow_write", about, Effect::Writes, move |call, _: Nothing| {
            call.change(|fs| -> wink_fs::Result<()> {
                let path = TreePath::parse("half.txt")?;
                ops::write(fs, &path, "half", &WriteOptions::default())?;
                given_up.store(true, Ordering::Relaxed);
                Ok(())
            })?;
            Ok(ToolResult::success("done".to_owned(), json!({})))
        });
        assert_eq!(tool.call(&context, json!({})).code(), Some("cancelled"));
        assert_eq!(hash(files), before);
        assert_eq!(refused(&context, "mkdir", json!({"path": "never"})), "cancelled");
        assert_eq!(hash(files), before);
    });
}

#[test]
fn the_call_of_an_unknown_tool_counts() {
    on_each_backend(|files| {
        let context = ToolContext::over(files).budget(Budget::calls(1));
        assert_eq!(refused(&context, "fly", json!({})), "invalid_argument");
        assert_eq!(refused(&context, "fly", json!({})), "deadline");
        assert_eq!(refused(&context, "ls", json!({})), "deadline");
    });
}
