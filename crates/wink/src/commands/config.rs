//! `wink config`: gets and sets options.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::documents;
use crate::project::Project;
use crate::project::config::{Config, Key};
use crate::project::git::directory;
use crate::project::settings::Settings;
use crate::ui::answer::Answer;

/// Get and set options.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the value of a key.
    Get(GetArgs),

    /// Set a key; without a value, unset it.
    Set(SetArgs),

    /// Add values to a list (`exclude`).
    Add(PartArgs),

    /// Remove values from a list (`exclude`).
    Remove(PartArgs),

    /// List all keys and their values.
    List(ListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Key: exclude, retention.count, retention.bytes, color or pager.
    #[arg(value_name = "KEY")]
    key: Key,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Key: exclude, retention.count, retention.bytes, color or pager.
    #[arg(value_name = "KEY")]
    key: Key,

    /// Value; `exclude` may have several.
    #[arg(value_name = "VALUE")]
    values: Vec<String>,

    /// Set it for all your workspaces, in `config.toml`.
    #[arg(long)]
    user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// Key: exclude.
    #[arg(value_name = "KEY")]
    key: Key,

    /// Values.
    #[arg(value_name = "VALUE", required = true)]
    values: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show where each value was set.
    #[arg(long)]
    origin: bool,
}

documents! {
    ConfigValue: "wink/config.get@1";
    ConfigSet: "wink/config.set@1";
    ConfigList: "wink/config.list@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ConfigValue {
    key: &'static str,
    value: String,
    /// A variable, a file, or `default`.
    origin: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ConfigSet {
    key: &'static str,
    /// Empty if the key was unset.
    values: Vec<String>,
    /// The file that it was written to.
    place: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ConfigList {
    values: Vec<ConfigValue>,
}

pub(crate) fn run(context: &Context, args: &ConfigArgs) -> Result<Answer, CliError> {
    match &args.command {
        ConfigCommand::Get(args) => get(context, args.key),
        ConfigCommand::Set(args) => set(context, args),
        ConfigCommand::Add(args) => change_list(context, args, add, false),
        ConfigCommand::Remove(args) => {
            // `.git` is excluded by default: a user who removes that pattern wants it captured.
            let captures_git = directory::is_excluded_by(&args.values).unwrap_or(false);
            change_list(context, args, remove, captures_git)
        }
        ConfigCommand::List(args) => list(context, args),
    }
}

/// Finds the workspace, if the command runs in one.
fn workspace(context: &Context) -> Result<Option<Project>, CliError> {
    Project::find_any(&context.directory, context.store.as_deref())
}

fn find(config: &Config, key: Key, project: Option<&Project>) -> Result<ConfigValue, CliError> {
    let (value, origin) = config.find(key, project)?;
    Ok(ConfigValue { key: key.name(), value, origin: origin.to_string() })
}

fn get(context: &Context, key: Key) -> Result<Answer, CliError> {
    let found = find(&Config::read()?, key, workspace(context)?.as_ref())?;
    context.answer(&found, |it| format!("{}\n", it.value))
}

fn list(context: &Context, args: &ListArgs) -> Result<Answer, CliError> {
    let (config, project) = (Config::read()?, workspace(context)?);
    let values = Key::ALL.into_iter().map(|key| find(&config, key, project.as_ref()));
    let document = ConfigList { values: values.collect::<Result<_, _>>()? };
    let line = |it: &ConfigValue| {
        if args.origin {
            format!("{} = {}  ({})\n", it.key, it.value, it.origin)
        } else {
            format!("{} = {}", it.key, it.value).trim_end().to_owned() + "\n"
        }
    };
    context.answer(&document, |it| it.values.iter().map(line).collect())
}

fn set(context: &Context, args: &SetArgs) -> Result<Answer, CliError> {
    let SetArgs { key, values, user } = args;
    values.iter().try_for_each(|value| key.check_given(value))?;
    if *key != Key::Exclude && values.len() > 1 {
        return Err(CliError::invalid_setting(key.name(), &values.join(" ")));
    }
    let place = match key.is_of_workspace() && !user {
        true => set_here(context, *key, |_| Ok(values.clone()), false)?.1,
        false if *key == Key::Exclude => return Err(CliError::exclude_of_person()),
        false => Config::read()?.set(*key, values.first().map(String::as_str))?,
    };
    answer(context, *key, values.clone(), &place)
}

/// Returns the answer: the new values, and where they are set.
fn answer(
    context: &Context,
    key: Key,
    values: Vec<String>,
    place: &Path,
) -> Result<Answer, CliError> {
    let (key, place) = (key.name(), place.display().to_string());
    let document = ConfigSet { key, values, place };
    context.answer(&document, |it| match it.values.as_slice() {
        [] => format!("Unset {} in {}\n", it.key, it.place),
        values => format!("{} = {} in {}\n", it.key, values.join(", "), it.place),
    })
}

/// A change of a list of values.
type ChangeList = fn(Vec<String>, &[String]) -> Result<Vec<String>, CliError>;

/// Changes the exclusions, the only key with several values.
fn change_list(
    context: &Context,
    args: &PartArgs,
    change: ChangeList,
    captures_git: bool,
) -> Result<Answer, CliError> {
    let PartArgs { key, values } = args;
    if *key != Key::Exclude {
        return Err(CliError::single_setting(key.name()));
    }
    let (all, place) = set_here(context, *key, |known| change(known, values), captures_git)?;
    answer(context, *key, all, &place)
}

/// Adds new values.
fn add(mut all: Vec<String>, values: &[String]) -> Result<Vec<String>, CliError> {
    for value in values {
        Key::Exclude.check_given(value)?;
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
    Ok(all)
}

/// Removes values; all of them must be set.
fn remove(all: Vec<String>, values: &[String]) -> Result<Vec<String>, CliError> {
    let left = all.iter().filter(|value| !values.contains(value)).cloned().collect::<Vec<_>>();
    // `.git` may be excluded by default, without being in the list.
    let is_excluded = directory::is_excluded_by(&left)?;
    let is_there =
        |value: &String| all.contains(value) || directory::is_named(value) && !is_excluded;
    match values.iter().find(|value| !is_there(value)) {
        Some(unknown) => Err(CliError::not_set(Key::Exclude.name(), unknown, &all)),
        None => Ok(left),
    }
}

/// Sets the changed list; returns it with the file that it was written to.
fn set_here(
    context: &Context,
    key: Key,
    values: impl FnOnce(Vec<String>) -> Result<Vec<String>, CliError>,
    captures_git: bool,
) -> Result<(Vec<String>, PathBuf), CliError> {
    let mut project = Project::find(&context.directory, context.store.as_deref())?;
    let values = project.change(|settings| {
        let values = values(settings.exclude.clone())?;
        match key {
            Key::Exclude => {
                let is_excluded = directory::is_excluded_by(&values)?;
                let captures_git = captures_git || settings.captures_git();
                settings.set_excluded(values.clone(), captures_git && !is_excluded);
            }
            key => settings.set(key, values.first().cloned()),
        }
        Ok(values)
    })?;
    Ok((values, Settings::place(&project.directory)))
}
