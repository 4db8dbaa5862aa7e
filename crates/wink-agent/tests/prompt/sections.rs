//! Sections that do not fit together.

use wink_agent::find;
use wink_agent::prompt::{PromptError, PromptTemplate, Section};
use wink_agent::session::Session;

fn section(key: &str) -> Section {
    Section::new(key, key, "Text.").unwrap()
}

fn template() -> PromptTemplate {
    PromptTemplate::new("agents/coder", "edit-files").unwrap()
}

#[test]
fn two_sections_of_one_key_are_refused_wherever_they_are() {
    let template = template().section(section("a").child(section("b"))).section(section("b"));
    let error = template.prompt(&Session::new()).unwrap_err();
    assert_eq!(error.to_string(), "two sections have the key `b`; give each its own");
}

#[test]
fn two_tools_of_one_name_are_refused_unless_only_one_is_offered() {
    let with_ls = |key: &str| section(key).tools(find("ls").cloned());
    let twice = template().section(with_ls("a")).section(with_ls("b"));
    let error = twice.prompt(&Session::new()).unwrap().render().unwrap_err();
    assert_eq!(error.to_string(), "the sections `a` and `b` both offer `ls`; keep one of them");
    let one = template().section(with_ls("a").enabled(|_| false)).section(with_ls("b"));
    let rendered = one.prompt(&Session::new()).unwrap().render().unwrap();
    assert_eq!(rendered.tool("ls").unwrap().section, "b");
}

#[test]
fn a_section_is_replaced_by_its_key_with_all_that_is_below_it() {
    let template = template()
        .section(section("a").child(section("b").child(section("c"))))
        .section(section("d"));
    let new = Section::new("New", "b", "Other text.").unwrap();
    let text = template.clone().replace("b", new).unwrap();
    let text = text.prompt(&Session::new()).unwrap().render().unwrap().text;
    assert_eq!(text, "## 1. a\n\nText.\n\n### 1.1. New\n\nOther text.\n\n## 2. d\n\nText.\n");
    let unknown = template.clone().replace("x", section("x")).unwrap_err();
    assert!(matches!(unknown, PromptError::UnknownSection { .. }));
    let taken = template.replace("b", section("d")).unwrap();
    assert!(matches!(taken.prompt(&Session::new()), Err(PromptError::DuplicateSection { .. })));
}

#[test]
fn a_predicate_that_panics_is_an_error_and_not_the_end() {
    let template = template().section(section("a").enabled(|_| panic!("no idea")));
    let error = template.prompt(&Session::new()).unwrap().render().unwrap_err();
    assert_eq!(error.to_string(), "whether the section `a` is enabled cannot be told: no idea");
}

#[test]
fn keys_and_titles_are_plain() {
    for key in ["", "A", "a b", "a/b", "ä", "a\n", "${a}"] {
        let error = Section::new("Title", key, "").unwrap_err();
        assert!(matches!(error, PromptError::InvalidKey { .. }), "{key}");
        assert!(PromptTemplate::new("agents", key).is_err(), "{key}");
    }
    for namespace in ["", "/", "a//b", "a/", "A"] {
        assert!(PromptTemplate::new(namespace, "key").is_err(), "{namespace}");
    }
    for title in ["", "  ", "two\nlines"] {
        let error = Section::new(title, "key", "").unwrap_err();
        assert!(matches!(error, PromptError::InvalidTitle { .. }), "{title}");
    }
}
