//! Which tools are offered.

use serde_json::json;
use wink_agent::{Family, TOOLS, ToolContext, Toolset};

#[test]
fn every_set_has_the_tools_of_its_families_and_no_others() {
    let names = |set: Toolset| set.tools().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(names(Toolset::FILES), TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>());
    assert_eq!(
        names(Toolset::HISTORY),
        ["snapshot", "history", "diff", "restore", "revert", "undo", "fork", "merge"]
    );
    for (name, set) in
        [("files", Toolset::FILES), ("history", Toolset::HISTORY), ("all", Toolset::ALL)]
    {
        assert_eq!(Toolset::named(name), Some(set));
    }
    assert_eq!(Toolset::named("everything"), None);
    assert!(TOOLS.iter().all(|tool| tool.family == Family::Files));
}

#[test]
fn a_tool_that_is_not_offered_is_not_there() {
    let files = wink_fs::Workspace::memory();
    files.write("a", "a").unwrap();
    let context = ToolContext::over(&files);
    for (set, tool) in [(Toolset::FILES, "undo"), (Toolset::HISTORY, "rm")] {
        let refused = set.call(&context, tool, json!({"path": "a"}));
        assert_eq!(refused.code(), Some("invalid_argument"));
        assert!(refused.message.starts_with(&format!("There is no tool `{tool}`")));
        assert!(files.is_file("a"));
    }
    assert!(wink_agent::find("undo").is_none());
}
