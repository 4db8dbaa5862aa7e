//! What differs from run to run, made the same.

/// Replaces every place that looks like the pattern; `#` is any digit.
pub(crate) fn pattern(text: &str, pattern: &str, by: &str) -> String {
    let (text, pattern): (Vec<char>, Vec<char>) =
        (text.chars().collect(), pattern.chars().collect());
    let fits = |at: usize| {
        let found = text.get(at..at + pattern.len());
        let same = |(c, p): (&char, &char)| c == p || (*p == '#' && c.is_ascii_digit());
        found.is_some_and(|found| found.iter().zip(&pattern).all(same))
    };
    let (mut masked, mut at) = (String::new(), 0);
    while at < text.len() {
        if fits(at) {
            masked += by;
            at += pattern.len();
        } else {
            masked.push(text[at]);
            at += 1;
        }
    }
    masked
}

/// Replaces the number before every such word.
pub(crate) fn number_before(text: &str, word: &str, by: &str) -> String {
    let mut parts = text.split(word).peekable();
    let mut masked = String::new();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            masked += part;
            break;
        }
        let kept = part.trim_end_matches(|c: char| c.is_ascii_digit());
        masked += kept;
        masked += if kept.len() < part.len() { by } else { "" };
        masked += word;
    }
    masked
}

/// Replaces what follows the last such word in the lines that begin so.
pub(crate) fn rest_of_lines(text: &str, start: &str, word: &str, by: &str) -> String {
    let line = |line: &str| match line.starts_with(start).then(|| line.rsplit_once(word)) {
        Some(Some((kept, _))) => format!("{kept}{word}{by}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Replaces the number after every such word.
pub(crate) fn number_after(text: &str, word: &str, by: &str) -> String {
    let mut parts = text.split(word);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        masked += word;
        masked += if rest.len() < part.len() { by } else { "" };
        masked += rest;
    }
    masked
}

/// Replaces the letters, digits, `-` and `_` after every such word.
pub(crate) fn word_after(text: &str, word: &str, by: &str) -> String {
    let mut parts = text.split(word);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        masked += &format!("{word}{by}{}", part.trim_start_matches(is_of_word));
    }
    masked
}
