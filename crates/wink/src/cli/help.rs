//! The first page of help: the commands by what they are for.

use clap::{Command, CommandFactory, FromArgMatches};

use crate::cli::Cli;

/// The commands in the order of the page.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Start here", &["init", "status", "demo"]),
    (
        "History",
        &[
            "snapshot", "log", "show", "diff", "restore", "revert", "undo", "redo", "op", "tag",
            "search", "prune", "verify", "repair",
        ],
    ),
    ("Forks", &["fork", "branch", "merge"]),
    ("Files", &["fs", "export", "import"]),
    ("Agents", &["tool", "session"]),
    ("Servers", &["serve", "mcp"]),
    ("Setup", &["doctor", "config", "completions", "man", "help"]),
];

/// Returns the command line as it is typed and explained.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let commands = commands(&command);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}Options:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Parses what was typed.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches()?)
}

fn commands(command: &Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let lines: String = names.iter().filter_map(|name| line(command, name)).collect();
        if !lines.is_empty() {
            text += &format!("{heading}:\n{lines}\n");
        }
    }
    text
}

/// Writes what a command does; nothing where there is no such command.
fn line(command: &Command, name: &str) -> Option<String> {
    let found = command.find_subcommand(name)?;
    let about = found.get_about()?.to_string();
    let aliases = found.get_visible_aliases().map(|alias| format!(" (also {alias})"));
    Some(format!("  {name:<11}  {about}{}\n", aliases.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_on_the_first_page_once() {
        let command = Cli::command();
        let mut listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter()).collect();
        let count = listed.len();
        listed.sort();
        listed.dedup();
        assert_eq!(listed.len(), count);
        for name in listed.iter().filter(|name| **name != &"help") {
            assert!(command.find_subcommand(name).is_some(), "there is no {name}");
        }
        for known in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            assert!(listed.contains(&&known.get_name()), "{}", known.get_name());
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
