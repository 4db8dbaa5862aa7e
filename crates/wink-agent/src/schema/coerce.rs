//! What a value must be to fill a declared parameter.

use serde_json::{Map, Number, Value, json};

use crate::schema::aliases;
use crate::tool::unknown_name;

/// The largest whole number that JSON readers which use floats keep exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

/// The schema of a parameter, of an item or of a value in a map, as [`crate::schema::of`] makes them.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a>(pub(crate) &'a Value);

/// What is wrong with a value, without its name.
pub(crate) enum Wrong {
    /// It is something else: what it must be, and what it is.
    Itself(String),
    /// Something in it is wrong: where that is, and what is wrong with it.
    Inside { place: String, why: String },
}

impl Wrong {
    /// Returns the message for a named value.
    pub(crate) fn of(self, name: &str) -> String {
        match self {
            Self::Itself(what) => format!("`{name}` {what}"),
            Self::Inside { place, why } => format!("In `{name}`{place}: {why}"),
        }
    }

    /// Returns the error for the value that contains it.
    fn at(self, outer: &str) -> Self {
        match self {
            Self::Itself(what) => {
                Self::Inside { place: outer.to_owned(), why: format!("it {what}") }
            }
            Self::Inside { place, why } => Self::Inside { place: format!("{outer}{place}"), why },
        }
    }
}

impl<'a> Shape<'a> {
    /// Returns whether a value has the declared type without conversion; a fast check.
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self.kind() {
            Some("boolean") => value.is_boolean(),
            Some("string") => self.is_allowed_text(value),
            _ => false,
        }
    }

    /// Converts the value to the declared type, or returns what was expected.
    pub(crate) fn coerce(self, value: Value) -> Result<Value, Wrong> {
        match self.kind() {
            Some("integer") => self.integer(&value).ok_or_else(|| self.mismatch(&value)),
            Some("number") => self.number(&value).ok_or_else(|| self.mismatch(&value)),
            Some("boolean") => boolean(&value).ok_or_else(|| self.mismatch(&value)),
            Some("array") => self.list(&value),
            Some("object") => self.object(value),
            _ if self.is_allowed_text(&value) => Ok(value),
            _ => Err(self.mismatch(&value)),
        }
    }

    fn kind(self) -> Option<&'a str> {
        self.0["type"].as_str()
    }

    fn list(self, value: &Value) -> Result<Value, Wrong> {
        let items = items(value).or_else(|| self.pairs(value));
        let items = items.ok_or_else(|| self.mismatch(value))?;
        let shape = Shape(&self.0["items"]);
        let coerced = (1..).zip(items).map(|(number, item)| {
            shape.coerce(item).map_err(|wrong| wrong.at(&format!(", number {number}")))
        });
        coerced.collect::<Result<_, _>>().map(Value::Array)
    }

    /// Returns the items of a list of names and values, which models also send as an object.
    fn pairs(self, value: &Value) -> Option<Vec<Value>> {
        let declared = self.0["items"]["properties"].as_object()?;
        let is_pair =
            declared.len() == 2 && ["name", "value"].iter().all(|it| declared.contains_key(*it));
        let given = value.as_object().filter(|_| is_pair)?;
        Some(given.iter().map(|(name, value)| json!({"name": name, "value": value})).collect())
    }

    fn object(self, value: Value) -> Result<Value, Wrong> {
        let given = match entries(&value) {
            Some(entries) => entries,
            None => return Err(self.mismatch(&value)),
        };
        match (self.0.get("additionalProperties"), self.0.as_object()) {
            (Some(values @ Value::Object(_)), _) => Shape(values).map(given),
            (_, Some(schema)) => {
                let accepted = aliases::accepted(schema, given).map(Value::Object);
                let inside = |why| Wrong::Inside { place: String::new(), why };
                accepted.map_err(|misfit| inside(misfit.worded(schema)))
            }
            _ => Err(self.mismatch(&value)),
        }
    }

    /// Converts each value of a map; `null` means absent there too.
    fn map(self, given: Map<String, Value>) -> Result<Value, Wrong> {
        let given = given.into_iter().filter(|(_, value)| !value.is_null());
        let coerced = given.map(|(key, value)| match self.coerce(value) {
            Ok(value) => Ok((key, value)),
            Err(wrong) => Err(wrong.at(&format!(", at `{}`", unknown_name::shorten_name(&key)))),
        });
        coerced.collect::<Result<_, _>>().map(Value::Object)
    }

    fn integer(self, value: &Value) -> Option<Value> {
        let (least, most) = self.range();
        let number = whole(value).filter(|number| (least..=most).contains(number))?;
        let unsigned = u64::try_from(number).map(Value::from);
        unsigned.or_else(|_| i64::try_from(number).map(Value::from)).ok()
    }

    /// Returns the bounds; a number that may be of any size is one with a sign.
    fn range(self) -> (i128, i128) {
        let bound = |key: &str| whole(&self.0[key]);
        match (bound("minimum"), bound("maximum")) {
            (None, most) => (i64::MIN.into(), most.unwrap_or(i64::MAX.into())),
            (Some(least), most) => (least, most.unwrap_or(u64::MAX.into())),
        }
    }

    fn number(self, value: &Value) -> Option<Value> {
        let exceeds = |key: &str, is_past: fn(&f64, &f64) -> bool, number: f64| {
            self.0[key].as_f64().is_some_and(|bound| is_past(&number, &bound))
        };
        let number = float(value)
            .filter(|it| !exceeds("minimum", f64::lt, *it) && !exceeds("maximum", f64::gt, *it))?;
        match value {
            Value::Number(_) => Some(value.clone()),
            _ => Number::from_f64(number).map(Value::Number),
        }
    }

    fn is_allowed_text(self, value: &Value) -> bool {
        value.is_string() && self.choices().is_none_or(|choices| choices.contains(value))
    }

    fn choices(self) -> Option<&'a Vec<Value>> {
        self.0["enum"].as_array()
    }

    fn mismatch(self, value: &Value) -> Wrong {
        Wrong::Itself(format!("must be {}; got {}.", self.expected(), truncated_json(value)))
    }

    fn expected(self) -> String {
        match (self.kind(), self.choices()) {
            (Some("integer"), _) => {
                let (least, most) = self.range();
                format!("a whole number from {least} to {most}")
            }
            (Some("number"), _) => format!("a number{}", self.bounds()),
            (Some("boolean"), _) => "true or false".to_owned(),
            (Some("array"), _) => "a list".to_owned(),
            (Some("object"), _) => "an object".to_owned(),
            (_, Some(choices)) => format!("one of {}", listed(choices)),
            _ => "a string".to_owned(),
        }
    }

    fn bounds(self) -> String {
        match (&self.0["minimum"], &self.0["maximum"]) {
            (Value::Number(least), Value::Number(most)) => format!(" from {least} to {most}"),
            (Value::Number(least), _) => format!(" from {least} on"),
            (_, Value::Number(most)) => format!(" up to {most}"),
            _ => String::new(),
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

/// Returns what is in an object, which models also send as the text of one.
fn entries(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(entries) => Some(entries.clone()),
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

/// Returns a number that JSON can hold.
fn float(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
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

/// Returns a model's value as JSON, truncated so that an answer stays short.
pub(crate) fn truncated_json(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
