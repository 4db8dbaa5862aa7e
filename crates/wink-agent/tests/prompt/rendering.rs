//! The text of a prompt.

use schemars::JsonSchema;
use serde::Serialize;
use wink_agent::find;
use wink_agent::prompt::{PromptTemplate, RenderedPrompt, Section};
use wink_agent::session::{Session, ToolInvoked};

#[derive(Serialize, JsonSchema)]
struct Task {
    what: String,
    files: Vec<String>,
    tries: u32,
    urgent: bool,
}

fn task(urgent: bool) -> Task {
    Task { what: "the build".into(), files: vec!["a.rs".into(), "b.rs".into()], tries: 3, urgent }
}

fn template() -> PromptTemplate {
    let task = "Fix ${what} in ${files}. You have ${tries} tries, and $${tries} is no placeholder.";
    let hurry = Section::new("Hurry", "hurry", "A user is waiting.").unwrap();
    let first = Section::new("First turn", "first", "Look around first.").unwrap();
    PromptTemplate::new("agents/coder", "fix")
        .unwrap()
        .section(
            Section::new("Behaviour", "behaviour", "")
                .unwrap()
                .child(Section::new("Tone", "tone", "Be brief.\n\n- No greetings.\n").unwrap()),
        )
        .section(hurry.enabled(|given| given.get::<Task>().is_some_and(|task| task.urgent)))
        .section(
            Section::of::<Task>("Task", "task", task)
                .unwrap()
                .tools(["ls", "read_file"].map(|name| find(name).unwrap().clone()))
                .child(first.enabled(|given| {
                    given.session().query::<ToolInvoked>().is_ok_and(|calls| calls.is_empty())
                })),
        )
}

fn rendered(session: &Session, urgent: bool) -> RenderedPrompt {
    template().prompt(session).unwrap().bind(task(urgent)).unwrap().render().unwrap()
}

#[test]
fn sections_have_numbered_headings_and_values_in_their_places() {
    insta::assert_snapshot!(rendered(&Session::new(), true).text);
}

#[test]
fn a_section_that_is_not_enabled_has_no_text_no_number_and_no_tools() {
    let session = Session::new();
    session.dispatch(ToolInvoked::new("1", "ls", std::time::SystemTime::now())).unwrap();
    let text = rendered(&session, false).text;
    let headings: Vec<_> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings, ["## 1. Behaviour", "### 1.1. Tone", "## 2. Task"]);

    let off = template().section(
        Section::new("Off", "off", "")
            .unwrap()
            .tools(find("rm").cloned())
            .enabled(|_| false)
            .child(Section::new("Below", "below", "").unwrap().tools(find("grep").cloned())),
    );
    let rendered = off.prompt(&session).unwrap().bind(task(true)).unwrap().render().unwrap();
    let tools: Vec<_> = rendered.tools.iter().map(|offered| offered.tool.name).collect();
    assert_eq!(tools, ["ls", "read_file"]);
    assert!(!rendered.text.contains("Below"));
}

#[test]
fn the_same_prompt_gives_the_same_text_each_time() {
    let session = Session::new();
    assert_eq!(rendered(&session, true).text, rendered(&session, true).text);
}

#[test]
fn deep_sections_keep_their_numbers_where_markdown_has_no_deeper_headings() {
    let leaf = Section::new("Level 8", "level-8", "Deep.").unwrap();
    let tree = (1..8).rev().fold(leaf, |below, level| {
        Section::new(&format!("Level {level}"), &format!("level-{level}"), "").unwrap().child(below)
    });
    let prompt = PromptTemplate::new("a", "b").unwrap().section(tree).prompt(&Session::new());
    let text = prompt.unwrap().render().unwrap().text;
    assert!(text.contains("\n###### 1.1.1.1.1. Level 5\n"), "{text}");
    assert!(text.ends_with("\n###### 1.1.1.1.1.1.1.1. Level 8\n\nDeep.\n"), "{text}");
}
