//! The fields of a JSON object, in their order and as they are written.

use std::fmt;

use serde::de::{self, DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The fields of an object; those that the reader does not know are written back unchanged.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    /// Removes and returns an optional field.
    pub(super) fn optional<T: DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, String> {
        let Some(place) = self.0.iter().position(|(field, _)| field == name) else {
            return Ok(None);
        };
        let (_, value) = self.0.remove(place);
        serde_json::from_str(value.get()).map(Some).map_err(|why| format!("`{name}`: {why}"))
    }

    /// Removes and returns a required field.
    pub(super) fn required<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, String> {
        self.optional(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if !seen.insert(name.clone()) {
                return Err(de::Error::custom(format_args!("`{name}` is there twice")));
            }
            fields.push((name, value));
        }
        Ok(Fields(fields))
    }
}
