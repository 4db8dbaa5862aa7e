//! Where the model or the prompt fails, nothing is lost.

use serde_json::json;
use wink_agent::adapter::{Adapter, AdapterError, Conversation, ScriptedModel, Stopped};
use wink_agent::prompt::{PromptError, PromptTemplate, Section, SectionOptions};
use wink_agent::session::Session;
use wink_fs::{ErrorKind, HostMount};

use crate::adapter::{Scene, answers, write};
use crate::prompt::scene::{Backend, on_each_backend, paths};

on_each_backend!(
    a_model_that_fails_ends_the_loop_with_all_that_was_done,
    a_model_that_panics_ends_the_loop_with_all_that_was_done,
    a_prompt_that_cannot_be_rendered_ends_the_loop_before_the_model_is_asked,
);

fn a_model_that_fails_ends_the_loop_with_all_that_was_done(backend: Backend) {
    let scene = Scene::new(backend);
    let model = ScriptedModel::new().call("write_file", write("a.txt")).fail("busy");
    let mut model = model.call("write_file", write("b.txt")).say("Done.");
    let interrupted = scene.run_with(Default::default(), &mut model).unwrap_err();
    assert_eq!(interrupted.to_string(), "turn 2: the model gave no answer: busy");
    assert_eq!(interrupted.cause.kind(), ErrorKind::Unavailable);
    assert!(
        matches!(&interrupted.cause, AdapterError::Model(error) if error.to_string() == "busy")
    );
    assert_eq!(answers(&interrupted.conversation).len(), 1);
    assert_eq!(paths(&scene.owner.workspace()), ["a.txt"]);
    assert_eq!(scene.calls().len(), 1);

    let finished = Adapter::new(&scene.prompt).run(&mut model, interrupted.conversation).unwrap();
    assert_eq!((finished.stopped, finished.conversation.turns()), (Stopped::Done, 3));
    assert_eq!(paths(&scene.owner.workspace()), ["a.txt", "b.txt"]);
}

fn a_model_that_panics_ends_the_loop_with_all_that_was_done(backend: Backend) {
    let scene = Scene::new(backend);
    let model = ScriptedModel::new().call("write_file", write("a.txt"));
    let mut model = model.answer(|_| panic!("a bug of the provider")).say("Done.");
    let interrupted = scene.run_with(Default::default(), &mut model).unwrap_err();
    let AdapterError::ModelPanicked(message) = &interrupted.cause else { panic!() };
    assert_eq!(message, "a bug of the provider");
    assert_eq!((interrupted.conversation.turns(), scene.calls().len()), (1, 1));
    assert_eq!(paths(&scene.owner.workspace()), ["a.txt"]);
    let finished = Adapter::new(&scene.prompt).run(&mut model, interrupted.conversation).unwrap();
    assert_eq!(finished.text, "Done.");
}

fn a_prompt_that_cannot_be_rendered_ends_the_loop_before_the_model_is_asked(backend: Backend) {
    let session = Session::new();
    let options = SectionOptions::default().mount(HostMount::new("/etc/hostname"));
    let prompt = backend.owner(&session, options).prompt(&session);
    let mut model = ScriptedModel::new().say("Never said.");
    let interrupted = Adapter::new(&prompt).run(&mut model, Conversation::of("Hi.")).unwrap_err();
    assert_eq!((interrupted.cause.kind(), model.left()), (ErrorKind::PermissionDenied, 1));
    assert_eq!(interrupted.conversation.messages().len(), 1);
}

#[test]
fn a_section_that_breaks_in_the_second_turn_loses_nothing_of_the_first() {
    let session = Session::new();
    let breaks = Section::new("Breaks", "breaks", "").unwrap().enabled(|given| {
        let calls = given.session().query::<wink_agent::session::ToolInvoked>().unwrap();
        assert!(calls.is_empty(), "not after a call");
        true
    });
    let prompt = PromptTemplate::new("a", "b").unwrap().section(breaks).prompt(&session).unwrap();
    let mut model = ScriptedModel::new().call("nothing", json!({})).say("Never said.");
    let interrupted = Adapter::new(&prompt).run(&mut model, Conversation::default()).unwrap_err();
    let AdapterError::Prompt(error) = &interrupted.cause else { panic!() };
    assert!(matches!(**error, PromptError::PredicatePanicked { .. }));
    assert_eq!(answers(&interrupted.conversation).len(), 1);
}
