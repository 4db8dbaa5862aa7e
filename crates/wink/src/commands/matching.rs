//! The options that `wink search` and `wink fs grep` share.

use clap::Args;
use wink_fs::search::{Case, GrepOptions};

use crate::cli;

/// How many lines are listed unless the user sets a limit.
const LINES: u64 = 1000;

#[derive(Debug, Args)]
pub(super) struct Matching {
    /// Ignore case.
    #[arg(short, long)]
    ignore_case: bool,

    /// Treat the pattern as plain text.
    #[arg(short = 'F', long)]
    fixed_strings: bool,

    /// List at most N lines.
    #[arg(short = 'n', value_name = "N", default_value_t = LINES, value_parser = cli::count::<u64>)]
    count: u64,
}

impl Matching {
    pub(super) fn options(&self) -> GrepOptions {
        let case = if self.ignore_case { Case::Insensitive } else { Case::Sensitive };
        let options = GrepOptions::default().case(case).literal(self.fixed_strings);
        options.max_matches(self.count)
    }
}
