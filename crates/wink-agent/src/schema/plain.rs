//! Reduces a derived schema to what every provider accepts.

use serde_json::{Map, Value};

use super::choices;

/// The keywords that a schema may have.
const KEPT: [&str; 10] = [
    "type",
    "description",
    "default",
    "enum",
    "minimum",
    "maximum",
    "items",
    "properties",
    "required",
    "additionalProperties",
];

/// The keywords that are dropped: names for people, and checks that the type repeats when a value is parsed.
const LEFT_OUT: [&str; 8] = [
    "$schema",
    "title",
    "format",
    "examples",
    "uniqueItems",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Returns the plain schema of all arguments, or which of them has none.
pub(super) fn arguments(schema: Value) -> Result<Map<String, Value>, String> {
    let mut schema = plain(schema, "arguments")?;
    schema.remove("description");
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => Ok(schema),
        _ => Err("they must be a struct with named fields.".to_owned()),
    }
}

/// Returns the plain schema of a value and of all that is in it.
fn plain(schema: Value, place: &str) -> Result<Map<String, Value>, String> {
    let Value::Object(schema) = schema else {
        return Err(format!("`{place}` may be of any type; take one that says which."));
    };
    let mut schema = choices::listed(without_null(schema));
    bound_by_format(&mut schema);
    LEFT_OUT.iter().for_each(|key| drop(schema.remove(*key)));
    if let Some(key) = schema.keys().find(|key| !KEPT.contains(&key.as_str())) {
        return Err(not_plain(place, key));
    }
    if schema.get("default").is_some_and(has_null) {
        schema.remove("default");
    }
    with_plain_parts(schema, place)
}

fn with_plain_parts(
    mut schema: Map<String, Value>,
    place: &str,
) -> Result<Map<String, Value>, String> {
    match schema.get("type").and_then(Value::as_str) {
        Some("string") if choices::are_texts(&schema) => {}
        Some("integer" | "number" | "boolean") if !schema.contains_key("enum") => {}
        Some("array") => {
            let items = schema.remove("items").unwrap_or(Value::Bool(true));
            schema.insert("items".into(), plain(items, &format!("{place}[]"))?.into());
        }
        Some("object") => object(&mut schema, place)?,
        _ => return Err(format!("`{place}` must have one type, and choices must be texts.")),
    }
    Ok(schema)
}

/// Makes all fields plain; a map has none, but values that are all of one form.
fn object(schema: &mut Map<String, Value>, place: &str) -> Result<(), String> {
    let fields = match schema.remove("properties") {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let others = schema.remove("additionalProperties").unwrap_or(Value::Bool(false));
    let others = match others {
        Value::Bool(false) => others,
        _ if !fields.is_empty() => {
            return Err(format!("`{place}` may have other fields than those that it names."));
        }
        values => plain(values, &format!("{place}.*"))?.into(),
    };
    let fields = fields.into_iter().map(|(name, field)| {
        let field = plain(field, &format!("{place}.{name}"))?;
        Ok((name, Value::Object(field)))
    });
    let fields: Map<_, _> = fields.collect::<Result<_, String>>()?;
    if !others.is_object() {
        schema.insert("properties".into(), fields.into());
    }
    schema.insert("additionalProperties".into(), others);
    Ok(())
}

/// Turns "this or nothing" into "this": a field that is not required may be left out.
fn without_null(schema: Map<String, Value>) -> Map<String, Value> {
    let mut schema = unwrapped(schema);
    if let Some(kind) = schema.get_mut("type") {
        drop_null(kind);
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    schema
}

/// Turns `anyOf` something and `null` into that something; what is said of both is said of it.
fn unwrapped(mut schema: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Array(either)) = schema.get("anyOf") else { return schema };
    let mut some = either.iter().filter(|it| it["type"] != "null");
    let (Some(Value::Object(only)), None) = (some.next(), some.next()) else { return schema };
    let mut only = only.clone();
    schema.remove("anyOf");
    only.extend(schema);
    only
}

/// Turns `["integer", "null"]` into `"integer"`.
fn drop_null(kind: &mut Value) {
    let Some(kinds) = kind.as_array() else { return };
    let mut some = kinds.iter().filter(|kind| *kind != "null");
    if let (Some(only), None) = (some.next().cloned(), some.next()) {
        *kind = only;
    }
}

/// Replaces a number's format by bounds; other formats have them already, or need none.
fn bound_by_format(schema: &mut Map<String, Value>) {
    let (least, most) = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("uint32") => (Value::from(0), Value::from(u32::MAX)),
        _ => return,
    };
    schema.entry("minimum").or_insert(least);
    schema.entry("maximum").or_insert(most);
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(entries) => entries.values().any(has_null),
        _ => false,
    }
}

fn not_plain(place: &str, key: &str) -> String {
    let why = match key {
        "$ref" | "$defs" => "refers to itself; take a type with an end",
        "oneOf" | "anyOf" | "allOf" => {
            "is one of several types; take an enum without values, or a struct with optional fields"
        }
        "prefixItems" | "minItems" | "maxItems" => {
            "has a fixed number of items; take a list, or a struct"
        }
        _ => return format!("`{place}` has `{key}`, which some providers refuse."),
    };
    format!("`{place}` {why}.")
}
