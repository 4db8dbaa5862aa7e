//! Sections that own a workspace.

use serde_json::json;
use wink_agent::prompt::{PromptError, PromptTemplate, Section, SectionOptions, WorkspaceSection};
use wink_agent::session::{Session, ToolInvoked, VirtualFileSystem, load_session_tree};
use wink_agent::{Effect, Tool, ToolContext, ToolResult, find};
use wink_fs::{ErrorKind, HostMount, Workspace, tree_hash};

use crate::scene::{Backend, Project, call, listing, on_each_backend, paths};

on_each_backend!(
    it_starts_empty_and_is_made_when_it_is_first_used,
    from_an_empty_start_each_call_shows_in_the_session,
    the_prompts_filesystem_is_that_of_its_first_workspace_section,
    a_tool_without_files_of_its_own_gets_the_first_ones,
    a_context_of_another_session_is_refused_and_the_files_are_untouched,
    a_prompt_for_another_session_cannot_be_made,
    a_reset_of_the_section_or_the_session_gives_a_fresh_workspace_with_the_mounts,
    named_snapshots_bring_the_files_back,
    files_and_session_go_back_together_under_the_sections_key,
    a_dump_resumes_on_the_other_backend_with_the_same_listing,
    what_was_read_in_one_turn_may_be_overwritten_in_the_next,
);

fn empty(backend: Backend, session: &Session) -> crate::scene::Owner {
    backend.owner(session, SectionOptions::default())
}

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

fn a_prompt_for_another_session_cannot_be_made(backend: Backend) {
    let owner = empty(backend, &Session::new());
    let template = PromptTemplate::new("a", "b").unwrap().section(owner.section());
    let error = template.prompt(&Session::new()).unwrap_err();
    assert!(matches!(error, PromptError::AnotherSession { .. }), "{error}");
}

fn a_reset_of_the_section_or_the_session_gives_a_fresh_workspace_with_the_mounts(backend: Backend) {
    let (session, project) = (Session::new(), Project::new(&[("docs/guide.md", "one")]));
    let owner = backend.owner(&session, project.mounting([HostMount::new("docs")]));
    let reset_section = || owner.reset().unwrap();
    let reset_session = || drop(session.reset());
    for (reset, content) in [(&reset_section as &dyn Fn(), "two"), (&reset_session, "three")] {
        let write = json!({"path": "mine.txt", "content": "mine"});
        assert!(owner.call(&session, "write_file", write).ok());
        assert_eq!(listing(&session).len(), 2);
        let old = owner.workspace();
        project.files.write("docs/guide.md", content).unwrap();
        reset();
        assert_eq!(listing(&session), []);
        assert_eq!(owner.workspace().read("docs/guide.md").unwrap().content, content);
        assert_eq!(listing(&session), [("docs/guide.md".to_owned(), 1)]);
        assert_eq!(paths(&owner.workspace()), ["docs/guide.md"]);
        assert!(old.is_file("mine.txt"), "a handle to the old one still works");
    }
}

fn named_snapshots_bring_the_files_back(backend: Backend) {
    let place = tempfile::tempdir().unwrap();
    let options = SectionOptions::default().snapshot_dir(place.path().join("archives"));
    let owner = backend.owner(&Session::new(), options);
    let (snapshots, files) = (owner.snapshots().unwrap(), owner.workspace());
    for version in ["v1", "v2"] {
        files.write("file.txt", version).unwrap();
        snapshots.snapshot(version).unwrap();
    }
    files.write("file.txt", "v3").unwrap();
    for version in ["v1", "v2"] {
        assert_eq!(snapshots.rollback(version).unwrap(), 1);
        assert_eq!(files.read("file.txt").unwrap().content, version);
    }
    let other = empty(backend.other(), &Session::new());
    let archive = snapshots.get("v1").unwrap().archive_path;
    assert_eq!(other.snapshots().unwrap().restore(archive).unwrap(), 1);
    assert_eq!(other.workspace().read("file.txt").unwrap().content, "v1");
}

fn files_and_session_go_back_together_under_the_sections_key(backend: Backend) {
    let session = Session::new();
    let owner = empty(backend, &session);
    owner.workspace().write("code.py", "v1").unwrap();
    let taken = owner.files().take("checkpoint").unwrap();
    let key = &taken.session.files[0].filesystem_key;
    assert_eq!(key, owner.section().key());
    let overwrite = json!({"path": "other.py", "content": "v2"});
    assert!(owner.call(&session, "write_file", overwrite).ok());
    owner.files().go_back("checkpoint").unwrap();
    assert_eq!(listing(&session), [("code.py".to_owned(), 1)]);
    assert_eq!(paths(&owner.workspace()), ["code.py"]);
    // What was called stays called.
    assert_eq!(session.query::<ToolInvoked>().unwrap().len(), 1);
}

fn a_dump_resumes_on_the_other_backend_with_the_same_listing(backend: Backend) {
    let (session, place) = (Session::new(), tempfile::tempdir().unwrap());
    let owner = empty(backend, &session);
    for content in ["one", "two"] {
        let write = json!({"path": "a.txt", "content": content});
        assert!(owner.call(&session, "write_file", write).ok());
    }
    let dumped = owner.files().dump(place.path()).unwrap();

    let resumed = load_session_tree(&dumped.session).unwrap();
    let there = empty(backend.other(), &resumed);
    there.files().resume(&dumped.session).unwrap();
    assert_eq!(there.workspace().read("a.txt").unwrap().content, "two");
    assert_eq!(listing(&resumed), [("a.txt".to_owned(), 2)]);
    let edit = json!({"path": "a.txt", "old_string": "two", "new_string": "three"});
    assert!(there.call(&resumed, "edit_file", edit).ok());
    assert_eq!(listing(&resumed), [("a.txt".to_owned(), 3)]);
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
fn a_harness_with_its_own_tools_works_on_the_disk_and_the_session_learns_of_it() {
    let session = Session::new();
    let native = WorkspaceSection::temporary(&session, SectionOptions::default()).without_tools();
    let prompt = PromptTemplate::new("a", "b").unwrap().section(&native).prompt(&session).unwrap();
    assert!(prompt.render().unwrap().tools.is_empty());
    let harness = Workspace::host(native.root().unwrap()).unwrap();
    harness.write("by-native-tool.txt", "one").unwrap();
    native.files().rescan().unwrap();
    assert_eq!(listing(&session), [("by-native-tool.txt".to_owned(), 1)]);
    native.files().take("one").unwrap();
    harness.write("by-native-tool.txt", "two!").unwrap();
    native.files().rescan().unwrap();
    assert_eq!(listing(&session), [("by-native-tool.txt".to_owned(), 2)]);
    native.files().go_back("one").unwrap();
    assert_eq!(harness.read("by-native-tool.txt").unwrap().content, "one");
}

#[test]
fn a_temporary_directory_goes_with_the_last_handle_and_one_that_was_there_stays() {
    let session = Session::new();
    let temporary = WorkspaceSection::temporary(&session, SectionOptions::default());
    let (handle, root) = (temporary.filesystem().unwrap(), temporary.root().unwrap());
    drop(temporary);
    handle.write("a.txt", "").unwrap();
    drop(handle);
    assert_eq!(Workspace::host(&root).unwrap_err().kind(), ErrorKind::NotFound);

    let project = Project::new(&[("a.txt", "theirs")]);
    let root = project.directory.path();
    let over = WorkspaceSection::over(&session, root, SectionOptions::default()).unwrap();
    over.filesystem().unwrap().write("b.txt", "ours").unwrap();
    over.reset().unwrap();
    assert_eq!(paths(&over.filesystem().unwrap()), ["a.txt", "b.txt"]);
    drop(over);
    assert_eq!(paths(&project.files), ["a.txt", "b.txt"]);
}

#[test]
fn every_tool_a_section_offers_is_in_the_table() {
    let session = Session::new();
    let rendered = empty(Backend::Memory, &session).prompt(&session).render().unwrap();
    assert_eq!(rendered.tools.len(), 13);
    assert!(rendered.tools.iter().all(|offered| find(offered.tool.name).is_some()));
}
