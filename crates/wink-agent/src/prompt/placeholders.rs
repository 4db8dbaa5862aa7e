//! The text of a section, cut where values go.

/// A part of a section's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// Text that stays as it is.
    Text(String),
    /// The place of a value, by its name.
    Value(String),
}

/// What a place of a value begins with.
const OPEN: &str = "${";

/// Cuts a text at each `${name}`; `$${` stands for a `${` that is text, and any other `$` for itself.
///
/// What is no place and looks like one is given back as the error.
pub(super) fn cut(text: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(OPEN) {
        let (before, after) = (&rest[..at], &rest[at + OPEN.len()..]);
        if let Some(before) = before.strip_suffix('$') {
            add_text(&mut pieces, before);
            add_text(&mut pieces, OPEN);
            rest = after;
            continue;
        }
        let name = after.split_once('}').filter(|(name, _)| is_name(name));
        let (name, after) = name.ok_or_else(|| beginning(&rest[at..]))?;
        add_text(&mut pieces, before);
        pieces.push(Piece::Value(name.to_owned()));
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

/// Returns as much of a text as finds it again.
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
        Piece::Value(name.to_owned())
    }

    #[test]
    fn text_and_places_alternate() {
        assert_eq!(cut("").unwrap(), []);
        assert_eq!(cut("plain").unwrap(), [text("plain")]);
        assert_eq!(
            cut("a ${b} c${d_2}").unwrap(),
            [text("a "), value("b"), text(" c"), value("d_2")]
        );
    }

    #[test]
    fn a_dollar_by_itself_is_text_and_a_doubled_one_keeps_a_place_from_being_one() {
        assert_eq!(cut("$5, $x, {y}, $").unwrap(), [text("$5, $x, {y}, $")]);
        assert_eq!(cut("$${name} ${x}").unwrap(), [text("${name} "), value("x")]);
    }

    #[test]
    fn what_only_looks_like_a_place_is_an_error() {
        for malformed in ["${", "${}", "${a b}", "${a\n}", "${a.b}", "${${a}}", "a ${b"] {
            assert!(cut(malformed).unwrap_err().starts_with("${"), "{malformed}");
        }
    }
}
