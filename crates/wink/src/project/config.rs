//! Options, from `WINK_*`, the workspace's settings, `config.toml` or the default.
//!
//! A file inside a workspace is never configuration: an agent could write it.

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use toml_edit::DocumentMut;

use crate::error::CliError;
use crate::project::retention;
use crate::project::settings::Settings;
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::format;

/// An option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Exclude,
    RetentionCount,
    RetentionBytes,
    Color,
    Pager,
}

impl Key {
    pub(crate) const ALL: [Self; 5] =
        [Self::Exclude, Self::RetentionCount, Self::RetentionBytes, Self::Color, Self::Pager];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exclude => "exclude",
            Self::RetentionCount => "retention.count",
            Self::RetentionBytes => "retention.bytes",
            Self::Color => "color",
            Self::Pager => "pager",
        }
    }

    /// Returns whether it is set for a workspace; the others are set for the user.
    pub(crate) fn is_of_workspace(self) -> bool {
        matches!(self, Self::Exclude | Self::RetentionCount | Self::RetentionBytes)
    }

    /// Returns whether it is about the history, which forks share.
    fn is_of_history(self) -> bool {
        matches!(self, Self::RetentionCount | Self::RetentionBytes)
    }

    /// Returns the variable that sets it; `exclude` has none.
    fn variable(self) -> Option<String> {
        let name = self.name().replace('.', "_").to_ascii_uppercase();
        (self != Self::Exclude).then(|| format!("WINK_{name}"))
    }

    fn usual(self) -> String {
        match self {
            Self::RetentionCount => retention::COUNT.to_string(),
            Self::RetentionBytes => format::size(retention::BYTES),
            Self::Color => "auto".to_owned(),
            Self::Pager => env::var("PAGER").unwrap_or_default(),
            Self::Exclude => String::new(),
        }
    }

    /// Fails for an invalid value.
    pub(crate) fn check(self, value: &str) -> Result<(), CliError> {
        let is_valid = match self {
            Self::RetentionCount => value.parse::<usize>().is_ok_and(|count| count > 0),
            Self::RetentionBytes => format::parse_size(value).is_some(),
            Self::Color => matches!(value, "auto" | "always" | "never"),
            Self::Exclude | Self::Pager => !value.chars().any(char::is_control),
        };
        if is_valid { Ok(()) } else { Err(CliError::invalid_setting(self.name(), value)) }
    }

    /// Also fails for an empty pattern, which would be listed but exclude nothing.
    pub(crate) fn check_given(self, value: &str) -> Result<(), CliError> {
        if self == Self::Exclude && value.trim_matches('/').is_empty() {
            Err(CliError::invalid_setting(self.name(), value))
        } else {
            self.check(value)
        }
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|key| key.name() == text);
        known.ok_or_else(|| format!("choose one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Variable(String),
    Workspace(PathBuf),
    Person(PathBuf),
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "${name}"),
            Self::Workspace(path) | Self::Person(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The options of the user's `config.toml`.
#[derive(Debug, Default)]
pub(crate) struct Config {
    document: DocumentMut,
}

impl Config {
    /// Reads the user's file; a missing one sets nothing.
    pub(crate) fn read() -> Result<Self, CliError> {
        let Some(path) = file() else { return Ok(Self::default()) };
        let bytes = disk::read(&path);
        let bytes = bytes.map_err(|error| CliError::host("cannot read", &path, error))?;
        let text = String::from_utf8(bytes.unwrap_or_default());
        let text = text.map_err(|error| CliError::unreadable_config(&path, &error))?;
        let document = text
            .parse()
            .map_err(|error: toml_edit::TomlError| CliError::unreadable_config(&path, &error))?;
        Ok(Self { document })
    }

    /// Returns the value of a key, and where it was set.
    pub(crate) fn find(
        &self,
        key: Key,
        workspace: Option<&Project>,
    ) -> Result<(String, Origin), CliError> {
        let variable = key.variable().and_then(|name| Some((env::var(&name).ok()?, name)));
        let found = match (variable, workspace) {
            (Some((value, name)), _) => Some((value, Origin::Variable(name))),
            (None, Some(project)) => set_in(project, key)?,
            (None, None) => None,
        };
        let found = match (found, self.value(key), file()) {
            (Some(found), ..) => found,
            (None, Some(value), Some(path)) => (value, Origin::Person(path)),
            _ => return Ok((key.usual(), Origin::Default)),
        };
        key.check(&found.0).map(|()| found)
    }

    fn value(&self, key: Key) -> Option<String> {
        let mut item = self.document.as_item();
        for part in key.name().split('.') {
            item = item.get(part)?;
        }
        let number = || item.as_integer().map(|number| number.to_string());
        item.as_str().map(str::to_owned).or_else(number)
    }

    /// Sets or removes a value in the user's file; comments stay.
    pub(crate) fn set(mut self, key: Key, value: Option<&str>) -> Result<PathBuf, CliError> {
        let path = file().ok_or_else(CliError::no_config_home)?;
        let (table, name) = key.name().split_once('.').unwrap_or(("", key.name()));
        let table = match table {
            "" => self.document.as_table_mut() as &mut dyn toml_edit::TableLike,
            table => self
                .document
                .entry(table)
                .or_insert(toml_edit::table())
                .as_table_like_mut()
                .ok_or_else(|| CliError::invalid_setting(table, "a value that is no table"))?,
        };
        match value {
            Some(value) => drop(table.insert(name, toml_edit::value(value))),
            None => drop(table.remove(name)),
        }
        let failed = |error| CliError::host("cannot write", &path, error);
        path.parent().map_or(Ok(()), disk::make_private).map_err(failed)?;
        disk::replace(&path, self.document.to_string().as_bytes()).map_err(failed)?;
        Ok(path)
    }
}

/// Returns the value that a workspace sets, and where.
///
/// A fork shares its history: unless the user set a value in the fork, the workspace that it was forked from decides
/// what is kept of it.
fn set_in(project: &Project, key: Key) -> Result<Option<(String, Origin)>, CliError> {
    if let Some(value) = project.settings.value(key) {
        return Ok(Some((value, Origin::Workspace(Settings::place(&project.directory)))));
    }
    match project.forked_from()?.filter(|_| key.is_of_history()) {
        Some(main) => set_in(&main, key),
        None => Ok(None),
    }
}

fn file() -> Option<PathBuf> {
    Some(project::config_home()?.join("wink").join("config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_by_its_name_and_has_a_usual_value_that_it_takes() {
        for key in Key::ALL {
            assert_eq!(key.name().parse(), Ok(key));
            assert!(key.check(&key.usual()).is_ok(), "{key:?}");
        }
        assert!("colour".parse::<Key>().unwrap_err().contains("retention.count"));
    }

    #[test]
    fn values_that_a_key_cannot_have_are_refused() {
        for (key, value) in [
            (Key::RetentionCount, "0"),
            (Key::RetentionCount, "many"),
            (Key::RetentionBytes, "-1"),
            (Key::RetentionBytes, "1 parsec"),
            (Key::Color, "red"),
            (Key::Exclude, "a\nb"),
        ] {
            assert!(key.check(value).is_err(), "{key:?} {value}");
        }
    }
}
