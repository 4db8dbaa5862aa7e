//! A custom tool whose parameters are of every kind that there is.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wink_agent::{Effect, Tool, ToolResult};

/// One of each kind; a comment on a type says nothing of a field.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Kinds {
    /// A text.
    text: String,
    /// A number with a fraction.
    ratio: f64,
    /// One within bounds.
    #[schemars(range(min = 0.5, max = 2.5))]
    scale: Option<f32>,
    /// A whole number with a sign.
    shift: i64,
    /// A smaller one.
    small: i32,
    /// One without a sign that may be left out.
    count: Option<u32>,
    /// Texts.
    names: Vec<String>,
    /// Whole numbers.
    lines: Option<Vec<u64>>,
    /// Lists in a list.
    rows: Vec<Vec<bool>>,
    /// Texts of which each counts once.
    words: BTreeSet<String>,
    /// A struct.
    place: Place,
    /// A struct that may be left out.
    other: Option<Place>,
    /// Structs.
    places: Vec<Place>,
    /// Numbers by name.
    weights: BTreeMap<String, f64>,
    /// Structs by name.
    sites: BTreeMap<String, Place>,
    /// Choices of which nothing is said.
    order: Option<Order>,
    /// Choices with a comment each.
    style: Style,
    /// Such choices that may be left out.
    spare: Option<Style>,
    /// Such choices in a list.
    styles: Vec<Style>,
}

/// Somewhere in a file.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
struct Place {
    /// The line.
    line: u64,
    /// What is said of it.
    note: Option<String>,
    /// How it is shown.
    style: Option<Style>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    ByName,
    BySize,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Style {
    /// As it is.
    #[default]
    Plain,
    /// In bold letters.
    Bold,
    Hidden,
}

/// Makes a tool that answers with what it was given.
pub(crate) fn tool() -> Tool {
    Tool::new("kinds", "Takes everything.", Effect::Reads, |_, params: Kinds| {
        Ok(ToolResult::success("Taken.".to_owned(), json!(params)))
    })
}
