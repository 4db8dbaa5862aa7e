//! Tools that a program adds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use wink_agent::{Effect, Tool, ToolContext, ToolResult};

use crate::engine::scene::on_each_backend;
use crate::kinds;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Params {
    /// How often.
    #[schemars(range(min = 1, max = 10))]
    times: u64,
}

#[test]
fn a_custom_tool_has_state_a_schema_and_forgiving_arguments_like_ours() {
    on_each_backend(|files| {
        let rung = Arc::new(AtomicUsize::new(0));
        let bell = rung.clone();
        let tool = Tool::new("ring", "Rings.", Effect::Reads, move |_, params: Params| {
            bell.fetch_add(params.times as usize, Ordering::Relaxed);
            Ok(ToolResult::success("Rung.".to_owned(), json!({"times": params.times})))
        })
        .title("Ring the bell");
        assert_eq!(tool.input_schema()["properties"]["times"]["type"], "integer");
        let context = ToolContext::over(files);
        assert!(tool.call(&context, json!({"times": "3"})).ok());
        let wrong = tool.call(&context, json!({"time": 3}));
        assert!(wrong.message.contains("did you mean `times`"), "{}", wrong.message);
        assert_eq!(rung.load(Ordering::Relaxed), 3);
    });
}

/// Fractions, signs, lists of plain values, structs, maps and choices with a comment were all refused.
#[test]
fn a_custom_tool_takes_every_kind_of_parameter_and_is_forgiving_in_all_of_them() {
    on_each_backend(|files| {
        let (tool, context) = (kinds::tool(), ToolContext::over(files));
        let place = json!({"line": 3, "note": null, "style": null});
        for (name, given, taken) in [
            ("text", json!("a"), json!("a")),
            ("ratio", json!(1.5), json!(1.5)),
            ("ratio", json!(-2), json!(-2.0)),
            ("ratio", json!(" 1e-3 "), json!(0.001)),
            ("scale", json!(2.5), json!(2.5)),
            ("shift", json!(i64::MIN), json!(i64::MIN)),
            ("shift", json!("-7"), json!(-7)),
            ("shift", json!(-7.0), json!(-7)),
            ("small", json!(i32::MAX), json!(i32::MAX)),
            ("count", json!("7"), json!(7)),
            ("names", json!(["a", "b"]), json!(["a", "b"])),
            ("names", json!("[\"a\"]"), json!(["a"])),
            ("lines", json!([1, "2", 3.0]), json!([1, 2, 3])),
            ("rows", json!([[true], ["false"], []]), json!([[true], [false], []])),
            ("words", json!(["b", "a", "b"]), json!(["a", "b"])),
            ("place", json!({"line": "3"}), place.clone()),
            ("place", json!("{\"line\": 3}"), place.clone()),
            ("other", json!({"line": 3, "note": null}), place.clone()),
            ("places", json!([{"line": 3}]), json!([place])),
            ("weights", json!({"a": 1, "b": "0.5", "c": null}), json!({"a": 1.0, "b": 0.5})),
            ("sites", json!({"a": {"line": "3"}}), json!({"a": place})),
            ("order", json!("by_size"), json!("by_size")),
            ("style", json!("bold"), json!("bold")),
            ("spare", json!("hidden"), json!("hidden")),
            ("styles", json!(["bold", "plain"]), json!(["bold", "plain"])),
        ] {
            let result = tool.call(&context, json!({ name: given }));
            assert!(result.ok(), "{name}: {}", result.message);
            assert_eq!(result.value[name], taken, "{name}");
        }
    });
}

#[test]
fn what_does_not_fit_a_custom_tool_is_named_with_its_place_and_the_nearest_name() {
    let (tool, context) = (kinds::tool(), ToolContext::over(&wink_fs::Workspace::memory()));
    for (arguments, message) in [
        (json!({"ratio": "many"}), "`ratio` must be a number; got \"many\"."),
        (json!({"ratio": "NaN"}), "`ratio` must be a number; got \"NaN\"."),
        (json!({"scale": 3}), "`scale` must be a number from 0.5 to 2.5; got 3."),
        (
            json!({"small": 2_147_483_648_u32}),
            "`small` must be a whole number from -2147483648 to 2147483647; got 2147483648.",
        ),
        (json!({"count": -1}), "`count` must be a whole number from 0 to 4294967295; got -1."),
        (json!({"names": ["a", 1]}), "In `names`, number 2: it must be a string; got 1."),
        (
            json!({"rows": [[], ["a"]]}),
            "In `rows`, number 2, number 1: it must be true or false; got \"a\".",
        ),
        (json!({"place": 3}), "`place` must be an object; got 3."),
        (json!({"place": {}}), "In `place`: The parameter `line` is missing; give it."),
        (
            json!({"place": {"lin": 3}}),
            "In `place`: There is no parameter `lin`; did you mean `line`?",
        ),
        (
            json!({"sites": {"a": {"line": -1}}}),
            "In `sites`, at `a`: `line` must be a whole number from 0 to 18446744073709551615; got -1.",
        ),
        (json!({"weights": {"a": "b"}}), "In `weights`, at `a`: it must be a number; got \"b\"."),
        (json!({"order": "size"}), "`order` must be one of by_name, by_size; got \"size\"."),
        (json!({"style": "italic"}), "`style` must be one of hidden, plain, bold; got \"italic\"."),
        (json!({"styl": "bold"}), "There is no parameter `styl`; did you mean `style`?"),
    ] {
        let result = tool.call(&context, arguments.clone());
        assert_eq!((result.code(), &*result.message), (Some("invalid_argument"), message));
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Endless {
    #[allow(dead_code, reason = "only its type counts")]
    next: Option<Box<Endless>>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only their types count")]
enum Several {
    Number(u64),
    Text(String),
}

/// Returns what the program that makes a tool with one such parameter is told.
fn refused_when_made<P: serde::de::DeserializeOwned + schemars::JsonSchema + 'static>() -> String {
    let make = || Tool::new("odd", "", Effect::Reads, |_, _: One<P>| unreachable!());
    let panic = std::panic::catch_unwind(make).expect_err("it must be refused");
    panic.downcast_ref::<String>().unwrap().clone()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct One<P> {
    #[allow(dead_code, reason = "only its type counts")]
    field: P,
}

#[test]
fn a_type_that_not_every_provider_accepts_is_refused_when_the_tool_is_made() {
    for (said, why) in [
        (refused_when_made::<Value>(), "`arguments.field` may be of any type"),
        (refused_when_made::<Vec<Value>>(), "`arguments.field[]` may be of any type"),
        (refused_when_made::<(u64, String)>(), "`arguments.field` has a fixed number of items"),
        (refused_when_made::<Several>(), "`arguments.field` is one of several types"),
        (refused_when_made::<Option<Several>>(), "`arguments.field` is one of several types"),
        (refused_when_made::<Endless>(), "refers to itself"),
        (refused_when_made::<()>(), "`arguments.field` must have one type"),
    ] {
        assert!(said.contains(why), "{said}");
    }
}
