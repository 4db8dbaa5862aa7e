//! Matches the keys of an object with declared parameters, under their own names or aliases.

use std::borrow::Cow;
use std::iter;

use serde_json::{Map, Value};

use crate::edit::patch;
use crate::schema;
use crate::schema::coerce::Shape;
use crate::tool::suggest::nearest;
use crate::tool::unknown_name::shorten_name;

/// Other spellings models use, each with the parameter it stands for.
const ALIASES: [(&str, &str); 15] = [
    ("file_path", "path"),
    ("filePath", "path"),
    ("old_str", "old_string"),
    ("oldText", "old_string"),
    ("oldString", "old_string"),
    ("new_str", "new_string"),
    ("newText", "new_string"),
    ("newString", "new_string"),
    ("replaceAll", "replace_all"),
    ("dryRun", "dry_run"),
    ("expectedHash", "expected_hash"),
    ("source", "from"),
    ("destination", "to"),
    ("input", "patch"),
    ("diff", "patch"),
];

/// Returns the path that a call is about, under any of its argument's names.
///
/// Only for `mv` it is what `from` names; for other tools that is a state.
pub(crate) fn path_of<'a>(tool: &str, given: &'a Value) -> Option<&'a str> {
    text_of(if tool == "mv" { "from" } else { "path" }, given)
}

/// Like [`path_of`], or the path of the only file that a patch changes.
pub(crate) fn path_of_call<'a>(tool: &str, given: &'a Value) -> Option<Cow<'a, str>> {
    let of_patch = || {
        let text = text_of("patch", given).filter(|_| tool == "apply_patch")?;
        patch::only_path(text).map(Cow::Owned)
    };
    path_of(tool, given).map(Cow::Borrowed).or_else(of_patch)
}

/// Returns the mode of a call: the given one, or the default.
pub(crate) fn mode_of<'a>(schema: &'a Map<String, Value>, given: &'a Value) -> Option<&'a str> {
    let usual = || schema.get("properties")?.get("mode")?.get("default")?.as_str();
    text_of("mode", given).or_else(usual)
}

/// Returns a text argument, under any of its names.
fn text_of<'a>(name: &str, given: &'a Value) -> Option<&'a str> {
    let aliases = ALIASES.iter().filter(|(_, own)| *own == name).map(|(alias, _)| *alias);
    iter::once(name).chain(aliases).find_map(|spelled| given.get(spelled)?.as_str())
}

/// One declared parameter.
#[derive(Clone, Copy)]
struct Field<'a> {
    name: &'a str,
    shape: Shape<'a>,
}

/// What is wrong with an argument.
#[derive(Debug)]
pub(crate) enum Misfit {
    /// There is no parameter of that name.
    Unknown(String),
    /// Anything else, in words.
    Other(String),
}

impl Misfit {
    /// Returns the message.
    pub(crate) fn worded(self, schema: &Map<String, Value>) -> String {
        match self {
            Self::Unknown(key) => unknown(schema, &[], &key),
            Self::Other(words) => words,
        }
    }
}

/// Converts arguments to what the schema declares, or returns what is wrong with them.
pub(crate) fn accepted(
    schema: &Map<String, Value>,
    given: Map<String, Value>,
) -> Result<Map<String, Value>, Misfit> {
    if given.iter().all(|(key, value)| declared(schema, key).is_some_and(|it| it.shape.fits(value)))
    {
        return with_all_required(schema, given);
    }
    let mut accepted = Map::new();
    for (key, value) in given {
        accept(schema, &mut accepted, key, value)?;
    }
    with_all_required(schema, accepted)
}

fn accept(
    schema: &Map<String, Value>,
    accepted: &mut Map<String, Value>,
    key: String,
    value: Value,
) -> Result<(), Misfit> {
    let Some(field) = find(schema, &key) else { return Err(Misfit::Unknown(key)) };
    if value.is_null() {
        return Ok(());
    }
    let own_name = if key == field.name { key } else { field.name.to_owned() };
    let coerced = field.shape.coerce(value);
    let coerced = coerced.map_err(|wrong| Misfit::Other(wrong.of(field.name)))?;
    match accepted.insert(own_name, coerced) {
        None => Ok(()),
        Some(_) => Err(Misfit::Other(format!(
            "`{}` is given twice, under two spellings; give it once.",
            field.name
        ))),
    }
}

/// Finds a parameter by its own name before any alias, which may be the name of another.
fn find<'a>(schema: &'a Map<String, Value>, key: &str) -> Option<Field<'a>> {
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == key);
    declared(schema, key).or_else(|| alias().and_then(|(_, name)| declared(schema, name)))
}

/// Finds a parameter by its own name.
fn declared<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<Field<'a>> {
    let all = schema.get("properties").and_then(Value::as_object)?;
    all.get_key_value(name).map(|(name, schema)| Field { name, shape: Shape(schema) })
}

/// Returns the message for an unknown parameter; `also` are parameters beside those of the schema.
pub(crate) fn unknown(schema: &Map<String, Value>, also: &[&str], key: &str) -> String {
    let names = || schema::properties(schema).map(|(name, _)| name).chain(also.iter().copied());
    let key = shorten_name(key);
    match nearest(&key, names()) {
        Some(near) => format!("There is no parameter `{key}`; did you mean `{near}`?"),
        None => format!(
            "There is no parameter `{key}`; the parameters are {}.",
            names().collect::<Vec<_>>().join(", ")
        ),
    }
}

fn with_all_required(
    schema: &Map<String, Value>,
    accepted: Map<String, Value>,
) -> Result<Map<String, Value>, Misfit> {
    let required = schema.get("required").and_then(Value::as_array);
    let mut names = required.into_iter().flatten().filter_map(Value::as_str);
    match names.find(|name| !accepted.contains_key(*name)) {
        None => Ok(accepted),
        Some(name) => Err(Misfit::Other(format!("The parameter `{name}` is missing; give it."))),
    }
}
