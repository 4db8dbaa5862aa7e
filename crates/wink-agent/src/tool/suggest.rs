//! "Did you mean": the nearest known word.

/// Returns the candidate that is few enough edits away from `word` to be what was meant.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = folded(word);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &folded(candidate)), candidate))
        .filter(|(edits, candidate)| *edits <= allowed(candidate))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Drops what models vary most: case and separators, and the tail of an absurdly long name.
fn folded(word: &str) -> Vec<char> {
    let letters = word.chars().filter(|c| c.is_alphanumeric()).take(64);
    letters.flat_map(char::to_lowercase).collect()
}

fn allowed(candidate: &str) -> usize {
    (candidate.len() / 3).max(1)
}

/// Counts single-letter edits (Levenshtein), one row at a time.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        assert_eq!(nearest("ofset", ["path", "offset"]), Some("offset"));
        assert_eq!(nearest("readFile", ["ls", "read_file"]), Some("read_file"));
    }

    #[test]
    fn an_unrelated_word_suggests_nothing() {
        assert_eq!(nearest("banana", ["path", "offset"]), None);
    }
}
