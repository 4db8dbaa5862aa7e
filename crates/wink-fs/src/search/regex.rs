//! Regular expressions, bounded in size and linear in time.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::grep::{Case, GrepOptions};
use super::pattern::{check_length, invalid};
use crate::error::{Operation, Result};
use crate::limits::Limits;

/// Builds the matcher of a search.
pub(super) fn build(pattern: &str, options: &GrepOptions, limits: &Limits) -> Result<RegexMatcher> {
    check_length(Operation::Grep, pattern, limits)?;
    RegexMatcherBuilder::new()
        .case_insensitive(options.case == Case::Insensitive)
        .case_smart(options.case == Case::Smart)
        .fixed_strings(options.literal)
        .word(options.word)
        .multi_line(true)
        .crlf(true)
        .size_limit(limits.max_regex_bytes)
        .dfa_size_limit(limits.max_regex_bytes)
        .build(pattern)
        .map_err(|error| invalid(Operation::Grep, pattern, &reason(&error.to_string())))
}

/// Takes the one sentence out of an explanation of several lines.
fn reason(explanation: &str) -> String {
    let said = explanation.lines().find_map(|line| line.strip_prefix("error: "));
    let reason = said.or_else(|| explanation.lines().next()).unwrap_or_default();
    match reason {
        text if text.contains("look-around") || text.contains("backreferences") => {
            format!("{text} (searching takes linear time)")
        }
        text => text.to_owned(),
    }
}
