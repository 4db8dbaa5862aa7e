//! `wink --help`: the commands in groups.

use clap::{Command, CommandFactory, FromArgMatches};

use crate::cli::Cli;
use crate::commands::GROUPS;

/// Returns the command line with its help.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let commands = commands(&command);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}Options:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Parses the arguments.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches()?)
}

fn commands(command: &Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text += &format!("{heading}:\n");
        for found in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = found.get_about().map(ToString::to_string).unwrap_or_default();
            let aliases = found.get_visible_aliases().map(|alias| format!(" (also {alias})"));
            let aliases: String = aliases.collect();
            text += &format!("  {:<11}  {about}{aliases}\n", found.get_name());
        }
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command's module, by which the groups name it, is called like the command.
    #[test]
    fn every_command_is_in_a_group() {
        let command = Cli::command();
        let listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let known: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(listed, known);
    }

    #[test]
    fn clap_accepts_the_command_line() {
        command().debug_assert();
    }
}
