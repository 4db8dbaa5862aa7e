//! Values and names that look like something else never break a prompt.

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use wink_agent::prompt::{PromptTemplate, Section, inline_code};
use wink_agent::session::Session;
use wink_fs::{HostMount, Name, TreePath};

use crate::prompt::scene::{Backend, Project};

#[derive(Serialize, JsonSchema)]
struct Names {
    one: String,
    other: String,
}

fn rendered(one: &str, other: &str) -> String {
    let first = Section::of::<Names>("First", "first", "<${one}> and <${other}>").unwrap();
    let below = Section::of::<Names>("Below", "below", "<${other}>").unwrap();
    PromptTemplate::new("agents", "coder")
        .unwrap()
        .section(first.child(below))
        .section(Section::new("Last", "last", "The end.").unwrap())
        .prompt(&Session::new())
        .unwrap()
        .bind(Names { one: one.to_owned(), other: other.to_owned() })
        .unwrap()
        .render()
        .unwrap()
        .text
}

/// Words of which each could be taken for something else.
fn odd() -> impl Strategy<Value = String> {
    let words = [
        "$",
        "${",
        "${one}",
        "${other}",
        "$${",
        "}",
        "{}",
        "`",
        "```",
        "](",
        "[x](y)",
        "\n",
        "\r\n",
        "## 1. First",
        "\n# ",
        "---",
        "*",
        "_",
        "<b>",
        "\\",
        "é",
        "\u{2028}",
        "\0",
        " ",
        "a",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..12)
        .prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn a_value_stands_in_its_place_as_it_is(one in odd(), other in odd()) {
        prop_assert_eq!(
            rendered(&one, &other),
            format!(
                "## 1. First\n\n<{one}> and <{other}>\n\n### 1.1. Below\n\n<{other}>\n\n\
                 ## 2. Last\n\nThe end.\n"
            )
        );
    }

    #[test]
    fn a_name_as_code_stays_on_its_line_and_ends_where_it_should(name in odd()) {
        let code = inline_code(&name);
        let fence = code.len() - code.trim_start_matches('`').len();
        let inner = &code[fence..code.len() - fence];
        prop_assert!(code.ends_with(&"`".repeat(fence)));
        prop_assert!(!inner.contains(&"`".repeat(fence)), "{code}");
        prop_assert!(!inner.starts_with('`') && !inner.ends_with('`'), "{code}");
        prop_assert!(!code.contains(char::is_control) && code.lines().count() == 1);
        let plain: String = name.chars().filter(|c| !c.is_control() && *c != '\u{2028}').collect();
        prop_assert!(plain.chars().all(|c| inner.contains(c)));
    }
}

/// Renders what is mounted: a directory and a file in it, of a name each.
fn with_mounts(backend: Backend, directory: &TreePath, file: &TreePath) -> String {
    let (session, project) = (Session::new(), Project::new(&[]));
    let path = directory.join(&file.name().unwrap()).unwrap();
    project.files.write(&path.to_string(), "content").unwrap();
    let mount = HostMount::new("x").at(directory.clone());
    project.files.rename(&directory.to_string(), "x").unwrap();
    let owner = backend.owner(&session, project.mounting([mount]));
    let last = Section::of::<Names>("Last", "last", "<${one}>").unwrap();
    PromptTemplate::new("agents", "coder")
        .unwrap()
        .section(owner.section())
        .section(last)
        .prompt(&session)
        .unwrap()
        .bind(Names { one: file.to_string(), other: String::new() })
        .unwrap()
        .render()
        .unwrap()
        .text
}

/// Makes a name that a file can have of any text.
fn name(text: &str) -> TreePath {
    let bytes: Vec<u8> = text.bytes().filter(|byte| !b"/\0".contains(byte)).take(200).collect();
    let name = Name::from_disk(&[b"n", &*bytes].concat()).unwrap();
    TreePath::root().join(&name).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn names_of_mounted_files_never_break_the_prompt(directory in odd(), file in odd()) {
        let (directory, file) = (name(&directory), name(&file));
        for backend in [Backend::Memory, Backend::Host] {
            let text = with_mounts(backend, &directory, &file);
            let headings: Vec<_> = text.lines().filter(|line| line.starts_with('#')).collect();
            prop_assert_eq!(headings.len(), 2, "{}", &text);
            prop_assert!(headings[0].starts_with("## 1. ") && headings[1] == "## 2. Last");
            let path = directory.join(&file.name().unwrap()).unwrap();
            let line = format!("\n  - {}\n", inline_code(&path.to_string()));
            prop_assert!(text.contains(&line), "{}", &text);
            let tail = format!("\n<{file}>\n");
            prop_assert!(text.ends_with(&tail));
        }
    }
}
