//! Parameters of tools: the JSON Schema in the plain form every model provider accepts, and the parsing of what
//! a model sends, which forgives other names (`aliases`) and other types (`coerce`).

pub(crate) mod aliases;
pub(crate) mod arguments;
mod choices;
pub(crate) mod coerce;
mod plain;

use std::any::{TypeId, type_name};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Makes the schema of a parameter struct.
///
/// Providers differ in what they accept, so the result keeps to what all of them do: one `type` a
/// field, no `$ref`, no `format`, no `null`, no `oneOf`. An optional field is one that is not `required`.
/// What is in lists, maps and structs is of the same form.
///
/// It is made once for each struct, because it takes longer than most calls.
///
/// # Panics
///
/// Where the type cannot be said in that form, with the field and the reason.
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
    plain::arguments(schema.into()).unwrap_or_else(|why| {
        panic!("`{}` cannot be the parameters of a tool: {why}", type_name::<T>())
    })
}

/// Returns the fields a schema declares.
pub(crate) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, field)| (name.as_str(), field))
}
