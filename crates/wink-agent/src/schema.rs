//! JSON Schemas in the plain form every model provider accepts.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Makes the schema of a parameter struct.
///
/// Providers differ in what they accept, so the result keeps to what all of them do: one `type` a
/// field, no `$ref`, no `format`, no `null`. An optional field is one that is not `required`. The items
/// of a list are objects of the same form.
///
/// It is made once for each struct, because it takes longer than most calls.
pub(crate) fn of<T: JsonSchema + 'static>() -> &'static Map<String, Value> {
    static MADE: RwLock<BTreeMap<TypeId, &'static Map<String, Value>>> =
        RwLock::new(BTreeMap::new());
    let id = TypeId::of::<T>();
    let made = MADE.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
    made.unwrap_or_else(|| {
        let mut all = MADE.write().unwrap_or_else(PoisonError::into_inner);
        all.entry(id).or_insert_with(|| Box::leak(Box::new(make::<T>())))
    })
}

fn make<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    normalised(schema.as_object().cloned().unwrap_or_default())
}

/// Returns the fields a schema declares.
pub(crate) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, field)| (name.as_str(), field))
}

fn normalised(mut schema: Map<String, Value>) -> Map<String, Value> {
    for noise in ["$schema", "title", "description"] {
        schema.remove(noise);
    }
    schema.insert("additionalProperties".into(), false.into());
    schema.entry("properties").or_insert_with(|| Map::new().into());
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.values_mut().filter_map(Value::as_object_mut).for_each(normalise_field);
    }
    schema
}

fn normalise_field(field: &mut Map<String, Value>) {
    field.remove("format");
    if field.get("default").is_some_and(Value::is_null) {
        field.remove("default");
    }
    if let Some(kind) = field.get_mut("type") {
        drop_null(kind);
    }
    if let Some(Value::Object(items)) = field.get_mut("items") {
        *items = normalised(std::mem::take(items));
    }
}

/// Turns `["integer", "null"]` into `"integer"`.
fn drop_null(kind: &mut Value) {
    let only = kind.as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null"));
    if let Some(only) = only.cloned() {
        *kind = only;
    }
}
