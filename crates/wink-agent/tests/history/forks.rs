//! Forks as a program sees them.

use serde_json::json;
use wink_agent::ToolContext;

use crate::scene::{call, done, hash, on_each_backend};

#[test]
fn a_fork_of_a_snapshot_has_its_files_and_leaves_these_alone() {
    on_each_backend(|files| {
        files.write("a.txt", "old").unwrap();
        files.snapshot("old").unwrap();
        files.write("a.txt", "new").unwrap();
        let (context, before) = (ToolContext::over(files), hash(files));
        done(&context, "fork", json!({"name": "from-old", "at": "old"}));
        let fork = context.clone().forks.get("from-old").unwrap();
        assert_eq!(fork.read("a.txt").unwrap().content, "old");
        let inside = ToolContext::over(&fork);
        done(&inside, "write_file", json!({"path": "b.txt", "content": "b"}));
        assert_eq!(hash(files), before);
        done(&context, "merge", json!({"name": "from-old"}));
        assert_eq!(files.read("a.txt").unwrap().content, "new");
        assert_eq!(files.read("b.txt").unwrap().content, "b");
        done(&context, "undo", json!({}));
        assert_eq!(hash(files), before);
    });
}

#[test]
fn there_are_never_too_many_forks() {
    let files = wink_fs::Workspace::memory();
    let context = ToolContext::over(&files);
    for n in 0..64 {
        done(&context, "fork", json!({"name": format!("f{n}")}));
    }
    let over = call(&context, "fork", json!({"name": "one-more"}));
    assert_eq!(over.code(), Some("too_large"), "{}", over.message);
    done(&context, "fork", json!({"name": "f0", "remove": true}));
    done(&context, "fork", json!({"name": "one-more"}));
    assert_eq!(context.forks.names().len(), 64);
}
