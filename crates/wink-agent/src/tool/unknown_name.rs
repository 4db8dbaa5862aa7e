//! Calls of tools that are not offered.

use crate::tool::error::ToolError;
use crate::tool::suggest::nearest;

/// Characters of an unknown name that are shown.
const SHOWN: usize = 60;

/// Shortens a name that a model sent.
pub(crate) fn shorten_name(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

/// Creates the error for a name that is not offered.
pub(crate) fn refusal<'t>(name: &str, offered: impl Iterator<Item = &'t str>) -> ToolError {
    ToolError::invalid_argument(message(name, offered))
}

/// Returns the message for a name that is not offered, with the nearest one that is.
pub(crate) fn message<'t>(name: &str, offered: impl Iterator<Item = &'t str>) -> String {
    let shown = shorten_name(name);
    let offered = offered.collect::<Vec<_>>();
    match nearest(name, offered.iter().copied()) {
        Some(near) => format!("There is no tool `{shown}`; did you mean `{near}`?"),
        None => format!("There is no tool `{shown}`; {}", listed(&offered)),
    }
}

/// Returns the message for a tool that exists but is not offered here.
pub(crate) fn not_offered<'t>(name: &str, offered: impl Iterator<Item = &'t str>) -> String {
    let offered = offered.collect::<Vec<_>>();
    format!("The tool `{}` is not offered here; {}", shorten_name(name), listed(&offered))
}

fn listed(offered: &[&str]) -> String {
    match offered {
        [] => "none is offered.".to_owned(),
        offered => format!("the tools are {}.", offered.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::set::Toolset;

    #[test]
    fn a_tool_that_is_known_and_not_offered_is_not_taken_for_a_slip() {
        let offered =
            || [Toolset::FILES.find("ls"), Toolset::FILES.find("mv")].into_iter().flatten();
        let said = |name| Toolset::unknown_tool_message(name, offered());
        assert_eq!(said("rm"), "The tool `rm` is not offered here; the tools are ls, mv.");
        assert_eq!(said("mw"), "There is no tool `mw`; did you mean `mv`?");
        assert_eq!(said("banana"), "There is no tool `banana`; the tools are ls, mv.");
    }
}
