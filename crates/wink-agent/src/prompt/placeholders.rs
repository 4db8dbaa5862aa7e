//! Parses the placeholders in a section's text.

/// A part of a section's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// Text that stays as it is.
    Text(String),
    /// A placeholder, by its name.
    Placeholder(String),
}

/// The beginning of a placeholder.
const OPEN: &str = "${";

/// Splits a text at each placeholder `${name}`; `$${` is an escaped `${`, and any other `$` is text.
///
/// A malformed placeholder is returned as the error.
pub(super) fn parse(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(OPEN) {
        let before = &rest[..at];
        let after = &rest[at + OPEN.len()..];
        if let Some(before) = before.strip_suffix('$') {
            add_text(&mut pieces, before);
            add_text(&mut pieces, OPEN);
            rest = after;
            continue;
        }
        let name = after.split_once('}').filter(|(name, _)| is_name(name));
        let (name, after) = name.ok_or_else(|| beginning(&rest[at..]))?;
        add_text(&mut pieces, before);
        pieces.push(Piece::Placeholder(name.to_owned()));
        rest = after;
    }
    add_text(&mut pieces, rest);
    Ok(pieces)
}

fn add_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && text.chars().all(is_letter)
}

/// Returns the beginning of a text, enough to find it.
fn beginning(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn value(name: &str) -> Piece {
        Piece::Placeholder(name.to_owned())
    }

    #[test]
    fn text_and_placeholders_alternate() {
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(parse("plain").unwrap(), [text("plain")]);
        assert_eq!(
            parse("a ${b} c${d_2}").unwrap(),
            [text("a "), value("b"), text(" c"), value("d_2")]
        );
    }

    #[test]
    fn a_dollar_by_itself_is_text_and_a_doubled_one_escapes_a_placeholder() {
        assert_eq!(parse("$5, $x, {y}, $").unwrap(), [text("$5, $x, {y}, $")]);
        assert_eq!(parse("$${name} ${x}").unwrap(), [text("${name} "), value("x")]);
    }

    #[test]
    fn a_malformed_placeholder_is_an_error() {
        for malformed in ["${", "${}", "${a b}", "${a\n}", "${a.b}", "${${a}}", "a ${b"] {
            assert!(parse(malformed).unwrap_err().starts_with("${"), "{malformed}");
        }
    }
}
