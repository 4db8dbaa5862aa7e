//! One declared parameter, and what a value must be to fill it.

use serde_json::{Value, json};

use crate::fields;

/// The largest whole number that JSON readers which use floats keep exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

/// One field of a schema made by [`crate::schema::of`].
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
}

impl<'a> Field<'a> {
    /// Tells at a glance whether a value is of the declared type as it is.
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self.schema["type"].as_str() {
            Some("boolean") => value.is_boolean(),
            Some("string") => self.is_allowed_text(value),
            _ => false,
        }
    }

    /// Turns the value into the declared type, or says what was expected.
    pub(crate) fn coerce(self, value: Value) -> Result<Value, String> {
        match self.schema["type"].as_str() {
            Some("integer") => self.integer(&value).ok_or_else(|| self.mismatch(&value)),
            Some("boolean") => boolean(&value).ok_or_else(|| self.mismatch(&value)),
            Some("array") => self.list(value),
            _ if self.is_allowed_text(&value) => Ok(value),
            _ => Err(self.mismatch(&value)),
        }
    }

    fn list(self, value: Value) -> Result<Value, String> {
        let items = items(&value).or_else(|| self.pairs(&value));
        let items = items.ok_or_else(|| self.mismatch(&value))?;
        let numbered = (1..).zip(items);
        let coerced = numbered.map(|(number, item)| {
            self.item(item).map_err(|why| format!("In `{}`, number {number}: {why}", self.name))
        });
        coerced.collect::<Result<_, _>>().map(Value::Array)
    }

    /// Returns the items of a list of names and values, which models also send as an object.
    fn pairs(self, value: &Value) -> Option<Vec<Value>> {
        let declared = self.schema["items"]["properties"].as_object()?;
        let is_pair =
            declared.len() == 2 && ["name", "value"].iter().all(|it| declared.contains_key(*it));
        let given = value.as_object().filter(|_| is_pair)?;
        Some(given.iter().map(|(name, value)| json!({"name": name, "value": value})).collect())
    }

    fn item(self, item: Value) -> Result<Value, String> {
        match (self.schema["items"].as_object(), item) {
            (Some(schema), Value::Object(given)) => {
                let accepted = fields::accepted(schema, given);
                accepted.map(Value::Object).map_err(|misfit| misfit.worded(schema))
            }
            (_, other) => Err(format!("it must be an object; got {}.", shown(&other))),
        }
    }

    fn integer(self, value: &Value) -> Option<Value> {
        let (least, most) = self.range();
        let number = whole(value).filter(|number| (least..=most).contains(number))?;
        u64::try_from(number).map(Value::from).ok()
    }

    fn range(self) -> (i128, i128) {
        let bound = |key: &str| whole(&self.schema[key]);
        (bound("minimum").unwrap_or(0), bound("maximum").unwrap_or(u64::MAX.into()))
    }

    fn is_allowed_text(self, value: &Value) -> bool {
        value.is_string() && self.choices().is_none_or(|choices| choices.contains(value))
    }

    fn choices(self) -> Option<&'a Vec<Value>> {
        self.schema["enum"].as_array()
    }

    fn mismatch(self, value: &Value) -> String {
        format!("`{}` must be {}; got {}.", self.name, self.expected(), shown(value))
    }

    fn expected(self) -> String {
        match (self.schema["type"].as_str(), self.choices()) {
            (Some("integer"), _) => {
                let (least, most) = self.range();
                format!("a whole number from {least} to {most}")
            }
            (Some("boolean"), _) => "true or false".to_owned(),
            (Some("array"), _) => "a list".to_owned(),
            (_, Some(choices)) => format!("one of {}", listed(choices)),
            _ => "a string".to_owned(),
        }
    }
}

/// Returns the items of a list, which models also send as the text of one.
fn items(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => {
            let exact = number.as_u64().map(i128::from).or(number.as_i64().map(i128::from));
            exact.or_else(|| whole_float(number.as_f64()?))
        }
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn whole_float(number: f64) -> Option<i128> {
    // In this range the conversion is exact.
    (number.fract() == 0.0 && number.abs() <= MAX_EXACT).then_some(number as i128)
}

fn boolean(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.clone()),
        Value::String(text) => text.trim().to_ascii_lowercase().parse().map(Value::Bool).ok(),
        _ => None,
    }
}

fn listed(choices: &[Value]) -> String {
    choices.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

/// Shows a value from a model, cut so that an answer stays short.
pub(crate) fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
