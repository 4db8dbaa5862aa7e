//! `wink config`: what is set, and where.

use clap::{Args, Subcommand};
use wink_fs::Exclusions;

use crate::answer::Answer;
use crate::config::{Config, Key};
use crate::context::Context;
use crate::documents::{ConfigList, ConfigSet, ConfigValue};
use crate::failure::Failure;
use crate::home::Home;
use crate::settings::Settings;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Prints what holds for a key.
    Get(GetArgs),

    /// Sets a key, or, without a value, takes what was set away.
    Set(SetArgs),

    /// Lists what holds for all keys.
    List(ListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The key: exclude, retention.count, retention.bytes, color or pager.
    #[arg(value_name = "KEY")]
    key: Key,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The key: exclude, retention.count, retention.bytes, color or pager.
    #[arg(value_name = "KEY")]
    key: Key,

    /// The value; what is excluded may have several.
    #[arg(value_name = "VALUE")]
    values: Vec<String>,

    /// Sets it for all workspaces of this person, in `config.toml`.
    #[arg(long)]
    user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Says where each value was set.
    #[arg(long)]
    origin: bool,
}

pub(crate) fn run(context: &Context, command: &ConfigCommand) -> Result<Answer, Failure> {
    match command {
        ConfigCommand::Get(args) => get(context, args.key),
        ConfigCommand::Set(args) => set(context, args),
        ConfigCommand::List(args) => list(context, args),
    }
}

/// Returns the workspace, if the command works in one.
/// Finds the workspace, where the command works in one.
fn workspace(context: &Context) -> Result<Option<Home>, Failure> {
    match Home::find(&context.directory, context.store.as_deref()) {
        Err(failure) if failure.is_no_workspace() => Ok(None),
        found => found.map(Some),
    }
}

fn find(config: &Config, key: Key, home: Option<&Home>) -> Result<ConfigValue, Failure> {
    let settings = home.map(|home| (&home.settings, home.directory.as_path()));
    let (value, origin) = config.find(key, settings)?;
    Ok(ConfigValue { key: key.name(), value, origin: origin.to_string() })
}

fn get(context: &Context, key: Key) -> Result<Answer, Failure> {
    let found = find(&Config::read()?, key, workspace(context)?.as_ref())?;
    context.answer(&found, |it| format!("{}\n", it.value))
}

fn list(context: &Context, args: &ListArgs) -> Result<Answer, Failure> {
    let (config, home) = (Config::read()?, workspace(context)?);
    let values = Key::ALL.into_iter().map(|key| find(&config, key, home.as_ref()));
    let document = ConfigList { values: values.collect::<Result<_, _>>()? };
    let line = |it: &ConfigValue| match args.origin {
        true => format!("{} = {}  ({})\n", it.key, it.value, it.origin),
        false => format!("{} = {}", it.key, it.value).trim_end().to_owned() + "\n",
    };
    context.answer(&document, |it| it.values.iter().map(line).collect())
}

fn set(context: &Context, args: &SetArgs) -> Result<Answer, Failure> {
    let SetArgs { key, values, user } = args;
    values.iter().try_for_each(|value| key.check(value))?;
    if *key != Key::Exclude && values.len() > 1 {
        return Err(Failure::invalid_setting(key.name(), &values.join(" ")));
    }
    let place = match key.is_of_workspace() && !user {
        true => set_here(context, *key, values)?,
        false if *key == Key::Exclude => return Err(Failure::exclude_of_person()),
        false => Config::read()?.set(*key, values.first().map(String::as_str))?,
    };
    let (key, place) = (key.name(), place.display().to_string());
    let document = ConfigSet { key, values: values.clone(), place };
    context.answer(&document, |it| match it.values.as_slice() {
        [] => format!("{} is not set any more in {}\n", it.key, it.place),
        values => format!("{} = {} in {}\n", it.key, values.join(", "), it.place),
    })
}

fn set_here(context: &Context, key: Key, values: &[String]) -> Result<std::path::PathBuf, Failure> {
    let home = Home::find(&context.directory, context.store.as_deref())?;
    let (directory, mut settings) = (home.directory, home.settings);
    match key {
        Key::Exclude => {
            Exclusions::parse(values.to_vec())?;
            settings.exclude = values.to_vec();
        }
        key => settings.set(key, values.first().cloned()),
    }
    settings.write_over(&directory)?;
    Ok(Settings::place(&directory))
}
