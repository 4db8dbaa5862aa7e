//! What a name of a state can look like.

use std::time::Duration;

/// What an archive's name ends with.
const ARCHIVE: &str = ".fs.zip";

/// How the ages of states are written, each unit with its seconds.
const UNITS: [(&str, u64); 5] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 604_800)];

/// A name of a state, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// The files as they are now.
    Live,
    /// So many snapshots back; `None` where the number is none.
    Ancestor(Option<usize>),
    /// What an operation left; `None` where the number is none.
    Operation(Option<u64>),
    /// What an event left.
    Event,
    /// So long ago.
    Ago(Duration),
    /// A tag, a branch, an id or a part of it, or the path of an archive.
    Given(&'a str),
}

impl<'a> Name<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        if text == "@" {
            return Self::Live;
        }
        if let Some(steps) = text.strip_prefix("@-") {
            return Self::Ancestor(if steps.is_empty() { Some(1) } else { number(steps) });
        }
        if let Some(sequence) = text.strip_prefix("op:") {
            return Self::Operation(number(sequence));
        }
        match ago(text) {
            _ if text.starts_with("event:") => Self::Event,
            Some(age) => Self::Ago(age),
            None => Self::Given(text),
        }
    }
}

/// Tells whether a name is that of an archive, where nothing else has it.
pub(super) fn is_archive(text: &str) -> bool {
    text.ends_with(ARCHIVE)
}

/// Reads a number from one on; a sign is none of its digits.
fn number<N: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Option<N> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number > N::from(0))
}

/// Reads an age such as `10m ago`.
fn ago(text: &str) -> Option<Duration> {
    let age = text.strip_suffix(" ago")?.trim_end();
    let (unit, seconds) = UNITS.into_iter().find(|(unit, _)| age.ends_with(unit))?;
    let count: u64 = number(age.strip_suffix(unit)?)?;
    Some(Duration::from_secs(count.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_name_is_known_by_its_form() {
        let seconds = |n| Name::Ago(Duration::from_secs(n));
        for (text, expected) in [
            ("@", Name::Live),
            ("@-", Name::Ancestor(Some(1))),
            ("@-3", Name::Ancestor(Some(3))),
            ("op:12", Name::Operation(Some(12))),
            ("event:412", Name::Event),
            ("90s ago", seconds(90)),
            ("10m ago", seconds(600)),
            ("2h ago", seconds(7200)),
            ("3d ago", seconds(259_200)),
            ("1w ago", seconds(604_800)),
            ("before-refactor", Name::Given("before-refactor")),
            ("long ago", Name::Given("long ago")),
        ] {
            assert_eq!(Name::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_are_none_name_nothing() {
        for text in ["@-0", "@-x", "@--", "@-+1", "@-99999999999999999999999"] {
            assert_eq!(Name::parse(text), Name::Ancestor(None), "{text}");
        }
        for text in ["op:", "op:0", "op:x", "op:+1"] {
            assert_eq!(Name::parse(text), Name::Operation(None), "{text}");
        }
        assert_eq!(Name::parse("99999999999999999w ago"), Name::Given("99999999999999999w ago"));
    }
}
