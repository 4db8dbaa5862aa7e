//! Changes of clients' settings files, which keep everything else in them: comments, order, layout.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

/// What is put into one file.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
}

impl Edit {
    pub(crate) fn json(path: &Path, changes: Vec<JsonChange>) -> Self {
        Self { path: path.to_owned(), content: Content::Json(changes) }
    }

    /// Adds an edit to others; two edits of one JSON file become one.
    pub(crate) fn add_to(self, edits: &mut Vec<Self>) {
        let known = edits.iter_mut().find(|known| known.path == self.path);
        match (known.map(|known| &mut known.content), self.content) {
            (Some(Content::Json(known)), Content::Json(changes)) => known.extend(changes),
            (_, content) => edits.push(Self { path: self.path, content }),
        }
    }
}

/// What is put into a file, by its format.
#[derive(Debug)]
pub(crate) enum Content {
    /// JSON, perhaps with comments.
    Json(Vec<JsonChange>),
    /// A table of a TOML file, by the names that lead to it.
    Toml { table: [&'static str; 2], content: Table },
    /// A file that is wink's own.
    Whole(String),
}

/// One change of a JSON file.
#[derive(Debug)]
pub(crate) enum JsonChange {
    /// A member of an object, by the names that lead to it.
    Member(Vec<&'static str>, CstInputValue),
    /// An element of an array.
    Element(Vec<&'static str>, CstInputValue),
    /// A member that the client needs, whoever put it there.
    Needed(&'static str, CstInputValue),
}

/// Makes an object of JSON, in this order.
pub(crate) fn object<const N: usize>(members: [(&str, CstInputValue); N]) -> CstInputValue {
    CstInputValue::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
}

/// Makes a text of JSON.
pub(crate) fn text(text: &str) -> CstInputValue {
    CstInputValue::String(text.to_owned())
}

/// Makes a list of texts.
pub(crate) fn texts(all: &[&str]) -> CstInputValue {
    CstInputValue::Array(all.iter().map(|it| text(it)).collect())
}

/// Why a file is not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unchanged {
    /// It cannot be parsed.
    Malformed(String),
    /// Something else is where the change belongs.
    Taken(String),
}

impl Content {
    /// Returns the text of a file with the change; the same text if it is there.
    pub(crate) fn put_into(&self, before: Option<&str>) -> Result<String, Unchanged> {
        match self {
            Self::Whole(text) => match before {
                Some(other) if other != text => {
                    Err(Unchanged::Taken("it has other content".to_owned()))
                }
                _ => Ok(text.clone()),
            },
            Self::Toml { table, content } => put_table(before.unwrap_or_default(), table, content),
            Self::Json(changes) => {
                let root = parse_json(before.unwrap_or_default())?;
                let object = root.object_value_or_create().ok_or_else(|| taken(&[]))?;
                changes.iter().try_for_each(|change| change.put(&object))?;
                Ok(ended(root.to_string(), before))
            }
        }
    }

    /// Returns the text of a file without the change; none if nothing is left of the file.
    pub(crate) fn take_out_of(&self, before: &str) -> Result<Option<String>, Unchanged> {
        let text = match self {
            Self::Whole(text) => return Ok((before != text).then(|| before.to_owned())),
            Self::Toml { table, content } => take_table(before, table, content)?,
            Self::Json(changes) => {
                let root = parse_json(before)?;
                let Some(object) = root.object_value() else { return Ok(Some(before.to_owned())) };
                changes.iter().for_each(|change| change.take(&object));
                let is_needed =
                    |member: &CstObjectProp| changes.iter().any(|change| change.needs(member));
                if object.properties().iter().all(is_needed)
                    && object
                        .children()
                        .iter()
                        .chain(&root.children())
                        .all(|node| node.as_comment().is_none())
                {
                    return Ok(None);
                }
                root.to_string()
            }
        };
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }
}

/// A new file ends with a line end.
fn ended(text: String, before: Option<&str>) -> String {
    if before.is_none() && !text.ends_with('\n') { text + "\n" } else { text }
}

fn parse_json(text: &str) -> Result<CstRootNode, Unchanged> {
    CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| Unchanged::Malformed(error.to_string()))
}

fn taken(names: &[&str]) -> Unchanged {
    let place =
        if names.is_empty() { "its content".to_owned() } else { format!("`{}`", names.join(".")) };
    Unchanged::Taken(format!("{place} is something else"))
}

impl JsonChange {
    fn put(&self, root: &CstObject) -> Result<(), Unchanged> {
        match self {
            Self::Needed(name, value) => {
                if root.get(name).is_none() {
                    root.append(name, value.clone());
                }
            }
            Self::Member(names, value) => {
                let (last, parents) = names.split_last().ok_or_else(|| taken(names))?;
                let parent = created(root, parents)?;
                match parent.get(last) {
                    Some(member) if content_of(&member) == Some(as_value(value)) => {}
                    Some(_) => return Err(taken(names)),
                    None => drop(parent.append(last, value.clone())),
                }
            }
            Self::Element(names, value) => {
                let (last, parents) = names.split_last().ok_or_else(|| taken(names))?;
                let array = created(root, parents)?
                    .array_value_or_create(last)
                    .ok_or_else(|| taken(names))?;
                let wanted = as_value(value);
                if !array
                    .elements()
                    .iter()
                    .any(|element| element.to_serde_value().as_ref() == Some(&wanted))
                {
                    array.append(value.clone());
                }
            }
        }
        Ok(())
    }

    fn take(&self, root: &CstObject) {
        match self {
            // Another setting may need it as well.
            Self::Needed(..) => {}
            Self::Member(names, value) => {
                let Some((last, parents)) = names.split_last() else { return };
                let Some(parent) = found(root, parents) else { return };
                if let Some(member) =
                    parent.get(last).filter(|it| content_of(it) == Some(as_value(value)))
                {
                    member.remove();
                }
                drop_empty(root, parents);
            }
            Self::Element(names, value) => {
                let Some((last, parents)) = names.split_last() else { return };
                let Some(array) = found(root, parents).and_then(|parent| parent.array_value(last))
                else {
                    return;
                };
                let wanted = as_value(value);
                let is_it = |it: &CstNode| it.to_serde_value().as_ref() == Some(&wanted);
                array.elements().into_iter().filter(is_it).for_each(CstNode::remove);
                if array.elements().is_empty() {
                    drop_empty(root, names);
                }
            }
        }
    }

    /// Returns whether a member is only there because this change needs it.
    fn needs(&self, member: &CstObjectProp) -> bool {
        match self {
            Self::Needed(name, value) => {
                member.decoded_name().as_deref() == Some(name)
                    && content_of(member) == Some(as_value(value))
            }
            _ => false,
        }
    }
}

fn created(root: &CstObject, names: &[&'static str]) -> Result<CstObject, Unchanged> {
    let mut object = root.clone();
    for name in names {
        object = object.object_value_or_create(name).ok_or_else(|| taken(names))?;
    }
    Ok(object)
}

fn found(root: &CstObject, names: &[&'static str]) -> Option<CstObject> {
    names.iter().try_fold(root.clone(), |object, name| object.object_value(name))
}

/// Removes the empty objects and arrays that lead to a place, the innermost first.
fn drop_empty(root: &CstObject, names: &[&'static str]) {
    let Some((last, parents)) = names.split_last() else { return };
    let Some(parent) = found(root, parents) else { return };
    let is_empty = |value: Value| {
        value.as_object().is_some_and(|it| it.is_empty())
            || value.as_array().is_some_and(Vec::is_empty)
    };
    if let Some(member) = parent.get(last).filter(|it| content_of(it).is_some_and(is_empty)) {
        member.remove();
        drop_empty(root, parents);
    }
}

fn content_of(member: &CstObjectProp) -> Option<Value> {
    member.value()?.to_serde_value()
}

fn as_value(value: &CstInputValue) -> Value {
    match value {
        CstInputValue::Null => Value::Null,
        CstInputValue::Bool(value) => (*value).into(),
        CstInputValue::Number(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        CstInputValue::String(text) => text.as_str().into(),
        CstInputValue::Array(all) => all.iter().map(as_value).collect(),
        CstInputValue::Object(all) => {
            all.iter().map(|(name, value)| (name.clone(), as_value(value))).collect()
        }
    }
}

fn parse_toml(text: &str) -> Result<DocumentMut, Unchanged> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        Unchanged::Malformed(error.to_string().trim().to_owned())
    })
}

fn put_table(text: &str, [outer, inner]: &[&str; 2], content: &Table) -> Result<String, Unchanged> {
    let mut document = parse_toml(text)?;
    let taken = || taken(&[outer, inner]);
    let parent = document.entry(outer).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let parent = parent.as_table_mut().ok_or_else(taken)?;
    match parent.get(inner) {
        Some(known) if known.as_table().is_some_and(|known| is_same(known, content)) => {}
        Some(_) => return Err(taken()),
        None => drop(parent.insert(inner, Item::Table(content.clone()))),
    }
    Ok(document.to_string())
}

fn take_table(
    text: &str,
    [outer, inner]: &[&str; 2],
    content: &Table,
) -> Result<String, Unchanged> {
    let mut document = parse_toml(text)?;
    let Some(parent) = document.get_mut(outer).and_then(Item::as_table_mut) else {
        return Ok(text.to_owned());
    };
    if parent.get(inner).and_then(Item::as_table).is_some_and(|known| is_same(known, content)) {
        parent.remove(inner);
        if parent.is_empty() && parent.is_implicit() {
            document.remove(outer);
        }
    }
    Ok(document.to_string())
}

fn is_same(one: &Table, other: &Table) -> bool {
    let texts = |table: &Table| -> Vec<String> {
        table.iter().map(|(name, item)| format!("{name}={}", item.to_string().trim())).collect()
    };
    texts(one) == texts(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    fn hooks() -> Content {
        Content::Json(vec![
            JsonChange::Member(
                vec!["mcpServers", "wink"],
                object([("command", text("wink")), ("args", texts(&["mcp"]))]),
            ),
            JsonChange::Element(
                vec!["hooks", "Stop"],
                object([(
                    "hooks",
                    CstInputValue::Array(vec![object([("command", text("wink hook"))])]),
                )]),
            ),
        ])
    }

    const WITH_COMMENTS: &str = "// mine\n{\n    \"z\": 1, // last letter first\n    \"hooks\": {\n        /* kept */\n        \"Stop\": [\n            { \"hooks\": [] }\n        ]\n    },\n    \"a\": [1,   2],\n}\n";

    #[test]
    fn comments_order_and_layout_stay() {
        let after = hooks().put_into(Some(WITH_COMMENTS)).unwrap();
        for kept in
            ["// mine\n{", "    \"z\": 1, // last letter first\n", "/* kept */", "\"a\": [1,   2]"]
        {
            assert!(after.contains(kept), "{after}");
        }
        assert!(
            after.find("\"z\"") < after.find("\"hooks\"")
                && after.find("\"hooks\"") < after.find("\"a\""),
            "{after}"
        );
        assert!(after.contains("wink hook") && after.contains("\"mcpServers\""), "{after}");
        assert_eq!(hooks().put_into(Some(&after)).unwrap(), after, "twice changes nothing");
        let back = hooks().take_out_of(&after).unwrap().unwrap();
        assert_eq!(
            parse_json(&back).unwrap().to_serde_value(),
            parse_json(WITH_COMMENTS).unwrap().to_serde_value()
        );
        assert!(back.contains("// last letter first") && back.contains("/* kept */"), "{back}");
    }

    #[test]
    fn of_a_file_of_its_own_nothing_is_left() {
        let made = hooks().put_into(None).unwrap();
        assert!(made.ends_with("}\n"));
        assert_eq!(hooks().take_out_of(&made), Ok(None));
    }

    #[test]
    fn what_another_put_there_is_not_replaced() {
        for text in [
            r#"{"mcpServers": {"wink": {"command": "mine"}}}"#,
            r#"{"mcpServers": 1}"#,
            r#"{"hooks": {"Stop": {}}}"#,
            "[]",
            "7",
        ] {
            assert!(matches!(hooks().put_into(Some(text)), Err(Unchanged::Taken(_))), "{text}");
            assert_eq!(hooks().take_out_of(text).unwrap().as_deref(), Some(text), "{text}");
        }
        for text in ["{", "{\"a\" 1}", "}", "\u{0}"] {
            assert!(matches!(hooks().put_into(Some(text)), Err(Unchanged::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn a_table_is_put_into_toml_and_taken_out_again() {
        let mut content = Table::new();
        content["command"] = toml_edit::value("wink");
        let content = Content::Toml { table: ["mcp_servers", "wink"], content };
        for before in [
            "",
            "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = \"y\"\n",
            "[profiles.a]\nb = 1\n",
        ] {
            let after = content.put_into(Some(before)).unwrap();
            assert!(
                after.starts_with(before.trim_end()) && after.contains("[mcp_servers.wink]"),
                "{after}"
            );
            assert_eq!(content.put_into(Some(&after)).unwrap(), after);
            assert_eq!(content.take_out_of(&after).unwrap().unwrap_or_default(), before);
        }
        assert!(matches!(
            content.put_into(Some("[mcp_servers.wink]\ncommand = \"z\"\n")),
            Err(Unchanged::Taken(_))
        ));
        assert!(matches!(content.put_into(Some("a = [")), Err(Unchanged::Malformed(_))));
    }
}
