//! Checks that `docs/openapi.json` and the types of the page say what the routes and structs say.
#![allow(clippy::disallowed_methods, reason = "both are files of the repository")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{ALL, Route};
use crate::window::error::ApiError;

/// The schemas of what is sent and of what is received: a field that may be left out of a request is always in an answer.
struct Schemas {
    answers: SchemaGenerator,
    bodies: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12;
        Self {
            answers: generator(settings().for_serialize()),
            bodies: generator(settings().for_deserialize()),
        }
    }
}

fn generator(mut settings: SchemaSettings) -> SchemaGenerator {
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.into_generator()
}

/// Returns the parameters in a path, such as `run`.
fn in_path(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path = in_path(route.path).map(|name| {
        let number = json!({"type": "integer", "minimum": 0});
        let schema = if name == "session" { number } else { json!({"type": "string"}) };
        json!({"name": name, "in": "path", "required": true, "schema": schema})
    });
    let in_query = route.query.iter().map(|(name, what)| {
        let required = name.ends_with('!');
        let name = name.trim_end_matches('!');
        let schema = match name {
            "offset" | "limit" => json!({"type": "integer", "minimum": 0}),
            "data" | "regex" | "case" => json!({"type": "boolean"}),
            "blanks" => json!({"enum": ["ignore", "keep"]}),
            _ => json!({"type": "string"}),
        };
        json!({"name": name, "in": "query", "required": required, "description": what, "schema": schema})
    });
    in_path.chain(in_query).collect()
}

fn operation(route: &Route, schemas: &mut Schemas) -> Value {
    let content = |schema: Value| json!({"application/json": {"schema": schema}});
    let answer = match route.answer {
        Some(schema) => {
            json!({"description": "the answer", "content": content(schema(&mut schemas.answers).to_value())})
        }
        None => json!({"description": "the answer"}),
    };
    let error = schemas.answers.subschema_for::<ApiError>().to_value();
    let error = json!({"type": "object", "required": ["error"], "properties": {"error": error}});
    let refused = json!({
        "description": "why there is no other answer: as JSON, or as text from before the route",
        "content": {"application/json": {"schema": error}, "text/plain": {"schema": {"type": "string"}}},
    });
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters(route),
        "responses": {"200": answer, "default": refused},
    });
    if let Some(schema) = route.body {
        let content = content(schema(&mut schemas.bodies).to_value());
        operation["requestBody"] = json!({"required": true, "content": content});
    }
    operation
}

/// Makes the description of all routes.
fn document() -> Value {
    let mut schemas = Schemas::new();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in ALL.iter().copied().flatten() {
        let operation = operation(route, &mut schemas);
        let methods = paths.entry(route.path).or_default();
        assert!(methods.insert(route.method.to_owned(), operation).is_none(), "{}", route.path);
    }
    let mut all = schemas.answers.take_definitions(true);
    all.extend(schemas.bodies.take_definitions(true));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "wink: the window",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What the page of `wink serve` and `wink debug` asks for. Every request needs the token.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": all,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    });
    document.sort_all_objects();
    document
}

fn check(path: &str, text: &str) {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "{path} is not current; INSTA_UPDATE=always writes the file");
}

#[test]
fn the_checked_in_description_is_that_of_the_routes() {
    check("docs/openapi.json", &(serde_json::to_string_pretty(&document()).unwrap() + "\n"));
}

#[test]
fn the_types_of_the_page_are_those_of_the_structs() {
    let document = document();
    let mut text =
        "// Made from the Rust structs by the tests of the crate; do not edit.\n".to_owned();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if let Some(about) = schema["description"].as_str() {
            let _ = write!(text, "\n/** {about} */");
        }
        let _ = writeln!(text, "\nexport {}", declared(name, schema));
    }
    check("web/src/types.ts", &text);
}

fn declared(name: &str, schema: &Value) -> String {
    match schema["properties"].as_object() {
        None => format!("type {name} = {};", type_of(schema)),
        Some(properties) => {
            let required: Vec<_> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let mut fields = String::new();
            for (field, schema) in properties {
                if let Some(about) = schema["description"].as_str() {
                    let _ = writeln!(fields, "  /** {} */", about.replace('\n', " "));
                }
                let is_there = required.contains(&field.as_str());
                // A field that may be missing is left out, and never null.
                let kind = type_of(schema);
                let kind = if is_there { &*kind } else { kind.trim_end_matches(" | null") };
                let _ = writeln!(fields, "  {field}{}: {kind};", if is_there { "" } else { "?" });
            }
            format!("interface {name} {{\n{fields}}}")
        }
    }
}

/// Returns the TypeScript type of a schema.
fn type_of(schema: &Value) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        return target.rsplit('/').next().unwrap().to_owned();
    }
    for of in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[of].as_array() {
            return choices.iter().map(type_of).collect::<Vec<_>>().join(" | ");
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let of_name = |name: &str| match name {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => match schema["items"].as_object() {
            Some(_) => format!("({})[]", type_of(&schema["items"])),
            None => "unknown[]".to_owned(),
        },
        "object" if schema["additionalProperties"].is_object() => {
            format!("Record<string, {}>", type_of(&schema["additionalProperties"]))
        }
        "object" => "Record<string, never>".to_owned(),
        other => panic!("no type for {other}: {schema}"),
    };
    match &schema["type"] {
        Value::String(name) => of_name(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(of_name).collect::<Vec<_>>().join(" | ")
        }
        _ => "unknown".to_owned(),
    }
}
