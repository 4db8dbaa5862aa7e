//! Failures of what a person set.

use std::error::Error as StdError;
use std::path::Path;

use wink_fs::ErrorKind;

use super::{CliError, shown};

impl CliError {
    /// A value that a setting cannot have.
    pub(crate) fn invalid_setting(key: &str, value: &str) -> Self {
        let message = format!("`{}` is no value for {key}", shown(value));
        Self::of(ErrorKind::InvalidArgument, message).hint(match key {
            "retention.count" => "give a number from 1 on",
            "retention.bytes" => "give a size, such as `2 GiB`",
            "color" => "give auto, always or never",
            "exclude" => "give a pattern in one line, such as `target/`",
            _ => "give one value in one line",
        })
    }

    /// A setting with one value, to which none can be added.
    pub(crate) fn single_setting(key: &str) -> Self {
        let message = format!("{key} has one value, to which none is added");
        Self::of(ErrorKind::InvalidArgument, message)
            .hint(format!("`wink config set {key} VALUE` sets it"))
    }

    /// A value that cannot be taken away, because it is not there.
    pub(crate) fn not_set(key: &str, value: &str, all: &[String]) -> Self {
        let message = format!("`{}` is not in {key}", shown(value));
        let there = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
        Self::of(ErrorKind::NotFound, message).hint(format!("there is {there}"))
    }

    /// A file of settings that does not parse.
    pub(crate) fn unreadable_config(path: &Path, error: &dyn StdError) -> Self {
        let message = format!("`{}` cannot be understood", path.display());
        Self::of(ErrorKind::InvalidArgument, message).cause(error).hint("correct it, or remove it")
    }

    /// Nothing says where settings of this person are kept.
    pub(crate) fn no_config_home() -> Self {
        let message = "neither XDG_CONFIG_HOME nor HOME says where settings are kept";
        Self::of(ErrorKind::NotFound, message).hint("set one of them")
    }

    /// Exclusions that would apply to workspaces that the user does not think of.
    pub(crate) fn exclude_of_person() -> Self {
        Self::of(ErrorKind::InvalidArgument, "what is excluded is set for each workspace")
            .hint("leave `--user` out")
    }
}
