//! From the JSON a model sent to the struct a tool takes.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::field::{Field, shown};
use crate::refusal::Refusal;
use crate::schema;
use crate::suggest::nearest;

/// Other spellings models use, each with the parameter it stands for.
const ALIASES: [(&str, &str); 2] = [("file_path", "path"), ("filePath", "path")];

/// Parses arguments against the schema the model was shown.
///
/// Forgiving where the meaning is plain (aliases, `"5"` for `5`, `null` for absent) and strict
/// elsewhere: an unknown key is refused, because dropping it would change what was asked for.
pub(crate) fn parse<T: DeserializeOwned + JsonSchema>(arguments: Value) -> Result<T, Refusal> {
    let schema = schema::of::<T>();
    let mut accepted = Map::new();
    for (key, value) in object(arguments)? {
        accept(&schema, &mut accepted, &key, value)?;
    }
    require_all(&schema, &accepted)?;
    serde_json::from_value(Value::Object(accepted))
        .map_err(|error| Refusal::invalid_argument(format!("The arguments do not fit: {error}.")))
}

fn object(arguments: Value) -> Result<Map<String, Value>, Refusal> {
    match arguments {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Map::new()),
        other => Err(Refusal::invalid_argument(format!(
            "The arguments must be a JSON object; got {}.",
            shown(&other)
        ))),
    }
}

fn accept(
    schema: &Map<String, Value>,
    accepted: &mut Map<String, Value>,
    key: &str,
    value: Value,
) -> Result<(), Refusal> {
    let field = find(schema, key)?;
    if value.is_null() {
        return Ok(());
    }
    let value = field.coerce(value).map_err(Refusal::invalid_argument)?;
    match accepted.insert(field.name.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(Refusal::invalid_argument(format!(
            "`{}` is given twice, under two spellings; give it once.",
            field.name
        ))),
    }
}

fn find<'a>(schema: &'a Map<String, Value>, key: &str) -> Result<Field<'a>, Refusal> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| *name);
    schema::properties(schema)
        .find(|(known, _)| *known == name)
        .map(|(name, schema)| Field { name, schema })
        .ok_or_else(|| unknown(schema, key))
}

fn unknown(schema: &Map<String, Value>, key: &str) -> Refusal {
    let names = || schema::properties(schema).map(|(name, _)| name);
    let key = key.chars().take(60).collect::<String>();
    Refusal::invalid_argument(match nearest(&key, names()) {
        Some(near) => format!("There is no parameter `{key}`; did you mean `{near}`?"),
        None => format!(
            "There is no parameter `{key}`; the parameters are {}.",
            names().collect::<Vec<_>>().join(", ")
        ),
    })
}

fn require_all(schema: &Map<String, Value>, accepted: &Map<String, Value>) -> Result<(), Refusal> {
    let required = schema.get("required").and_then(Value::as_array);
    let mut names = required.into_iter().flatten().filter_map(Value::as_str);
    match names.find(|name| !accepted.contains_key(*name)) {
        None => Ok(()),
        Some(name) => {
            Err(Refusal::invalid_argument(format!("The parameter `{name}` is missing; give it.")))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::result::ToolResult;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Sample {
        path: String,
        #[schemars(range(min = 1, max = 10))]
        limit: Option<u64>,
        #[serde(default)]
        deep: bool,
    }

    fn refused(arguments: Value) -> String {
        let refusal = parse::<Sample>(arguments).expect_err("must be refused");
        ToolResult::from(refusal).message
    }

    #[test]
    fn every_spelling_of_path_is_accepted() {
        for key in ["path", "file_path", "filePath"] {
            assert_eq!(parse::<Sample>(json!({ key: "a" })).expect("accepted").path, "a");
        }
    }

    #[test]
    fn numbers_and_booleans_may_be_strings() {
        let arguments = json!({"path": "a", "limit": " 7 ", "deep": "True"});
        let sample = parse::<Sample>(arguments).expect("accepted");
        assert_eq!((sample.limit, sample.deep), (Some(7), true));
    }

    #[test]
    fn a_whole_float_is_a_whole_number() {
        let sample = parse::<Sample>(json!({"path": "a", "limit": 7.0})).expect("accepted");
        assert_eq!(sample.limit, Some(7));
    }

    #[test]
    fn null_means_absent() {
        let sample = parse::<Sample>(json!({"path": "a", "limit": null})).expect("accepted");
        assert_eq!(sample.limit, None);
        assert_eq!(refused(json!({"path": null})), "The parameter `path` is missing; give it.");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for wrong in [json!(-1), json!(11), json!(1.5), json!("NaN"), json!(1e300), json!(u64::MAX)]
        {
            let message = refused(json!({"path": "a", "limit": wrong}));
            assert!(
                message.starts_with("`limit` must be a whole number from 1 to 10;"),
                "{message}"
            );
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_one() {
        assert_eq!(
            refused(json!({"path": "a", "limt": 1})),
            "There is no parameter `limt`; did you mean `limit`?"
        );
        assert_eq!(
            refused(json!({"path": "a", "banana": 1})),
            "There is no parameter `banana`; the parameters are deep, limit, path."
        );
    }

    #[test]
    fn two_spellings_at_once_are_refused() {
        let message = refused(json!({"path": "a", "file_path": "b"}));
        assert_eq!(message, "`path` is given twice, under two spellings; give it once.");
    }

    #[test]
    fn a_value_of_the_wrong_type_is_shown_cut() {
        let message = refused(json!({"path": vec!["long"; 100]}));
        assert!(message.len() < 120, "{message}");
    }

    #[test]
    fn arguments_that_are_no_object_are_refused() {
        assert_eq!(refused(json!("a")), "The arguments must be a JSON object; got \"a\".");
    }
}
