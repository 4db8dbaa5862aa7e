//! All matches of a text, including overlapping ones.

/// Finds every match in linear time (Knuth-Morris-Pratt), however much of the text repeats itself.
pub(super) fn overlapping<'t>(text: &'t [u8], wanted: &[u8]) -> impl Iterator<Item = usize> + 't {
    let (wanted, borders) = (wanted.to_vec(), borders(wanted));
    let mut matched = 0;
    (1..).zip(text).filter_map(move |(end, byte)| {
        matched = extended(&wanted, &borders, matched, *byte);
        (matched > 0 && matched == wanted.len()).then(|| end - wanted.len())
    })
}

/// Returns how much of the text is matched after one more byte.
fn extended(wanted: &[u8], borders: &[usize], mut matched: usize, byte: u8) -> usize {
    while matched > 0 && wanted.get(matched) != Some(&byte) {
        matched = borders[matched - 1];
    }
    matched + usize::from(wanted.get(matched) == Some(&byte))
}

/// Returns, for each prefix of a text, the length of its longest border.
fn borders(wanted: &[u8]) -> Vec<usize> {
    let mut borders = Vec::with_capacity(wanted.len());
    let mut matched = 0;
    for byte in wanted {
        if !borders.is_empty() {
            matched = extended(wanted, &borders, matched, *byte);
        }
        borders.push(matched);
    }
    borders
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_place_is_found(text in "[ab\n]{0,40}", wanted in "[ab\n]{1,5}") {
            let text = text.as_bytes();
            let wanted = wanted.as_bytes();
            let expected: Vec<usize> =
                (0..text.len()).filter(|at| text[*at..].starts_with(wanted)).collect();
            prop_assert_eq!(overlapping(text, wanted).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn what_repeats_itself_takes_no_longer() {
        let text = vec![b'a'; 1 << 20];
        let wanted = vec![b'a'; 1 << 19];
        assert_eq!(overlapping(&text, &wanted).count(), (1 << 19) + 1);
    }
}
