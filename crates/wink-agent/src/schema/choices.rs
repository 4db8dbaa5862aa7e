//! Enums: one list of texts, with the descriptions of all.

use serde_json::{Map, Value};

/// Makes one `enum` of variants that have a description each, which goes to that of the whole.
pub(super) fn listed(mut schema: Map<String, Value>) -> Map<String, Value> {
    let variants = match schema.get("oneOf") {
        Some(Value::Array(variants)) => {
            variants.iter().map(Variant::of).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let Some(variants) = variants else { return schema };
    schema.remove("oneOf");
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let lines = variants.iter().filter_map(Variant::line);
    let description = lines.fold(description.to_owned(), |all, line| all + &line);
    if !description.is_empty() {
        schema.insert("description".into(), description.trim_start().into());
    }
    let names = variants.into_iter().flat_map(|variant| variant.names);
    schema.insert("enum".into(), names.collect());
    schema.insert("type".into(), "string".into());
    schema
}

/// Returns whether there are choices and all are texts.
pub(super) fn are_texts(schema: &Map<String, Value>) -> bool {
    let choices = schema.get("enum").and_then(Value::as_array);
    choices.is_none_or(|choices| choices.iter().all(Value::is_string))
}

/// One variant with its description, or several without.
struct Variant {
    names: Vec<Value>,
    description: Option<String>,
}

impl Variant {
    fn of(schema: &Value) -> Option<Self> {
        let names = match (schema.get("const"), schema.get("enum")) {
            (Some(name), None) => vec![name.clone()],
            (None, Some(Value::Array(names))) => names.clone(),
            _ => return None,
        };
        let description = schema["description"].as_str().map(str::to_owned);
        names.iter().all(Value::is_string).then_some(Self { names, description })
    }

    fn line(&self) -> Option<String> {
        let name = self.names.first()?.as_str()?;
        let description = self.description.as_ref()?;
        Some(format!("\n- {name}: {description}"))
    }
}
