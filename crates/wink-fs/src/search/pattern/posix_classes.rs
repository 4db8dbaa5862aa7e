//! `[[:alpha:]]` and escapes within sets, which the glob library does not know.

use std::iter::Peekable;
use std::str::Chars;

/// The classes of POSIX, as ranges of ASCII. A `!` that came first would negate the set.
const CLASSES: [(&str, &str); 13] = [
    ("alnum", "0-9A-Za-z"),
    ("alpha", "A-Za-z"),
    ("blank", "\t "),
    ("cntrl", "\0-\x1f\x7f"),
    ("digit", "0-9"),
    ("graph", "\"-~!"),
    ("lower", "a-z"),
    ("print", " -~"),
    ("punct", ":-@[-`{-~!-/"),
    ("space", "\t-\r "),
    ("upper", "A-Z"),
    ("word", "0-9A-Z_a-z"),
    ("xdigit", "0-9A-Fa-f"),
];

/// Returns a pattern with ranges for classes; or why it cannot be used.
pub(super) fn expanded(pattern: &str) -> Result<String, String> {
    let mut text = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(next) = rest.next() {
        text.push(next);
        match next {
            '\\' => text.extend(rest.next()),
            '[' => expand_set(&mut rest, &mut text)?,
            _ => {}
        }
    }
    Ok(text)
}

/// Copies a set up to its end; one that has none is left to the library to refuse.
fn expand_set(rest: &mut Peekable<Chars<'_>>, text: &mut String) -> Result<(), String> {
    if let Some(negation) = rest.next_if(|it| matches!(it, '!' | '^')) {
        text.push(negation);
    }
    let mut set = String::new();
    // A `]` is a member if it comes first, and a `-` if it comes last.
    let mut first = String::new();
    let mut last = "";
    if rest.next_if_eq(&']').is_some() {
        first.push(']');
    }
    while let Some(next) = rest.next() {
        match next {
            ']' => {
                text.push_str(&first);
                text.push_str(&set);
                text.push_str(last);
                text.push(']');
                return Ok(());
            }
            '[' => match class(rest) {
                Some(name) => set.push_str(ranges(&name)?),
                None => set.push('['),
            },
            '\\' => match rest.next() {
                Some(']') => first = "]".to_owned(),
                Some('-') => last = "-",
                escaped => set.extend(escaped),
            },
            member => set.push(member),
        }
    }
    text.push_str(&first);
    text.push_str(&set);
    Ok(())
}

/// Reads the name of a class after its `[`, if it is one.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut ahead = rest.clone();
    ahead.next_if_eq(&':')?;
    let mut name = String::new();
    while let Some(letter) = ahead.next_if(char::is_ascii_lowercase) {
        name.push(letter);
    }
    ahead.next_if_eq(&':')?;
    ahead.next_if_eq(&']')?;
    *rest = ahead;
    Some(name)
}

fn ranges(name: &str) -> Result<&'static str, String> {
    let known = CLASSES.iter().find(|(class, _)| *class == name);
    known.map(|(_, ranges)| *ranges).ok_or_else(|| format!("there is no class `[:{name}:]`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_classes_and_escapes_within_sets_are_rewritten() {
        for (pattern, expected) in [
            ("a[[:digit:]]b", "a[0-9]b"),
            ("[![:alpha:]_]", "[!A-Za-z_]"),
            ("[[:punct:]]", "[:-@[-`{-~!-/]"),
            ("x[[]1[]].py", "x[[]1[]].py"),
            ("[[:]", "[[:]"),
            (r"\[[:alpha:]]", r"\[[:alpha:]]"),
            (r"[a\]b]", "[]ab]"),
            (r"[a\-c]", "[ac-]"),
            ("[a-z", "[a-z"),
            ("[]a]", "[]a]"),
        ] {
            assert_eq!(expanded(pattern).as_deref(), Ok(expected), "{pattern}");
        }
        assert!(expanded("[[:letters:]]").is_err());
    }
}
