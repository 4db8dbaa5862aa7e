//! A loop goes only as far as it may.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use wink_agent::adapter::{
    Adapter, AdapterOptions, Conversation, ModelTurn, ScriptedModel, Stopped,
};
use wink_agent::exec::{Executed, ScriptedExecutor};
use wink_agent::prompt::PromptTemplate;
use wink_agent::{Budget, PathRules, Toolset};
use wink_fs::{TreePath, WriteOptions, ops};

use crate::adapter::{Scene, answers, write};
use crate::prompt::scene::{Backend, listing, on_each_backend, paths};

on_each_backend!(
    a_model_has_no_more_turns_than_it_is_given,
    after_the_deadline_no_turn_begins_and_calls_are_refused,
    after_the_last_call_the_model_may_say_something_and_no_more,
    rules_hold_for_every_call,
    after_a_cancellation_no_turn_begins_and_calls_are_refused,
    programs_are_run_by_the_executor_of_the_options,
    calls_of_tools_that_are_not_there_count_too,
);

/// A model that never comes to an end.
fn endless() -> ScriptedModel {
    let names: Vec<_> = (0..50).map(|number| format!("{number:02}.txt")).collect();
    names.iter().fold(ScriptedModel::new(), |model, name| model.call("write_file", write(name)))
}

fn a_model_has_no_more_turns_than_it_is_given(backend: Backend) {
    let scene = Scene::new(backend);
    let mut model = endless();
    let finished = scene.run_with(AdapterOptions::default().max_turns(3), &mut model).unwrap();
    assert_eq!((finished.stopped, model.left()), (Stopped::TurnLimit, 47));
    // The calls of the last turn were made and answered.
    assert_eq!(paths(&scene.owner.workspace()), ["00.txt", "01.txt", "02.txt"]);
    assert_eq!(answers(&finished.conversation).len(), 3);
    let none = scene.run_with(AdapterOptions::default().max_turns(0), &mut model).unwrap();
    assert_eq!(
        (none.stopped, none.conversation.turns(), model.left()),
        (Stopped::TurnLimit, 0, 47)
    );
}

fn after_the_deadline_no_turn_begins_and_calls_are_refused(backend: Backend) {
    // A busy machine may need longer than a second for the first call.
    let is_checked = [1, 4, 16].into_iter().any(|seconds| check_deadline(backend, seconds));
    assert!(is_checked, "a call takes longer than sixteen seconds");
}

/// Returns false where the first call was not made in time.
fn check_deadline(backend: Backend, seconds: u64) -> bool {
    let scene = Scene::new(backend);
    scene.owner.workspace();
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut model = ScriptedModel::new()
        .call("write_file", write("in-time.txt"))
        .answer(move |request| {
            assert_eq!(request.deadline, Some(deadline));
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
            Ok(ModelTurn::text("Late.").call("late", "write_file", write("late.txt")))
        })
        .say("Never said.");
    let options = AdapterOptions::default().deadline(deadline);
    let finished = scene.run_with(options.clone(), &mut model).unwrap();
    let first = answers(&finished.conversation).first().map(|answer| answer.result.ok());
    if first != Some(true) {
        assert_eq!(finished.stopped, Stopped::Deadline);
        return false;
    }
    assert_eq!((finished.stopped, finished.text.as_str()), (Stopped::Deadline, "Late."));
    assert_eq!(answers(&finished.conversation)[1].result.code(), Some("deadline"));
    assert_eq!(paths(&scene.owner.workspace()), ["in-time.txt"]);
    assert_eq!(scene.calls().len(), 2);
    let again = scene.run_with(options, &mut model).unwrap();
    assert_eq!((again.stopped, again.conversation.turns()), (Stopped::Deadline, 0));
    true
}

fn after_the_last_call_the_model_may_say_something_and_no_more(backend: Backend) {
    let scene = Scene::new(backend);
    let options = AdapterOptions::default().budget(Budget::calls(2));
    let mut model = endless();
    let finished = scene.run_with(options, &mut model).unwrap();
    assert_eq!((finished.stopped, model.left()), (Stopped::Budget, 47));
    assert_eq!(paths(&scene.owner.workspace()), ["00.txt", "01.txt"]);
    let last = answers(&finished.conversation)[2];
    assert!(last.result.message.starts_with("All 2 allowed calls"), "{}", last.result.message);
    assert_eq!(scene.calls().len(), 3);

    let options = AdapterOptions::default().budget(Budget::calls(1));
    let mut model = ScriptedModel::new().call("ls", json!({})).say("That is all.");
    let finished = scene.run_with(options, &mut model).unwrap();
    assert_eq!((finished.stopped, finished.text.as_str()), (Stopped::Done, "That is all."));
}

/// A model that called what is not there could do so for ever.
fn calls_of_tools_that_are_not_there_count_too(backend: Backend) {
    let scene = Scene::new(backend);
    let options = AdapterOptions::default().budget(Budget::calls(2));
    let mut model = (0..9).fold(ScriptedModel::new(), |model, _| model.call("fly", json!({})));
    let finished = scene.run_with(options, &mut model).unwrap();
    assert_eq!((finished.stopped, model.left()), (Stopped::Budget, 6));
    let last = answers(&finished.conversation)[2];
    assert!(last.result.message.starts_with("All 2 allowed calls"), "{}", last.result.message);
}

/// The loop went on until the model had had all its turns.
fn after_a_cancellation_no_turn_begins_and_calls_are_refused(backend: Backend) {
    let scene = Scene::new(backend);
    let given_up = Arc::new(AtomicBool::new(false));
    let flag = given_up.clone();
    let mut model = ScriptedModel::new()
        .call("write_file", write("in-time.txt"))
        .answer(move |_| {
            flag.store(true, Ordering::Relaxed);
            Ok(ModelTurn::text("Late.").call("late", "write_file", write("late.txt")))
        })
        .say("Never said.");
    let options = AdapterOptions::default().cancelled(given_up);
    let finished = scene.run_with(options, &mut model).unwrap();
    assert_eq!((finished.stopped, finished.text.as_str()), (Stopped::Cancelled, "Late."));
    assert_eq!(answers(&finished.conversation)[1].result.code(), Some("cancelled"));
    assert_eq!((paths(&scene.owner.workspace()), model.left()), (vec!["in-time.txt".into()], 1));
    assert_eq!(scene.calls().len(), 2);
}

fn programs_are_run_by_the_executor_of_the_options(backend: Backend) {
    let scene = Scene::new(backend);
    let shell = Toolset::ALL.find("shell_execute").cloned();
    let template = PromptTemplate::new("agents", "builder").unwrap();
    let prompt = template.section(scene.owner.section().tools(shell)).prompt(&scene.session);
    let prompt = prompt.unwrap();
    let run = |options| {
        let mut model =
            ScriptedModel::new().call("shell_execute", json!({"command": "make"})).say("");
        let finished =
            Adapter::new(&prompt).options(options).run(&mut model, Conversation::default());
        answers(&finished.unwrap().conversation)[0].result.clone()
    };
    let none = run(AdapterOptions::default());
    assert_eq!(none.code(), Some("unsupported"), "{}", none.message);
    let executor = ScriptedExecutor::new(|_, place| {
        ops::write(place.files, &TreePath::parse("out.txt")?, "built", &WriteOptions::default())?;
        Ok(Executed::exit(0))
    });
    let built = run(AdapterOptions::default().executor(Arc::new(executor)));
    assert!(built.message.contains("A out.txt"), "{}", built.message);
    assert_eq!(paths(&scene.owner.workspace()), ["out.txt"]);
    assert_eq!(listing(&scene.session), [("out.txt".to_owned(), 1)]);
}

fn rules_hold_for_every_call(backend: Backend) {
    let scene = Scene::new(backend);
    let rules = PathRules::new().deny(["*.env"]).unwrap();
    let calls = [("write_file", write("prod.env")), ("write_file", write("a.txt"))];
    let mut model = ScriptedModel::new().calls(calls).say("");
    let finished = scene.run_with(AdapterOptions::default().rules(rules), &mut model).unwrap();
    assert_eq!(answers(&finished.conversation)[0].result.code(), Some("permission_denied"));
    assert_eq!(paths(&scene.owner.workspace()), ["a.txt"]);
}
