//! The values that a prompt is rendered with.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::error::PromptError;
use crate::schema;

/// Values by their types, one of each.
#[derive(Clone, Default)]
pub(super) struct Parameters(HashMap<TypeId, Bound>);

#[derive(Clone)]
struct Bound {
    value: Arc<dyn Any + Send + Sync>,
    fields: Arc<Map<String, Value>>,
}

/// The type of parameters that a section needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needed {
    pub(super) type_id: TypeId,
    pub(super) name: &'static str,
}

impl Needed {
    pub(super) fn of<P: Any>() -> Self {
        Self { type_id: TypeId::of::<P>(), name: type_name::<P>() }
    }
}

impl Parameters {
    /// Binds a value, replacing another one of its type.
    pub(super) fn bind<P>(&mut self, value: P) -> Result<(), PromptError>
    where
        P: Serialize + Any + Send + Sync,
    {
        let needed = Needed::of::<P>();
        let fields = fields_of(&value)?;
        let bound = Bound { value: Arc::new(value), fields: Arc::new(fields) };
        self.0.insert(needed.type_id, bound);
        Ok(())
    }

    pub(super) fn get<P: Any>(&self) -> Option<&P> {
        self.0.get(&TypeId::of::<P>())?.value.downcast_ref()
    }

    pub(super) fn fields(&self, needed: &Needed) -> Option<&Map<String, Value>> {
        self.0.get(&needed.type_id).map(|bound| &*bound.fields)
    }
}

fn fields_of<P: Serialize + Any>(value: &P) -> Result<Map<String, Value>, PromptError> {
    let why = match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => return Ok(fields),
        Ok(_) => "they must be a struct with named fields".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(PromptError::InvalidParameters { parameters: type_name::<P>(), why })
}

/// Returns the names of a struct's fields when serialized.
pub(super) fn names<P: JsonSchema>() -> Vec<String> {
    let settings = schema::settings().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<P>();
    let fields = schema.as_object().map(schema::properties);
    fields.into_iter().flatten().map(|(name, _)| name.to_owned()).collect()
}

/// Returns a value as the text of a placeholder; none for null.
///
/// Text is inserted unchanged, and anything else as JSON.
pub(super) fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

impl fmt::Debug for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.values().map(|bound| &bound.fields)).finish()
    }
}
