//! Errors about settings.

use std::error::Error as StdError;
use std::path::Path;

use wink_fs::ErrorKind;

use super::{CliError, sanitized};
use crate::clients::config::Unchanged;

impl CliError {
    /// A client that `wink setup` does not know.
    pub(crate) fn unknown_client(name: &str) -> Self {
        Self::of(ErrorKind::InvalidArgument, format!("`{name}` is not a client that wink knows"))
            .hint("`wink setup --help` lists them")
    }

    /// Settings of a client that are not changed.
    pub(crate) fn settings_of_client(path: &Path, why: &Unchanged) -> Self {
        let message = format!("{} was not changed", path.display());
        match why {
            Unchanged::Malformed(why) => Self::of(ErrorKind::InvalidArgument, message)
                .because(&format!("it cannot be parsed: {why}"))
                .hint("repair it, or add what `--print` shows for an empty project"),
            Unchanged::Taken(why) => Self::of(ErrorKind::Conflict, message)
                .because(why)
                .hint("remove it, or keep it if it runs wink"),
        }
    }

    /// An invalid value.
    pub(crate) fn invalid_setting(key: &str, value: &str) -> Self {
        let message = format!("invalid value `{}` for {key}", sanitized(value));
        Self::of(ErrorKind::InvalidArgument, message).hint(match key {
            "retention.count" => "use a number of 1 or more",
            "retention.bytes" => "use a size, such as `2 GiB`",
            "color" => "use auto, always or never",
            "exclude" => "use one line, such as `target/`",
            _ => "use one value in one line",
        })
    }

    /// `config add` of a key that is not a list.
    pub(crate) fn single_setting(key: &str) -> Self {
        let message = format!("{key} is not a list");
        Self::of(ErrorKind::InvalidArgument, message)
            .hint(format!("`wink config set {key} VALUE` sets it"))
    }

    /// `config remove` of a value that is not in the list.
    pub(crate) fn not_set(key: &str, value: &str, all: &[String]) -> Self {
        let message = format!("`{}` is not in {key}", sanitized(value));
        let there = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
        Self::of(ErrorKind::NotFound, message).hint(format!("it contains {there}"))
    }

    /// A file of settings that does not parse.
    pub(crate) fn unreadable_config(path: &Path, error: &dyn StdError) -> Self {
        let message = format!("cannot parse `{}`", path.display());
        Self::of(ErrorKind::InvalidArgument, message).cause(error).hint("correct it, or remove it")
    }

    /// Neither `XDG_CONFIG_HOME` nor `HOME` is set.
    pub(crate) fn no_config_home() -> Self {
        let message = "no place for the settings: neither XDG_CONFIG_HOME nor HOME is set";
        Self::of(ErrorKind::NotFound, message).hint("set one of them")
    }

    /// `exclude` for all workspaces, which would also apply where the user does not expect it.
    pub(crate) fn exclude_of_person() -> Self {
        Self::of(ErrorKind::InvalidArgument, "`exclude` is set for each workspace")
            .hint("omit `--user`")
    }
}
