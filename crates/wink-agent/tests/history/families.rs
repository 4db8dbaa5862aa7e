//! Which tools are offered.

use serde_json::json;
use wink_agent::{ToolContext, Toolset};
use wink_fs::Workspace;

#[test]
fn every_set_has_the_tools_of_its_families_and_no_others() {
    let names = |set: Toolset| set.tools().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(
        names(Toolset::FILES),
        [
            "ls",
            "read_file",
            "write_file",
            "edit_file",
            "multi_edit",
            "apply_patch",
            "mkdir",
            "mv",
            "rm",
            "glob",
            "grep",
            "export",
            "import"
        ]
    );
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
}

#[test]
fn no_tool_for_the_history_is_offered_where_none_is_kept() {
    let names = |files: &Workspace| {
        let context = ToolContext::over(files);
        Toolset::ALL.offered(&context).map(|tool| tool.name).collect::<Vec<_>>()
    };
    let place = tempfile::tempdir().unwrap();
    let files: Vec<_> = Toolset::FILES.tools().map(|tool| tool.name).collect();
    assert_eq!(names(&Workspace::host(place.path()).unwrap()), files);
    let history = Toolset::HISTORY.tools().map(|tool| tool.name);
    assert_eq!(names(&Workspace::memory()), files.into_iter().chain(history).collect::<Vec<_>>());
}

#[test]
fn a_tool_that_is_not_offered_is_not_there() {
    let files = Workspace::memory();
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
