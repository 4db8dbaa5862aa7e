//! What the commands print as JSON that are about wink itself.

use serde::Serialize;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ConfigList {
    pub(crate) values: Vec<ConfigValue>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ConfigValue {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    /// A variable, a file, or `default`.
    pub(crate) origin: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ConfigSet {
    pub(crate) key: &'static str,
    /// Nothing where what was set is taken away.
    pub(crate) values: Vec<String>,
    /// The file that it was written to.
    pub(crate) place: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Examined {
    /// Whether nothing failed.
    pub(crate) ok: bool,
    pub(crate) checks: Vec<Check>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) health: Health,
    pub(crate) said: String,
    /// Whether `--fix` may help.
    #[serde(skip)]
    pub(crate) can_be_mended: bool,
}

/// How something is that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Ok,
    /// It is not there, and nothing depends on it.
    Note,
    Warning,
    Failed,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CompletionScript {
    pub(crate) shell: String,
    pub(crate) script: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ManualPage {
    pub(crate) page: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ManualPages {
    pub(crate) directory: String,
    pub(crate) pages: Vec<String>,
}
