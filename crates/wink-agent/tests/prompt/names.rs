//! Values and names that look like something else never break a prompt.

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use wink_agent::prompt::{PromptTemplate, Section, inline_code};
use wink_agent::session::Session;

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
