//! JSON Schemas of what tools answer, derived from their answer types.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// Returns the schema of a type as it is written: a field that is skipped at times is not required.
pub(super) fn of<T: JsonSchema>() -> Map<String, Value> {
    let schema = super::settings().for_serialize().into_generator().into_root_schema_for::<T>();
    let mut schema = Value::from(schema);
    simplify(&mut schema);
    let mut schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    schema.remove("description");
    schema
}

/// Drops the Rust names and number formats that clients have no use for, and closes every object.
fn simplify(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.remove("title");
    schema.remove("format");
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.values_mut().for_each(simplify);
        schema.insert("additionalProperties".into(), false.into());
    }
    if let Some(either) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        either.iter_mut().for_each(simplify);
    }
    if let Some(items) = schema.get_mut("items") {
        simplify(items);
    }
}

/// Merges two schemas of objects into one: an answer has the required fields of either.
///
/// A client checks answers and errors against one schema, whose root must be an object.
pub(super) fn either(
    mut answer: Map<String, Value>,
    mut error: Map<String, Value>,
) -> Map<String, Value> {
    let required = [answer.remove("required"), error.remove("required")];
    let required = required.map(|fields| json!({"required": fields.unwrap_or_else(|| json!([]))}));
    if let (Some(Value::Object(all)), Some(Value::Object(of_error))) =
        (answer.get_mut("properties"), error.remove("properties"))
    {
        for (name, field) in of_error {
            all.entry(name).or_insert(field);
        }
    }
    answer.insert("anyOf".into(), required.into_iter().collect());
    answer
}
