//! Colours, and text that is safe to print on a terminal.

mod patch;

use std::ops::Range;

use anstyle::{AnsiColor, Effects, Style};

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();
const PLACE: Style = AnsiColor::Cyan.on_default();
const STRONG: Style = Style::new().effects(Effects::BOLD);
const FAINT: Style = Style::new().effects(Effects::DIMMED);

/// The first words of messages, with their colours.
const TALK: [(&str, Style); 5] = [
    ("error:", AnsiColor::Red.on_default().effects(Effects::BOLD)),
    ("warning:", AnsiColor::Yellow.on_default().effects(Effects::BOLD)),
    ("note:", STRONG),
    ("help:", AnsiColor::Cyan.on_default().effects(Effects::BOLD)),
    ("cause:", STRONG),
];

/// The kind of a text, which decides its colours.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Paint {
    #[default]
    Plain,
    /// A patch as git writes it, maybe after a list with letters; the words by which lines differ are marked.
    Patch,
    /// Lines with a letter for each change.
    Letters,
    /// Short ids, each with how many of its characters no other id begins with.
    Ids(Vec<(String, usize)>),
    /// A coloured version of the text.
    Ready(String),
}

impl Paint {
    /// Adds colours to a text.
    pub(crate) fn paint(&self, text: &str) -> String {
        let line: Box<dyn Fn(&str) -> String> = match self {
            Self::Plain => return text.to_owned(),
            Self::Ready(painted) => return painted.clone(),
            Self::Patch => return patch::paint(text),
            Self::Letters => Box::new(letter_line),
            Self::Ids(ids) => Box::new(|line| id_line(line, ids)),
        };
        text.split_inclusive('\n')
            .map(|part| {
                let content = part.strip_suffix('\n').unwrap_or(part);
                line(content) + &part[content.len()..]
            })
            .collect()
    }
}

/// Colours the first word of each line of a message.
pub(crate) fn talk(text: &str) -> String {
    let line = |line: &str| match TALK.iter().find(|(word, _)| line.starts_with(word)) {
        Some((word, style)) => painted(word, Some(*style)) + &line[word.len()..],
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Makes characters that a terminal would take for a command, or by which it shows others in another order, into
/// pictures of them.
pub(crate) fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{7f}' => '\u{2421}',
        '\0'..' ' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{80}'..'\u{a0}' => '\u{fffd}',
        c if reorders(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// Writes the same characters in JSON by their numbers: it means what it did, and no terminal obeys it.
pub(crate) fn harmless_json(json: &str) -> String {
    let is_harmful = |c: char| matches!(c, '\u{7f}'..'\u{a0}') || reorders(c);
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_harmful(c) { text += &format!("\\u{:04x}", c as u32) } else { text.push(c) }
    }
    text
}

/// Returns whether a character changes the direction of text.
fn reorders(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Paints a sign of success.
pub(crate) fn good(text: &str) -> String {
    painted(text, Some(ADDED.bold()))
}

/// Paints a sign of failure.
pub(crate) fn bad(text: &str) -> String {
    painted(text, Some(REMOVED.bold()))
}

/// Paints an error message, line by line.
pub(crate) fn warning(text: &str) -> String {
    let line = |line: &str| painted(line, Some(CHANGED));
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Paints important text.
pub(crate) fn strong(text: &str) -> String {
    painted(text, Some(STRONG))
}

/// Paints unimportant text.
pub(crate) fn faint(text: &str) -> String {
    painted(text, Some(FAINT))
}

/// Paints a removed line, and marks parts of it.
pub(crate) fn removed(text: &str, parts: &[Range<usize>]) -> String {
    marked(text, Some(REMOVED), parts, 0)
}

/// Paints an added line, and marks parts of it.
pub(crate) fn added(text: &str, parts: &[Range<usize>]) -> String {
    marked(text, Some(ADDED), parts, 0)
}

/// Paints a text, and marks parts of it that are counted from a place in it.
fn marked(text: &str, style: Option<Style>, parts: &[Range<usize>], from: usize) -> String {
    let (mut marked, mut done) = (String::new(), 0);
    for part in parts {
        // The end of a line is none that can be marked.
        let end = (part.end + from).min(text.len());
        let start = (part.start + from).min(end);
        marked += &painted(&text[done..start], style);
        marked += &painted(&text[start..end], style.map(Style::invert));
        done = end;
    }
    marked + &painted(&text[done..], style)
}

fn painted(text: &str, style: Option<Style>) -> String {
    match style.filter(|_| !text.is_empty()) {
        Some(style) => format!("{style}{text}{style:#}"),
        None => text.to_owned(),
    }
}

fn letter_line(line: &str) -> String {
    let start = line.len() - line.trim_start_matches(' ').len();
    let style = match line.as_bytes().get(start..start + 2) {
        Some(b"A " | b"A\t") => ADDED,
        Some(b"M " | b"M\t") => CHANGED,
        Some(b"D " | b"D\t") => REMOVED,
        _ => return line.to_owned(),
    };
    format!(
        "{}{}{}",
        &line[..start],
        painted(&line[start..=start], Some(style)),
        &line[start + 1..]
    )
}

/// Makes the shortest unambiguous prefix of an id bold.
fn id_line(line: &str, ids: &[(String, usize)]) -> String {
    let mut line = line.to_owned();
    for (id, unique) in ids {
        if let Some(at) = line.find(id.as_str()) {
            let bold = painted(&id[..*unique], Some(STRONG));
            line.replace_range(at..at + unique, &bold);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_has_colours_and_loses_nothing_without_them() {
        let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n";
        let painted = Paint::Patch.paint(patch);
        assert!(painted.contains("\u{1b}[32m+new\u{1b}[0m\n") && painted.ends_with(" same\n"));
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), patch);
        assert_eq!(Paint::Plain.paint(patch), patch);
    }

    #[test]
    fn letters_and_ids_are_marked_where_they_stand() {
        assert_eq!(Paint::Letters.paint("  A new\n"), "  \u{1b}[32mA\u{1b}[0m new\n");
        assert_eq!(Paint::Letters.paint("After\nM\tx"), "After\n\u{1b}[33mM\u{1b}[0m\tx");
        let ids = Paint::Ids(vec![("abcdefgh".to_owned(), 2)]);
        assert_eq!(ids.paint("○  abcdefgh  x"), "○  \u{1b}[1mab\u{1b}[0mcdefgh  x");
    }

    #[test]
    fn talk_has_its_first_word_marked() {
        let said = talk("error: no\nhelp: yes");
        assert_eq!(anstream::adapter::strip_str(&said).to_string(), "error: no\nhelp: yes");
        assert!(said.starts_with("\u{1b}["));
    }

    #[test]
    fn commands_for_a_terminal_are_shown_and_not_obeyed() {
        assert_eq!(harmless("a\u{1b}[31m\tb\r\n\u{9b}é"), "a␛[31m\tb␍\n\u{fffd}é");
    }

    /// Once, a terminal could show code differently from what a compiler reads.
    #[test]
    fn a1_31_what_changes_the_order_of_characters_is_shown_and_not_obeyed() {
        for c in "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}".chars() {
            assert_eq!(harmless(&format!("a{c}b")), "a\u{fffd}b", "{c:?}");
        }
        for c in '\u{2066}'..='\u{2069}' {
            assert_eq!(harmless(&format!("a{c}b")), "a\u{fffd}b", "{c:?}");
        }
        let json = serde_json::to_string("a\u{1b}\u{9b}\u{7f}\u{202e}é").unwrap();
        let written = harmless_json(&json);
        assert_eq!(written, r#""a\u001b\u009b\u007f\u202eé""#);
        assert_eq!(serde_json::from_str::<String>(&written).ok(), serde_json::from_str(&json).ok());
        assert_eq!(harmless("שלום \u{1f469}\u{200d}\u{1f4bb}"), "שלום \u{1f469}\u{200d}\u{1f4bb}");
    }
}
