//! Calls of tools that are not offered.

use crate::refusal::Refusal;
use crate::suggest::nearest;

/// How many characters are kept of a name that is not that of a tool.
const SHOWN: usize = 60;

/// Returns as much of a name as finds it again.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

/// Refuses a name that is none of those that are offered.
pub(crate) fn refusal<'t>(name: &str, offered: impl Iterator<Item = &'t str>) -> Refusal {
    Refusal::invalid_argument(message(name, offered))
}

/// Words the answer to a name that is none of those that are offered.
pub(crate) fn message<'t>(name: &str, offered: impl Iterator<Item = &'t str>) -> String {
    let (shown, offered) = (shown(name), offered.collect::<Vec<_>>());
    match nearest(name, offered.iter().copied()) {
        Some(near) if near == name => format!("The tool `{shown}` is not offered here."),
        Some(near) => format!("There is no tool `{shown}`; did you mean `{near}`?"),
        None if offered.is_empty() => format!("There is no tool `{shown}`; none is offered."),
        None => format!("There is no tool `{shown}`; the tools are {}.", offered.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_known_and_not_offered_is_not_taken_for_a_slip() {
        let said = |name| message(name, ["shell_execute", "ls"].into_iter());
        assert_eq!(said("shell_execute"), "The tool `shell_execute` is not offered here.");
        assert_eq!(
            said("shell_exec"),
            "There is no tool `shell_exec`; did you mean `shell_execute`?"
        );
    }
}
