//! Calls that go wrong are answered like all others.

use std::time::Duration;

use serde_json::json;
use wink_agent::adapter::{Adapter, Conversation, Message, ModelTurn, ScriptedModel};
use wink_agent::prompt::{PromptTemplate, Section, SectionOptions, VfsSection};
use wink_agent::session::Session;
use wink_agent::{Effect, Tool};

use crate::adapter::{Scene, answers, succeeded, write};
use crate::prompt::scene::{Backend, on_each_backend, paths};

on_each_backend!(
    a_call_that_fails_goes_back_to_the_model_as_its_message,
    a_tool_that_is_not_offered_is_answered_and_recorded,
    a_tool_that_panics_changes_nothing_and_is_answered,
);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nap {
    millis: u64,
}

#[test]
fn answers_come_in_the_order_of_the_calls() {
    let session = Session::new();
    let nap = Tool::new("nap", "", Effect::Reads, |_, nap: Nap| {
        std::thread::sleep(Duration::from_millis(nap.millis));
        Ok(succeeded(&nap.millis.to_string()))
    });
    let vfs = VfsSection::new(&session, SectionOptions::default());
    let section = Section::from(&vfs).tools([nap]);
    let prompt = PromptTemplate::new("a", "b").unwrap().section(section).prompt(&session).unwrap();
    let naps = [40, 1, 20, 0, 30];
    let calls = naps.map(|millis| ("nap", json!({ "millis": millis })));
    let mut model = ScriptedModel::new().calls(calls).say("Rested.");
    let finished = Adapter::new(&prompt).run(&mut model, Conversation::default()).unwrap();
    let answered: Vec<_> = answers(&finished.conversation)
        .iter()
        .map(|answer| answer.result.message.parse::<u64>().unwrap())
        .collect();
    assert_eq!(answered, naps);
}

fn a_call_that_fails_goes_back_to_the_model_as_its_message(backend: Backend) {
    let scene = Scene::new(backend);
    let mut model = ScriptedModel::new()
        .calls([("read_file", json!({"path": "missing.txt"})), ("write_file", write("a.txt"))])
        .answer(|request| {
            let Some(Message::Tools(answers)) = request.messages.last() else { panic!() };
            assert_eq!(answers[0].result.code(), Some("not_found"));
            assert!(answers[1].result.ok());
            Ok(ModelTurn::text(&answers[0].result.message))
        });
    let text = scene.run(&mut model).text;
    assert!(text.contains("missing.txt"), "{text}");
    assert_eq!(paths(&scene.owner.workspace()), ["a.txt"]);
}

fn a_tool_that_is_not_offered_is_answered_and_recorded(backend: Backend) {
    let scene = Scene::new(backend);
    let long = "x".repeat(100_000);
    let calls = [("read_fil", json!({"path": "a"})), (long.as_str(), json!({})), ("", json!(null))];
    let finished = scene.run(&mut ScriptedModel::new().calls(calls).say("Sorry."));
    let answers = answers(&finished.conversation);
    assert_eq!(answers[0].result.message, "There is no tool `read_fil`; did you mean `read_file`?");
    assert!(answers.iter().all(|answer| answer.result.code() == Some("invalid_argument")));
    assert!(answers[1].result.message.len() < 400);
    let calls = scene.calls();
    assert_eq!(calls.len(), 3);
    assert!(calls.iter().all(|(turn, _, tool, ok)| *turn == 1 && tool.len() <= 60 && !ok));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn a_tool_that_panics_changes_nothing_and_is_answered(backend: Backend) {
    let scene = Scene::new(backend);
    let broken = Tool::new("broken", "", Effect::Writes, |call, Nothing {}| {
        let path = call.path("half.txt")?;
        call.change(|fs| {
            wink_fs::ops::write(fs, &path, "half", &wink_fs::WriteOptions::default())?;
            panic!("a bug");
            #[allow(unreachable_code)]
            Ok::<_, wink_fs::Error>(succeeded(""))
        })
    });
    let prompt = PromptTemplate::new("a", "b")
        .unwrap()
        .section(scene.owner.section().tools([broken]))
        .prompt(&scene.session)
        .unwrap();
    let calls = [("broken", json!({})), ("write_file", write("whole.txt"))];
    let mut model = ScriptedModel::new().calls(calls).say("Done.");
    let finished = Adapter::new(&prompt).run(&mut model, Conversation::default()).unwrap();
    let answers = answers(&finished.conversation);
    assert_eq!((answers[0].result.code(), answers[1].result.ok()), (Some("io"), true));
    assert_eq!(paths(&scene.owner.workspace()), ["whole.txt"]);
}
