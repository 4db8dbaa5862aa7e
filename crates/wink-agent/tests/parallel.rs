//! What two agents do to one directory at the same time.

use std::sync::Barrier;

use serde_json::json;
use wink_agent::{ToolContext, ToolResult, call};
use wink_fs::Workspace;

/// Once, both writers of one new file were told that it was written, and one of them was wrong.
#[test]
fn of_two_writers_of_a_new_file_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (open(&directory), open(&directory));
    for round in 0..500 {
        let barrier = Barrier::new(2);
        let write = |files: &Workspace, content: &str| -> ToolResult {
            barrier.wait();
            call(
                &ToolContext::over(files),
                "write_file",
                json!({"path": format!("f{round}"), "content": content}),
            )
        };
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| write(&a, "a"));
            let second = write(&b, "b");
            (first.join().unwrap(), second)
        });
        assert_ne!(first.ok(), second.ok(), "{} / {}", first.message, second.message);
    }
}

fn open(directory: &tempfile::TempDir) -> Workspace {
    Workspace::host(directory.path()).unwrap()
}
