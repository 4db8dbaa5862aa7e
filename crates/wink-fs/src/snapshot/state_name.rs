//! What a name of a state can look like.

use std::time::Duration;

/// How the ages of states are written, each unit, and its word, with its seconds.
const UNITS: [(&str, &str, u64); 5] = [
    ("s", "second", 1),
    ("m", "minute", 60),
    ("h", "hour", 3600),
    ("d", "day", 86_400),
    ("w", "week", 604_800),
];

/// A name of a state, taken apart: the one grammar of every door.
///
/// ```
/// use wink_fs::StateName;
///
/// assert_eq!(StateName::parse("@-3"), StateName::Ancestor(Some(3)));
/// assert_eq!(StateName::parse("op:12"), StateName::Operation(Some(12)));
/// assert_eq!(StateName::parse("before"), StateName::Given("before"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateName<'a> {
    /// The files as they are now.
    Live,
    /// So many snapshots back; `None` if the number is none.
    Ancestor(Option<usize>),
    /// What an operation left; `None` if the number is none.
    Operation(Option<u64>),
    /// What was there before an operation; `None` if the number is none.
    BeforeOperation(Option<u64>),
    /// What an event left.
    Event,
    /// So long ago.
    Ago(Duration),
    /// A tag, a fork, an id or a part of it, or the path of an archive.
    Given(&'a str),
}

impl<'a> StateName<'a> {
    /// Tells what a name means.
    pub fn parse(text: &'a str) -> Self {
        if text == "@" {
            return Self::Live;
        }
        if let Some(steps) = text.strip_prefix("@-") {
            return Self::Ancestor(if steps.is_empty() { Some(1) } else { number(steps) });
        }
        if let Some(sequence) = text.strip_prefix("op:") {
            return match sequence.strip_suffix('-') {
                Some(sequence) => Self::BeforeOperation(number(sequence)),
                None => Self::Operation(number(sequence)),
            };
        }
        match ago(text) {
            _ if text.starts_with("event:") => Self::Event,
            Some(age) => Self::Ago(age),
            None => Self::Given(text),
        }
    }

    /// Returns the text if it can be a tag, a fork, an id or an archive.
    pub fn given(text: &'a str) -> Option<&'a str> {
        match Self::parse(text) {
            Self::Given(name) => Some(name),
            _ => None,
        }
    }
}

/// Reads a number from one on; a sign is none of its digits.
fn number<N: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Option<N> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number > N::from(0))
}

/// Reads an age such as `10m ago` or `10 minutes ago`.
fn ago(text: &str) -> Option<Duration> {
    let age = text.strip_suffix(" ago")?.trim_end();
    let (count, unit) = age.split_at(age.find(|c: char| !c.is_ascii_digit())?);
    let unit = unit.trim_start();
    let is_unit = |letter, word| unit == letter || unit.strip_suffix('s').unwrap_or(unit) == word;
    let (.., seconds) = UNITS.into_iter().find(|(letter, word, _)| is_unit(*letter, *word))?;
    Some(Duration::from_secs(number::<u64>(count)?.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_name_is_known_by_its_form() {
        let seconds = |n| StateName::Ago(Duration::from_secs(n));
        for (text, expected) in [
            ("@", StateName::Live),
            ("@-", StateName::Ancestor(Some(1))),
            ("@-3", StateName::Ancestor(Some(3))),
            ("op:12", StateName::Operation(Some(12))),
            ("op:12-", StateName::BeforeOperation(Some(12))),
            ("event:412", StateName::Event),
            ("90s ago", seconds(90)),
            ("10m ago", seconds(600)),
            ("2h ago", seconds(7200)),
            ("3d ago", seconds(259_200)),
            ("1w ago", seconds(604_800)),
            ("1 hour ago", seconds(3600)),
            ("2 hours ago", seconds(7200)),
            ("10 minutes ago", seconds(600)),
            ("10 m ago", seconds(600)),
            ("0 hours ago", StateName::Given("0 hours ago")),
            ("2 fortnights ago", StateName::Given("2 fortnights ago")),
            ("hours ago", StateName::Given("hours ago")),
            ("before-refactor", StateName::Given("before-refactor")),
            ("long ago", StateName::Given("long ago")),
        ] {
            assert_eq!(StateName::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_are_none_name_nothing() {
        for text in ["@-0", "@-x", "@--", "@-+1", "@-99999999999999999999999"] {
            assert_eq!(StateName::parse(text), StateName::Ancestor(None), "{text}");
        }
        for text in ["op:", "op:0", "op:x", "op:+1"] {
            assert_eq!(StateName::parse(text), StateName::Operation(None), "{text}");
        }
        assert_eq!(
            StateName::parse("99999999999999999w ago"),
            StateName::Given("99999999999999999w ago")
        );
    }
}
