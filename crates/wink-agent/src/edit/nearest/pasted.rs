//! Line numbers that came along when lines were copied.

/// Returns the text without line numbers, if every line has one.
pub(super) fn without_numbers(text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    text.split_inclusive('\n').map(without_number).collect()
}

fn without_number(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(' ');
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == number.len() {
        return None;
    }
    rest.strip_prefix(['\t', '|', '→', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_only_where_every_line_has_one() {
        assert_eq!(without_numbers("     1\ta\n    12\t\tb"), Some("a\n\tb".to_owned()));
        assert_eq!(without_numbers("     1\ta\nb"), None);
        assert_eq!(without_numbers("1 apple"), None);
        assert_eq!(without_numbers(""), None);
    }
}
