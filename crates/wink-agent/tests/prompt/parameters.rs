//! Parameters that do not fit.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use wink_agent::prompt::{PromptError, PromptTemplate, Section};
use wink_agent::session::Session;
use wink_fs::ErrorKind;

#[derive(Serialize, JsonSchema)]
struct Task {
    #[serde(rename = "what_to_do")]
    what: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    where_to: Option<String>,
}

fn section(text: &str) -> Result<Section, PromptError> {
    Section::of::<Task>("Task", "task", text)
}

fn render(text: &str, task: Task) -> Result<String, PromptError> {
    let template = PromptTemplate::new("agents", "coder")?.section(section(text)?);
    Ok(template.prompt(&Session::new())?.bind(task)?.render()?.text)
}

#[test]
fn an_unknown_placeholder_is_refused_when_the_section_is_made() {
    let error = section("Do ${what_to_dos}.").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the parameters of the section `task` have no `what_to_dos`; did you mean `what_to_do`?"
    );
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    // Parameters go by the names they are written with, not by those they have in Rust.
    assert!(matches!(section("Do ${what}."), Err(PromptError::UnknownPlaceholder { .. })));
    assert!(matches!(
        Section::new("Task", "task", "${x}"),
        Err(PromptError::UnknownPlaceholder { nearest: None, .. })
    ));
}

#[test]
fn a_malformed_placeholder_is_refused_when_the_section_is_made() {
    for text in ["${", "Do ${what to do}.", "${what_to_do", "${}"] {
        let error = section(text).unwrap_err();
        assert!(matches!(error, PromptError::MalformedPlaceholder { .. }), "{text}: {error}");
    }
}

#[test]
fn a_value_that_is_not_there_is_refused_when_the_prompt_is_rendered() {
    let task = || Task { what: None, where_to: None };
    for text in ["Do ${what_to_do}.", "Go ${where_to}."] {
        let error = render(text, task()).unwrap_err();
        assert!(matches!(error, PromptError::MissingValue { .. }), "{text}: {error}");
    }
    assert_eq!(render("Do nothing.", task()).unwrap(), "## 1. Task\n\nDo nothing.\n");
}

#[test]
fn unbound_parameters_are_refused_by_name() {
    let prompt = PromptTemplate::new("agents", "coder")
        .unwrap()
        .section(section("Do ${what_to_do}.").unwrap())
        .prompt(&Session::new())
        .unwrap();
    let message = prompt.render().unwrap_err().to_string();
    assert!(message.contains("the section `task` needs a value of") && message.contains("Task"));
}

#[test]
fn the_parameters_bound_last_are_the_ones_that_count() {
    let task = |what: &str| Task { what: Some(what.into()), where_to: None };
    let template = PromptTemplate::new("agents", "coder").unwrap();
    let prompt = template.section(section("Do ${what_to_do}.").unwrap());
    let prompt = prompt.prompt(&Session::new()).unwrap();
    let prompt = prompt.bind(task("one")).unwrap().bind(task("two")).unwrap();
    assert!(prompt.render().unwrap().text.ends_with("Do two.\n"));
}

struct Broken;

impl Serialize for Broken {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it is broken"))
    }
}

#[test]
fn parameters_must_be_a_struct_that_can_be_written() {
    let prompt = || PromptTemplate::new("a", "b").unwrap().prompt(&Session::new()).unwrap();
    for error in [prompt().bind(7_u8).unwrap_err(), prompt().bind(Broken).unwrap_err()] {
        assert!(matches!(error, PromptError::InvalidParameters { .. }), "{error}");
    }
}
