//! From the JSON a model sent to the struct a tool takes.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::schema::coerce::truncated_json;
use crate::schema::{self, aliases};
use crate::tool::error::ToolError;

/// Parses arguments against the schema the model was shown.
///
/// Forgiving where the meaning is plain (aliases, `"5"` for `5`, `null` for absent) and strict
/// elsewhere: an unknown key is refused, because dropping it would change what was asked for.
pub(crate) fn parse<T: DeserializeOwned + JsonSchema + 'static>(
    arguments: Value,
) -> Result<T, ToolError> {
    let schema = schema::of::<T>();
    let accepted = aliases::accepted(schema, object(arguments)?);
    let accepted = accepted.map_err(|misfit| ToolError::misfit(schema, misfit))?;
    serde_json::from_value(Value::Object(accepted))
        .map_err(|error| ToolError::invalid_argument(format!("The arguments do not fit: {error}.")))
}

fn object(arguments: Value) -> Result<Map<String, Value>, ToolError> {
    match arguments {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Map::new()),
        other => Err(ToolError::invalid_argument(format!(
            "The arguments must be a JSON object; got {}.",
            truncated_json(&other)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::tool::result::ToolResult;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Sample {
        path: String,
        #[schemars(range(min = 1, max = 10))]
        limit: Option<u64>,
        #[serde(default)]
        deep: bool,
        #[serde(default)]
        steps: Vec<Step>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Step {
        old_string: String,
        #[serde(default)]
        replace_all: bool,
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
            "There is no parameter `banana`; the parameters are deep, limit, path, steps."
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
    #[test]
    fn the_items_of_a_list_are_as_forgiving_as_the_arguments() {
        let step = json!({"oldText": "a", "replaceAll": "true"});
        let text = json!(json!([step]).to_string());
        for steps in [json!([step]), text] {
            let sample = parse::<Sample>(json!({"path": "a", "steps": steps})).expect("accepted");
            assert_eq!((&*sample.steps[0].old_string, sample.steps[0].replace_all), ("a", true));
        }
    }

    #[test]
    fn an_item_of_a_list_is_named_by_its_number() {
        let steps = |second: Value| json!({"path": "a", "steps": [{"old_str": "a"}, second]});
        for (second, why) in [
            (
                json!({"old_sting": "a"}),
                "There is no parameter `old_sting`; did you mean `old_string`?",
            ),
            (json!({}), "The parameter `old_string` is missing; give it."),
            (json!({"old_string": 1}), "`old_string` must be a string; got 1."),
            (json!("a"), "it must be an object; got \"a\"."),
        ] {
            assert_eq!(refused(steps(second)), format!("In `steps`, number 2: {why}"));
        }
        let message = refused(json!({"path": "a", "steps": "b"}));
        assert_eq!(message, "`steps` must be a list; got \"b\".");
    }
}
