//! What models put around a patch: a code fence, a heredoc, indentation.

use std::borrow::Cow;

use super::envelope::{BEGIN, END};

/// The markers of the second format, which a model may indent.
const MARKER: &str = "*** ";

/// Returns the lines of a patch less what is around it. Lines keep their numbers.
pub(super) fn unwrapped<'a>(lines: &[&'a str]) -> Vec<Cow<'a, str>> {
    let is_text = |line: &&&str| !line.trim().is_empty();
    let mut first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(lines.len());
    let mut end = lines.len() - lines.iter().rev().take_while(|line| !is_text(line)).count();
    while first < end {
        let (opening, closing) = (lines[first].trim(), lines[end - 1].trim());
        let is_wrapped = match heredoc(opening) {
            Some(word) => closing == word,
            None => opening.starts_with("```") && closing == "```" && end - first > 1,
        };
        if !is_wrapped {
            break;
        }
        first += 1;
        end -= 1;
    }
    // The lines before the patch count, so that errors name the lines that were sent.
    let before = lines[..first].iter().map(|_| Cow::Borrowed(""));
    before.chain(dedented(&lines[first..end.max(first)])).collect()
}

/// Returns the word that ends a heredoc, if a line begins one: `apply_patch <<'EOF'`.
fn heredoc(line: &str) -> Option<&str> {
    let (command, word) = line.split_once("<<")?;
    let is_command =
        command.is_empty() || command.contains("apply_patch") || command.contains("cat");
    let word = word.split_whitespace().next()?.trim_start_matches('-').trim_matches(['\'', '"']);
    (is_command && !word.is_empty()).then_some(word)
}

/// Takes the indentation of the first marker off: from every line if all have it, otherwise from the markers, because
/// the blank before a line of a hunk is its sign.
fn dedented<'a>(lines: &[&'a str]) -> Vec<Cow<'a, str>> {
    let is_begin = |line: &&&str| line.trim() == BEGIN;
    let indent = lines
        .iter()
        .find(is_begin)
        .map_or("", |line| &line[..line.len() - line.trim_start().len()]);
    let has_all = lines.iter().all(|line| line.trim().is_empty() || line.starts_with(indent));
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    let dedent = |(number, line): (usize, &&'a str)| {
        let bare = line.strip_prefix(indent);
        let is_marker = bare.is_some_and(|bare| bare.starts_with(MARKER) || bare.starts_with("@@"));
        if !indent.is_empty() && (has_all || is_marker) {
            return bare.unwrap_or(line);
        }
        // No line of a file: the patch ends with it.
        if Some(number) == last && line.trim() == END { line.trim() } else { line }
    };
    lines.iter().enumerate().map(dedent).map(Cow::Borrowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unwrap(text: &str) -> String {
        unwrapped(&text.split('\n').collect::<Vec<_>>()).join("\n")
    }

    #[test]
    fn a_fence_and_a_heredoc_are_no_part_of_a_patch() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        for (before, after) in [
            ("```\n", "\n```"),
            ("```diff\n", "\n```\n"),
            ("<<EOF\n", "\nEOF"),
            ("apply_patch <<'EOF'\n", "\nEOF\n"),
            ("```sh\napply_patch <<\"PATCH\"\n", "\nPATCH\n```"),
        ] {
            let unwrapped = unwrap(&format!("{before}{patch}{after}"));
            assert_eq!(unwrapped.trim_start(), patch, "{before}");
            let number = unwrapped.lines().position(|line| line == BEGIN);
            assert_eq!(number, Some(before.lines().count()), "lines keep their numbers");
        }
        assert_eq!(unwrap("```\n*** Begin Patch"), "```\n*** Begin Patch");
        assert_eq!(unwrap("\n \n").trim(), "", "once a panic");
    }

    #[test]
    fn only_what_a_file_cannot_hold_is_dedented() {
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n kept\n-old\n+new\n*** End Patch";
        let all: String = patch.lines().map(|line| format!("    {line}\n")).collect();
        assert_eq!(unwrap(&all), patch);
        let markers = patch.replace("*** ", "  *** ").replace("@@", "  @@");
        assert_eq!(unwrap(&markers), patch);
        let inner = patch.replace(" kept", " *** Update File: b");
        assert_eq!(unwrap(&inner), inner, "a line of the file that looks like a marker");
    }
}
