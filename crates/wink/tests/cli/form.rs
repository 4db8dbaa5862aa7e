//! Whether what programs read is of the form that is shipped for it.

use std::sync::LazyLock;

use serde_json::{Value, json};

static FORMS: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../docs/json-schemas.json")).unwrap()
});

/// Fails where a document is not of the form that is shipped under its name, or has more than that says.
pub(crate) fn check_form(document: &Value, kind: &str) {
    let form = &FORMS[document["schema"].as_str().unwrap()];
    let known = form["properties"].as_object().unwrap_or_else(|| panic!("no form of {document}"));
    let fields = document.as_object().unwrap();
    let unknown: Vec<_> = fields.keys().filter(|name| !known.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:?} in {document}");
    assert_eq!(document["type"], kind, "{document}");
    assert_eq!(wrong(form, form, document), None, "{document}");
}

/// Says what in a value is not as a rule says; knows the words that our schemas use, and no others.
fn wrong(form: &Value, rule: &Value, value: &Value) -> Option<String> {
    let words = rule.as_object()?;
    words.iter().find_map(|(word, said)| match word.as_str() {
        "properties" => value
            .as_object()
            .into_iter()
            .flatten()
            .find_map(|(name, field)| said.get(name).and_then(|rule| wrong(form, rule, field))),
        "items" => value.as_array().into_iter().flatten().find_map(|it| wrong(form, said, it)),
        "$ref" => {
            let place = said.as_str().unwrap().strip_prefix('#').unwrap();
            wrong(form, form.pointer(place).unwrap(), value)
        }
        _ if fits(form, word, said, value) => None,
        _ => Some(format!("{value} is not {word} {said}")),
    })
}

fn fits(form: &Value, word: &str, said: &Value, value: &Value) -> bool {
    let all = || said.as_array().unwrap().iter();
    match word {
        "type" if said.is_array() => all().any(|kind| is_of(kind, value)),
        "type" => is_of(said, value),
        "const" => value == said,
        "enum" => all().any(|it| it == value),
        "minimum" => value.as_f64().is_none_or(|it| it >= said.as_f64().unwrap()),
        "required" => all().all(|name| value.get(name.as_str().unwrap()).is_some()),
        "anyOf" | "oneOf" => all().any(|rule| wrong(form, rule, value).is_none()),
        "additionalProperties" => *said == json!(true) || said.is_object(),
        "$schema" | "$defs" | "title" | "description" | "format" | "default" => true,
        other => panic!("`{other}` is not known here"),
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("`{other}` is not known here"),
    }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let form = json!({"type": "object", "required": ["a"], "$defs": {"Kind": {"enum": ["x"]}},
        "properties": {"a": {"items": {"$ref": "#/$defs/Kind"}}, "type": {"const": "item"}}});
    let wrong = |value: Value| wrong(&form, &form, &value);
    assert_eq!(wrong(json!({"a": ["x", "x"], "type": "item"})), None);
    for value in
        [json!([]), json!({}), json!({"a": ["x", "y"]}), json!({"a": [], "type": "summary"})]
    {
        assert!(wrong(value.clone()).is_some(), "{value}");
    }
}
