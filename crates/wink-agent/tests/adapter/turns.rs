//! What a model is asked with, and what is written down of its calls.

use serde_json::json;
use wink_agent::adapter::{Adapter, Conversation, Message, ModelTurn, ScriptedModel, Stopped};
use wink_agent::prompt::{PromptTemplate, Section, SectionOptions, WorkspaceSection};
use wink_agent::session::{Session, ToolInvoked};
use wink_agent::{Effect, Tool};
use wink_fs::Workspace;

use crate::adapter::{Scene, answers, succeeded, write};
use crate::prompt::scene::{Backend, listing, on_each_backend};

on_each_backend!(
    every_call_is_written_down_with_its_turn_and_id,
    the_model_sees_its_prompt_its_calls_and_their_answers,
    a_conversation_goes_on_where_it_ended,
    a_tool_knows_the_prompt_the_session_the_files_and_the_turn,
);

fn every_call_is_written_down_with_its_turn_and_id(backend: Backend) {
    let scene = Scene::new(backend);
    let mut model = ScriptedModel::new()
        .calls([("write_file", write("a.txt")), ("write_file", write("b.txt"))])
        .call("read_file", json!({"path": "missing.txt"}))
        .call("list_directory", json!({}))
        .say("Done.");
    let finished = scene.run(&mut model);
    assert_eq!((finished.text.as_str(), finished.stopped), ("Done.", Stopped::Done));
    assert_eq!(finished.conversation.turns(), 4);
    let mut calls = scene.calls();
    calls.sort();
    let call = |turn, id: &str, tool: &str, ok| (turn, id.to_owned(), tool.to_owned(), ok);
    assert_eq!(
        calls,
        [
            call(1, "call-1-1", "write_file", true),
            call(1, "call-1-2", "write_file", true),
            call(2, "call-2-1", "read_file", false),
            call(3, "call-3-1", "ls", true),
        ]
    );
    assert_eq!(listing(&scene.session), [("a.txt".to_owned(), 1), ("b.txt".to_owned(), 1)]);
}

fn the_model_sees_its_prompt_its_calls_and_their_answers(backend: Backend) {
    let scene = Scene::new(backend);
    let mut model = ScriptedModel::new().call("write_file", write("a.txt")).answer(|request| {
        assert!(request.prompt.text.starts_with("## 1. ") && request.prompt.tool("ls").is_some());
        let [Message::User(asked), Message::Model(turn), Message::Tools(answers)] =
            request.messages
        else {
            panic!("{:?}", request.messages)
        };
        assert_eq!((asked.as_str(), turn.calls[0].name.as_str()), ("Go.", "write_file"));
        assert_eq!(answers[0].call_id, "call-1-1");
        let said = answers[0].result.message.lines().next().unwrap();
        Ok(ModelTurn::text(format!("{}: {said}", request.turn)))
    });
    assert_eq!(scene.run(&mut model).text, "2: Created a.txt with 5 bytes.");
}

fn a_conversation_goes_on_where_it_ended(backend: Backend) {
    let scene = Scene::new(backend);
    let mut model = ScriptedModel::new().say("Hello.").call("ls", json!({})).say("Empty.");
    let adapter = Adapter::new(&scene.prompt);
    let first = adapter.run(&mut model, Conversation::of("Hi.")).unwrap();
    let second = adapter.run(&mut model, first.conversation.say("What is there?")).unwrap();
    assert_eq!((second.text.as_str(), second.conversation.turns()), ("Empty.", 3));
    assert_eq!(second.conversation.messages().len(), 6);
    assert_eq!(scene.calls()[0].0, 2);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn a_tool_knows_the_prompt_the_session_the_files_and_the_turn(backend: Backend) {
    let scene = Scene::new(backend);
    let session = scene.session.clone();
    let look = Tool::new("look", "", Effect::Reads, move |call, Nothing {}| {
        let context = call.context();
        assert!(context.session.as_ref().unwrap().is_same(&session));
        let prompt = context.prompt.as_ref().unwrap();
        assert_eq!((prompt.key.as_str(), context.turn), ("custom", 2));
        assert!(call.tree().stat(&call.path("a.txt")?).is_ok());
        Ok(succeeded("Looked."))
    });
    let prompt = PromptTemplate::new("agents", "custom")
        .unwrap()
        .section(Section::new("Look", "look", "").unwrap().tools([look]))
        .section(scene.owner.section())
        .prompt(&scene.session)
        .unwrap();
    let mut model =
        ScriptedModel::new().call("write_file", write("a.txt")).call("look", json!({})).say("");
    let finished = Adapter::new(&prompt).run(&mut model, Conversation::default()).unwrap();
    assert_eq!(answers(&finished.conversation)[1].result.message, "Looked.");
}

#[test]
fn a_section_can_be_enabled_by_what_happened_in_the_turn_before() {
    let session = Session::new();
    let called = Section::new("Called", "called", "You have called something.").unwrap();
    let prompt = PromptTemplate::new("agents", "custom")
        .unwrap()
        .section(called.enabled(|given| {
            given.session().query::<ToolInvoked>().is_ok_and(|calls| !calls.is_empty())
        }))
        .prompt(&session)
        .unwrap();
    let mut model = ScriptedModel::new()
        .answer(|request| {
            assert_eq!(request.prompt.text, "");
            Ok(ModelTurn::default().call("1", "nothing", json!({})))
        })
        .answer(|request| Ok(ModelTurn::text(request.prompt.text.clone())));
    let finished = Adapter::new(&prompt).run(&mut model, Conversation::default()).unwrap();
    assert_eq!(finished.text, "## 1. Called\n\nYou have called something.\n");
}

#[test]
fn what_a_harness_does_with_its_own_tools_is_known_after_its_turn() {
    let session = Session::new();
    let native = WorkspaceSection::temporary(&session, SectionOptions::default()).without_tools();
    let prompt = PromptTemplate::new("a", "b").unwrap().section(&native).prompt(&session).unwrap();
    let root = native.root().unwrap();
    let mut model = ScriptedModel::new().answer(move |_| {
        Workspace::host(&root)?.write("native.txt", "by a native tool")?;
        Ok(ModelTurn::text("Done."))
    });
    Adapter::new(&prompt).run(&mut model, Conversation::of("Write.")).unwrap();
    assert_eq!(listing(&session), [("native.txt".to_owned(), 1)]);
}

/// No caller had asked for the workspace, so its files were never looked at.
#[test]
fn what_a_harness_does_in_a_directory_that_it_knows_is_known_from_the_first_turn_on() {
    let (session, place) = (Session::new(), tempfile::tempdir().unwrap());
    let root = place.path().to_path_buf();
    Workspace::host(&root).unwrap().write("old.txt", "one").unwrap();
    let native = WorkspaceSection::over(&session, &root, SectionOptions::default()).unwrap();
    let native = native.without_tools();
    let prompt = PromptTemplate::new("a", "b").unwrap().section(&native).prompt(&session).unwrap();
    let mut model = ScriptedModel::new().answer(move |_| {
        let harness = Workspace::host(&root)?;
        harness.write("old.txt", "another")?;
        harness.write("native.txt", "by a native tool")?;
        Ok(ModelTurn::text("Done."))
    });
    Adapter::new(&prompt).run(&mut model, Conversation::of("Write.")).unwrap();
    assert_eq!(listing(&session), [("native.txt".to_owned(), 1), ("old.txt".to_owned(), 2)]);
}

#[test]
fn a_directory_of_a_section_that_is_not_enabled_is_not_looked_at() {
    let (session, place) = (Session::new(), tempfile::tempdir().unwrap());
    Workspace::host(place.path()).unwrap().write("old.txt", "one").unwrap();
    let native = WorkspaceSection::over(&session, place.path(), SectionOptions::default()).unwrap();
    let section = Section::from(&native.without_tools()).enabled(|_| false);
    let prompt = PromptTemplate::new("a", "b").unwrap().section(section).prompt(&session).unwrap();
    Adapter::new(&prompt).run(&mut ScriptedModel::new().say(""), Conversation::default()).unwrap();
    assert_eq!(listing(&session), []);
}
