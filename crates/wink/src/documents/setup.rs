//! What `wink config` and `wink doctor` print as JSON.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct ConfigList {
    pub(crate) values: Vec<ConfigValue>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ConfigValue {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    /// A variable, a file, or `default`.
    pub(crate) origin: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct ConfigSet {
    pub(crate) key: &'static str,
    /// Nothing where what was set is taken away.
    pub(crate) values: Vec<String>,
    /// The file that it was written to.
    pub(crate) place: String,
}
