//! What `--json` prints: one document for each command, with its name and version.
//!
//! A command's documents are in its own file; those that several commands share are here.
//! `docs/json-schemas.json` has the JSON Schemas of all of them. A field may be added to a document; removing
//! one or changing its meaning makes a new version.

mod changes;
mod snapshots;

use serde::Serialize;

pub(crate) use self::changes::{ChangedEntry, Changes};
pub(crate) use self::snapshots::{SkippedEntry, SnapshotEntry};

/// A document that is printed as JSON.
pub(crate) trait Document: Serialize {
    /// Its name and version.
    const SCHEMA: &'static str;
    /// `summary` for the answer, `item` for what is printed before it.
    const KIND: &'static str;
}

/// A document's name and kind, and how its JSON Schema is made.
#[cfg(test)]
pub(crate) struct Schema {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) schema: fn() -> schemars::Schema,
}

/// Names the documents of a command; the constant `DOCUMENTS` lists them for the shipped schemas.
macro_rules! documents {
    ($($document:ty: $schema:literal $($kind:literal)?;)*) => {
        $(impl $crate::json::Document for $document {
            const SCHEMA: &'static str = $schema;
            const KIND: &'static str = [$($kind,)? "summary"][0];
        })*

        #[cfg(test)]
        pub(crate) const DOCUMENTS: &[$crate::json::Schema] = &[$($crate::json::Schema {
            name: $schema,
            kind: <$document as $crate::json::Document>::KIND,
            schema: || schemars::schema_for!($document),
        }),*];
    };
}

pub(crate) use documents;

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the schemas are a file of the repository")]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::Schema;
    use crate::commands;
    use crate::ui::progress::ProgressLine;

    /// The shipped schemas are a file, so that a review sees a change.
    #[test]
    fn the_shipped_schemas_match_the_documents() {
        let schema = |kind: &str, make: fn() -> schemars::Schema| {
            let mut schema = make().to_value();
            schema["properties"]["schema"] = json!({"type": "string"});
            schema["properties"]["type"] = json!({ "const": kind });
            schema
        };
        let documents: Vec<&Schema> = commands::DOCUMENTS.iter().copied().flatten().collect();
        let mut all: BTreeMap<&str, Value> =
            documents.iter().map(|it| (it.name, schema(it.kind, it.schema))).collect();
        assert_eq!(all.len(), documents.len(), "two documents have the same name");
        let mut progress = schemars::schema_for!(ProgressLine).to_value();
        progress["properties"]["type"] = json!({"const": "progress"});
        all.insert(ProgressLine::SCHEMA, progress);
        let mut all = json!(all);
        // Another crate in the build may switch serde_json to insertion order.
        all.sort_all_objects();
        let text = serde_json::to_string_pretty(&all).unwrap() + "\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-schemas.json");
        if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            text,
            "INSTA_UPDATE=always writes the file"
        );
    }
}
