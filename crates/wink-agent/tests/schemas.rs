//! What providers and models read of the tool table.

use crate::kinds;
use serde_json::{Value, json};
use wink_agent::{Tool, Toolset};

fn declaration(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "effect": format!("{:?}", tool.effect),
        "family": format!("{:?}", tool.family),
        "input_schema": tool.input_schema(),
    })
}

#[test]
fn the_table_is_as_reviewed() {
    // Sorted, because another crate in the build may switch serde_json to insertion order.
    insta::with_settings!({sort_maps => true}, {
        insta::assert_json_snapshot!(Toolset::FILES.tools().map(declaration).collect::<Vec<_>>());
    });
}

#[test]
fn the_tools_beside_those_for_files_are_as_reviewed() {
    let others = Toolset::ALL.tools().filter(|tool| Toolset::FILES.find(tool.name).is_none());
    insta::with_settings!({sort_maps => true}, {
        insta::assert_json_snapshot!(others.map(declaration).collect::<Vec<_>>());
    });
}

#[test]
fn every_field_has_one_type_and_nothing_a_provider_refuses() {
    for tool in Toolset::ALL.tools().cloned().chain([kinds::tool()]) {
        let schema = Value::Object(tool.input_schema().clone());
        check_object(&schema, tool.name);
        let text = schema.to_string();
        for key in ["$schema", "$ref", "$defs", "oneOf", "anyOf", "allOf", "format", "null"] {
            assert!(!text.contains(&format!("\"{key}\"")), "{} has {key}", tool.name);
        }
    }
}

#[test]
fn the_schema_of_a_custom_tool_with_every_kind_of_parameter_is_as_reviewed() {
    insta::with_settings!({sort_maps => true}, {
        insta::assert_json_snapshot!(kinds::tool().input_schema());
    });
}

fn check_object(schema: &Value, name: &str) {
    assert_eq!(schema["type"], "object", "{name}");
    assert_eq!(schema["additionalProperties"], false, "{name}");
    let fields = schema["properties"].as_object().expect("properties");
    for (field, schema) in fields {
        let name = format!("{name}.{field}");
        assert!(schema["description"].is_string(), "{name}");
        check(schema, &name);
    }
}

/// Checks a field, and what is in it: items, the values of a map, or fields.
fn check(schema: &Value, name: &str) {
    assert!(schema["type"].is_string(), "{name}");
    if let Some(choices) = schema["enum"].as_array() {
        assert!(schema["type"] == "string" && choices.iter().all(Value::is_string), "{name}");
    }
    match (schema["type"].as_str(), &schema["additionalProperties"]) {
        (Some("array"), _) => check(&schema["items"], &format!("{name}[]")),
        (Some("object"), values @ Value::Object(_)) => check(values, &format!("{name}.*")),
        (Some("object"), _) => check_object(schema, name),
        _ => {}
    }
}
