//! What can be typed.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};

use crate::cases;

/// Measures wink side by side with its peers and against its budgets.
#[derive(Debug, Parser)]
#[command(name = "bench/run", args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Tree of files to measure on [default: a generated one].
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,

    /// Files of the generated tree.
    #[arg(long, value_name = "N", default_value_t = 10_000, conflicts_with = "tree")]
    pub(crate) files: usize,

    /// Cases to run [default: all].
    #[arg(long, value_name = "CASE", num_args = 1.., value_parser = case_names())]
    pub(crate) only: Vec<String>,

    /// Where the JSON goes.
    #[arg(long, value_name = "FILE", default_value = DEFAULT_JSON)]
    pub(crate) json: PathBuf,

    /// Directory on the file system to measure [default: the system's temporary directory].
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,

    /// Fails when a ratio is below what its case asks for.
    #[arg(long)]
    pub(crate) check: bool,

    #[command(subcommand)]
    pub(crate) mode: Option<Mode>,
}

/// Ways in which the program calls itself.
#[derive(Debug, Subcommand)]
pub(crate) enum Mode {
    /// Does a case's part that needs a process of its own, and prints what it found as JSON.
    #[command(hide = true)]
    Child { case: String, arguments: Vec<String> },
}

const DEFAULT_JSON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/out/results.json");

fn case_names() -> PossibleValuesParser {
    cases::ALL.iter().map(|case| case.name).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(words: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(["bench/run"].into_iter().chain(words.split_whitespace()))
    }

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn nothing_typed_means_all_cases_on_a_generated_tree() {
        let args = parse("").unwrap();
        assert!(args.only.is_empty() && args.tree.is_none() && args.mode.is_none() && !args.check);
        assert_eq!(args.files, 10_000);
        assert!(args.json.ends_with("bench/out/results.json"));
    }

    #[test]
    fn only_takes_several_names() {
        let args = parse("--only memory-create memory-read --tree t --json r.json").unwrap();
        assert_eq!(args.only, ["memory-create", "memory-read"]);
        assert_eq!(args.tree, Some("t".into()));
        assert_eq!(args.json, PathBuf::from("r.json"));
    }

    #[test]
    fn an_unknown_case_is_refused_with_the_list() {
        let message = parse("--only memory-creat").unwrap_err().to_string();
        for case in cases::ALL {
            assert!(message.contains(case.name), "{message}");
        }
    }

    #[test]
    fn a_given_tree_has_the_size_it_has() {
        assert!(parse("--tree t --files 5").is_err());
    }

    #[test]
    fn a_child_gets_its_case_and_arguments() {
        let mode = parse("child memory-scale 1000").unwrap().mode;
        let Some(Mode::Child { case, arguments }) = mode else { panic!("{mode:?}") };
        assert_eq!((case.as_str(), &arguments[..]), ("memory-scale", &["1000".to_string()][..]));
    }
}
