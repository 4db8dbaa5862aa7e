//! JSON Schemas of answers, written as the shapes they have.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// Says what a value of an answer looks like.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Text,
    Number,
    Flag,
    /// A value that may be null.
    Maybe(&'static Shape),
    /// A field that may be left out.
    Sometimes(&'static Shape),
    List(&'static Shape),
    Object(&'static Fields),
    /// A value with what its name cannot say.
    Explained(&'static Shape, &'static str),
}

/// Names the fields of an object.
pub(crate) type Fields = [(&'static str, Shape)];

impl Shape {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Number => json!({"type": "integer", "minimum": 0}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Maybe(shape) => json!({"anyOf": [shape.schema(), {"type": "null"}]}),
            Self::Sometimes(shape) => shape.schema(),
            Self::List(shape) => json!({"type": "array", "items": shape.schema()}),
            Self::Object(fields) => object(fields).into(),
            Self::Explained(shape, description) => {
                let mut schema = shape.schema();
                schema["description"] = description.into();
                schema
            }
        }
    }
}

/// Returns the schema of an object with these fields and no others.
pub(crate) fn object(fields: &Fields) -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    let properties = fields.iter().map(|(name, shape)| ((*name).to_owned(), shape.schema()));
    schema.insert("properties".into(), Value::Object(properties.collect()));
    schema.insert("required".into(), required(fields).into());
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// Returns the names of the fields that are always there.
pub(crate) fn required(fields: &Fields) -> Vec<&'static str> {
    let always = fields.iter().filter(|(_, shape)| !matches!(shape, Shape::Sometimes(_)));
    always.map(|(name, _)| *name).collect()
}
