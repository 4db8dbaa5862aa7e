//! Sections that own a workspace.

use serde_json::json;
use wink_agent::prompt::{PromptError, PromptTemplate, Section, SectionOptions, WorkspaceSection};
use wink_agent::session::{Session, ToolInvoked, VirtualFileSystem};
use wink_agent::{Effect, Tool, ToolContext, ToolResult, Toolset};
use wink_fs::{ErrorKind, HostMount, tree_hash};

use crate::prompt::scene::{Backend, Project, call, empty, listing, on_each_backend, paths};

on_each_backend!(
    it_starts_empty_and_is_made_when_it_is_first_used,
    from_an_empty_start_each_call_shows_in_the_session,
    removing_a_directory_takes_all_below_it_and_nothing_beside_it,
    a_prompt_and_its_section_share_one_filesystem_that_is_filled_from_the_host,
    the_prompts_filesystem_is_that_of_its_first_workspace_section,
    a_tool_without_files_of_its_own_gets_the_first_ones,
    a_context_of_another_session_is_refused_and_the_files_are_untouched,
    a_prompt_for_another_session_cannot_be_made,
    no_tool_of_a_prompt_takes_a_context_of_another_session,
    files_of_one_session_are_no_context_for_another,
    what_was_read_in_one_turn_may_be_overwritten_in_the_next,
);

fn it_starts_empty_and_is_made_when_it_is_first_used(backend: Backend) {
    let session = Session::new();
    let owner = empty(backend, &session);
    owner.prompt(&session).render().unwrap();
    assert!(session.query::<VirtualFileSystem>().unwrap().is_empty());
    let listed = owner.call(&session, "ls", json!({}));
    assert!(listed.message.starts_with("The directory . is empty."), "{}", listed.message);
    assert_eq!(listing(&session), []);
}

fn from_an_empty_start_each_call_shows_in_the_session(backend: Backend) {
    let (session, project) = (Session::new(), Project::new(&[("docs/guide.md", "# Guide\n")]));
    let owner = backend.owner(&session, project.mounting([HostMount::new("docs")]));
    let done = |name: &str, arguments| {
        let result = owner.call(&session, name, arguments);
        assert!(result.ok(), "{name}: {}", result.message);
        listing(&session)
    };
    let guide = vec![("docs/guide.md".to_owned(), 1)];
    let notes = |version| [guide.clone(), vec![("notes.txt".to_owned(), version)]].concat();
    assert_eq!(done("ls", json!({"path": "docs"})), guide);
    assert_eq!(done("read_file", json!({"path": "docs/guide.md"})), guide);
    assert_eq!(done("write_file", json!({"path": "notes.txt", "content": "one\n"})), notes(1));
    let edit = json!({"path": "notes.txt", "old_string": "one", "new_string": "two"});
    assert_eq!(done("edit_file", edit), notes(2));
    let append = json!({"path": "notes.txt", "content": "three\n", "mode": "append"});
    assert_eq!(done("write_file", append), notes(3));
    assert_eq!(done("grep", json!({"pattern": "two"})), notes(3));
    assert_eq!(done("rm", json!({"path": "docs"})), notes(3)[1..]);
    assert_eq!(owner.workspace().read("notes.txt").unwrap().content, "two\nthree\n");
    assert_eq!(project.files.read("docs/guide.md").unwrap().content, "# Guide\n");
    assert_eq!(session.query::<ToolInvoked>().unwrap().len(), 7);
}

fn removing_a_directory_takes_all_below_it_and_nothing_beside_it(backend: Backend) {
    let session = Session::new();
    let owner = empty(backend, &session);
    for path in ["src/a.py", "src/deep/b.py", "src-old/a.py", "src.txt", "other/src/a.py"] {
        assert!(owner.call(&session, "write_file", json!({"path": path, "content": ""})).ok());
    }
    assert!(owner.call(&session, "rm", json!({"path": "src"})).ok());
    let left = ["other/src/a.py", "src-old/a.py", "src.txt"];
    assert_eq!(paths(&owner.workspace()), left);
    assert_eq!(listing(&session), left.map(|path| (path.to_owned(), 1)));
}

fn a_prompt_and_its_section_share_one_filesystem_that_is_filled_from_the_host(backend: Backend) {
    let (session, project) = (
        Session::new(),
        Project::new(&[
            ("src/main.py", "pass"),
            ("src/x.c", ""),
            ("docs/a.md", ""),
            ("docs/b", ""),
        ]),
    );
    let src = HostMount::new("src/").include("*.py");
    let options = project.mounting([src, HostMount::new("docs/").include("*.md")]);
    let owner = backend.owner(&session, options);
    let instructions = Section::new("Instructions", "instructions", "Edit files as requested.");
    let prompt = PromptTemplate::new("agents/coder", "edit-files")
        .unwrap()
        .section(instructions.unwrap())
        .section(owner.section())
        .prompt(&session)
        .unwrap();
    let files = prompt.filesystem().unwrap().unwrap();
    files.write("scratch/notes.txt", "Working notes...").unwrap();
    assert_eq!(paths(&owner.workspace()), ["docs/a.md", "scratch/notes.txt", "src/main.py"]);
    let read = call(&prompt.render().unwrap(), "read_file", json!({"path": "scratch/notes.txt"}));
    assert!(read.message.contains("Working notes..."), "{}", read.message);
}

fn the_prompts_filesystem_is_that_of_its_first_workspace_section(backend: Backend) {
    let session = Session::new();
    let (first, second) = (empty(backend, &session), empty(backend.other(), &session));
    first.workspace().write("first.txt", "").unwrap();
    second.workspace().write("second.txt", "").unwrap();
    let found = |enabled: bool| {
        let around = Section::new("Around", "around", "").unwrap();
        let template = PromptTemplate::new("a", "b").unwrap();
        let template = template
            .section(Section::new("No files", "none", "").unwrap())
            .section(around.child(first.section()).enabled(move |_| enabled))
            .section(second.section());
        paths(&template.prompt(&session).unwrap().filesystem().unwrap().unwrap())
    };
    assert_eq!(found(true), ["first.txt"]);
    assert_eq!(found(false), ["second.txt"]);
    let none = PromptTemplate::new("a", "b").unwrap().prompt(&session).unwrap();
    assert!(none.filesystem().unwrap().is_none());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// A tool that says which files it was given.
fn which(name: &'static str) -> Tool {
    Tool::new(name, "", Effect::Reads, |call, Nothing {}| {
        let names = call.tree().list(&call.path("")?)?;
        let names: Vec<_> = names.into_iter().map(|entry| entry.name.to_string()).collect();
        Ok(ToolResult::success(names.join(" "), json!({})))
    })
}

fn a_tool_without_files_of_its_own_gets_the_first_ones(backend: Backend) {
    let session = Session::new();
    let (first, second) = (empty(backend, &session), empty(backend.other(), &session));
    first.workspace().write("first", "").unwrap();
    let template = PromptTemplate::new("a", "b").unwrap().section(first.section());
    let apart = Section::new("Apart", "apart", "").unwrap().tools([which("which")]);
    let rendered = template.clone().section(apart).prompt(&session).unwrap().render().unwrap();
    assert_eq!(call(&rendered, "which", json!({})).message, "first");
    // A model could not tell which of two it calls.
    let both = template.section(second.section()).prompt(&session).unwrap().render();
    assert!(matches!(both, Err(PromptError::DuplicateTool { tool: "ls", .. })));
}

#[test]
fn a_tool_gets_the_files_of_its_own_section_or_of_the_nearest_around_it() {
    let session = Session::new();
    let first = empty(Backend::Memory, &session);
    first.workspace().write("first", "").unwrap();
    let own = WorkspaceSection::temporary(&session, SectionOptions::default()).without_tools();
    own.filesystem().unwrap().write("own", "").unwrap();
    let below = Section::new("Below", "below", "").unwrap().tools([which("below")]);
    let own = Section::from(&own).tools([which("own")]).child(below);
    let template = PromptTemplate::new("a", "b").unwrap().section(first.section()).section(own);
    let rendered = template.prompt(&session).unwrap().render().unwrap();
    assert_eq!(call(&rendered, "own", json!({})).message, "own");
    assert_eq!(call(&rendered, "below", json!({})).message, "own");
    assert!(call(&rendered, "ls", json!({})).message.contains("first"));
}

fn a_context_of_another_session_is_refused_and_the_files_are_untouched(backend: Backend) {
    let (session, other) = (Session::new(), Session::new());
    let owner = empty(backend, &session);
    owner.workspace().write("a.txt", "one").unwrap();
    let before = tree_hash(&*owner.workspace().tree()).unwrap();
    let rendered = owner.prompt(&session).render().unwrap();
    let strangers = [
        ToolContext::over(&owner.workspace()).session(&other),
        ToolContext::over(&owner.workspace()),
        owner.files().context().unwrap().session(&session.child()),
    ];
    for offered in &rendered.tools {
        for context in &strangers {
            let result = offered.tool.call(context, json!({"path": "a.txt", "content": "two"}));
            assert_eq!(result.error, Some(ErrorKind::PermissionDenied), "{}", result.message);
            assert!(result.message.contains("belongs to another session"), "{}", result.message);
        }
    }
    assert_eq!(tree_hash(&*owner.workspace().tree()).unwrap(), before);
    assert_eq!(session.query::<ToolInvoked>().unwrap().len(), 0);
    assert!(call(&rendered, "rm", json!({"path": "a.txt"})).ok());
}

/// Only the tools that were added to a workspace section itself refused.
fn no_tool_of_a_prompt_takes_a_context_of_another_session(backend: Backend) {
    let (session, other) = (Session::new(), Session::new());
    let owner = empty(backend, &session);
    let below = Section::new("Below", "below", "").unwrap().tools([which("below")]);
    let apart = Section::new("Apart", "apart", "").unwrap().tools([which("apart")]);
    let template = PromptTemplate::new("a", "b").unwrap();
    let template = template.section(owner.section().child(below)).section(apart);
    let rendered = template.prompt(&session).unwrap().render().unwrap();
    for name in ["below", "apart"] {
        let offered = rendered.tool(name).unwrap();
        let stranger = ToolContext::over(&owner.workspace()).session(&other);
        let refused = offered.tool.call(&stranger, json!({}));
        assert!(refused.message.contains("belongs to another session"), "{}", refused.message);
        assert!(call(&rendered, name, json!({})).ok());
    }
}

/// Once, no check compared the session of the calls with that of the files.
fn files_of_one_session_are_no_context_for_another(backend: Backend) {
    let (session, other) = (Session::new(), Session::new());
    let owner = empty(backend, &session);
    let mut context = owner.files().context().unwrap();
    context.session = Some(other.clone());
    let write = json!({"path": "a.txt", "content": ""});
    let refused = wink_agent::call(&context, "write_file", write);
    assert_eq!(refused.error, Some(ErrorKind::PermissionDenied), "{}", refused.message);
    assert!(!owner.workspace().exists("a.txt"));
    assert_eq!(other.query::<ToolInvoked>().unwrap().len(), 1, "it is written down who tried");
}

fn a_prompt_for_another_session_cannot_be_made(backend: Backend) {
    let owner = empty(backend, &Session::new());
    let template = PromptTemplate::new("a", "b").unwrap().section(owner.section());
    let error = template.prompt(&Session::new()).unwrap_err();
    assert!(matches!(error, PromptError::AnotherSession { .. }), "{error}");
}

fn what_was_read_in_one_turn_may_be_overwritten_in_the_next(backend: Backend) {
    let session = Session::new();
    let owner = empty(backend, &session);
    owner.workspace().write("a.txt", "one").unwrap();
    let overwrite = || owner.call(&session, "write_file", json!({"path": "a.txt", "content": "2"}));
    assert_eq!(overwrite().code(), Some("conflict"));
    assert!(owner.call(&session, "read_file", json!({"path": "a.txt"})).ok());
    assert!(overwrite().ok());
}

#[test]
fn a_section_offers_the_table_and_what_the_program_adds() {
    let session = Session::new();
    let section = empty(Backend::Memory, &session).section().tools([which("which")]);
    let prompt = PromptTemplate::new("a", "b").unwrap().section(section).prompt(&session).unwrap();
    let rendered = prompt.render().unwrap();
    let offered: Vec<_> = rendered.tools.iter().map(|offered| offered.tool.name).collect();
    let table = Toolset::FILES.tools().map(|tool| tool.name);
    assert_eq!(offered, table.chain(["which"]).collect::<Vec<_>>());
}

#[test]
fn a_section_that_is_not_enabled_makes_no_workspace() {
    let session = Session::new();
    let options = SectionOptions::default().mount(HostMount::new("/not/allowed"));
    let section = Backend::Memory.owner(&session, options).section().enabled(|_| false);
    let prompt = PromptTemplate::new("a", "b").unwrap().section(section).prompt(&session).unwrap();
    assert_eq!(prompt.render().unwrap().text, "");
    assert!(prompt.filesystem().unwrap().is_none());
}
