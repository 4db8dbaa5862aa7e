//! Parses the arguments of a tool.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::error::CliError;
use crate::ui::input;

/// Reads arguments: `key=value` pairs, JSON objects, `-` for an object from standard input.
///
/// Values are text, from which the tool parses numbers, booleans and lists. A later argument replaces a field of
/// an object, but two pairs with the same key are an error.
pub(super) fn parse(all: &[String]) -> Result<Value, CliError> {
    let (mut arguments, mut keys) = (Map::new(), BTreeSet::new());
    for text in all {
        match text.as_str() {
            "-" => arguments.extend(object(&input::read()?)?),
            json if json.starts_with('{') => arguments.extend(object(json.as_bytes())?),
            pair => {
                let (key, value) = key_and_value(pair)?;
                if !keys.insert(key.clone()) {
                    return Err(CliError::argument_given_twice(&key));
                }
                arguments.insert(key, value);
            }
        }
    }
    Ok(Value::Object(arguments))
}

fn object(json: &[u8]) -> Result<Map<String, Value>, CliError> {
    serde_json::from_slice(json).map_err(|error| CliError::not_an_object(&error))
}

fn key_and_value(text: &str) -> Result<(String, Value), CliError> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair.ok_or_else(|| CliError::no_argument(text))?;
    Ok((key.to_owned(), value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(all: &[&str]) -> Option<Value> {
        parse(&all.iter().map(ToString::to_string).collect::<Vec<_>>()).ok()
    }

    #[test]
    fn pairs_and_objects_are_one() {
        assert_eq!(parsed(&[]), Some(json!({})));
        let mixed = parsed(&["path=a=b", r#"{"limit": 3, "path": "c"}"#, "content="]);
        assert_eq!(mixed, Some(json!({"path": "c", "limit": 3, "content": ""})));
    }

    #[test]
    fn a_key_that_is_given_twice_is_refused() {
        for all in [&["path=a", "path=b"][..], &["path=a", "limit=1", "path=a"]] {
            assert_eq!(parsed(all), None, "{all:?}");
        }
    }

    #[test]
    fn what_is_neither_is_refused() {
        for text in ["path", "=a", "{", "{]", "[1]", ""] {
            assert_eq!(parsed(&[text]), None, "{text}");
        }
    }
}
