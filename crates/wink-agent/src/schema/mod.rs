//! Parameters of tools: the JSON Schema in the plain form every model provider accepts, and the parsing of what
//! a model sends, which forgives other names (`aliases`) and other types (`coerce`). `answer` has the schemas of
//! what tools answer.

pub(crate) mod aliases;
mod answer;
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

use crate::tool::error::ErrorAnswer;

/// Returns the schema of a parameter struct.
///
/// Providers differ in what they accept, so the result keeps to what all of them do: one `type` a
/// field, no `$ref`, no `format`, no `null`, no `oneOf`. An optional field is one that is not `required`.
/// What is in lists, maps and structs is of the same form.
///
/// It is made once for each struct, because it takes longer than most calls.
///
/// # Panics
///
/// If the type has no schema in that form, with the field and the reason.
pub(crate) fn of<T: JsonSchema + 'static>() -> &'static Map<String, Value> {
    made_once::<T>(|| {
        let schema = settings().into_generator().into_root_schema_for::<T>();
        plain::arguments(schema.into()).unwrap_or_else(|why| {
            panic!("`{}` cannot be the parameters of a tool: {why}", type_name::<T>())
        })
    })
}

/// Returns the schema of a tool's answer: what it gives when it succeeds, or the error.
pub(crate) fn answer<T: JsonSchema + 'static>() -> &'static Map<String, Value> {
    made_once::<T>(|| answer::either(answer::of::<T>(), answer::of::<ErrorAnswer>()))
}

pub(crate) fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

/// Makes the schema of a type on first use; no type is both the parameters and the answer of tools.
fn made_once<T: 'static>(make: impl FnOnce() -> Map<String, Value>) -> &'static Map<String, Value> {
    static MADE: RwLock<BTreeMap<TypeId, &'static Map<String, Value>>> =
        RwLock::new(BTreeMap::new());
    let id = TypeId::of::<T>();
    let made = MADE.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
    made.unwrap_or_else(|| {
        let mut all = MADE.write().unwrap_or_else(PoisonError::into_inner);
        all.entry(id).or_insert_with(|| Box::leak(Box::new(make())))
    })
}

/// Returns the fields a schema declares.
pub(crate) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(name, field)| (name.as_str(), field))
}
