//! Folds texts: removes differences that are easily overlooked.

/// Which differences are ignored.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    /// White space, line endings included.
    pub(super) space: bool,
    /// Typographic quotes, dashes and spaces, against those on a keyboard.
    pub(super) marks: bool,
    /// Upper and lower case of ASCII letters.
    pub(super) case: bool,
}

impl Fold {
    pub(super) const ALL: Self = Self { space: true, marks: true, case: true };

    /// Everything but white space.
    const BUT_SPACE: Self = Self { space: false, ..Self::ALL };

    /// Returns whether there is nothing but white space, typographic spaces included.
    pub(super) fn is_blank(bytes: &[u8]) -> bool {
        Self::ALL.positions(bytes).next().is_none()
    }

    /// Returns the length of the first character.
    pub(super) fn first_length(bytes: &[u8]) -> usize {
        if bytes.is_empty() { 0 } else { Self::BUT_SPACE.first(bytes).0 }
    }

    /// Returns the text without what does not count.
    pub(super) fn text(self, bytes: &[u8]) -> Vec<u8> {
        let mut folded = Vec::with_capacity(bytes.len());
        folded.extend(self.positions(bytes).map(|(_, byte)| byte));
        folded
    }

    /// Returns the original position of the n-th byte of the folded text; the end if there are fewer.
    pub(super) fn original(self, bytes: &[u8], n: usize) -> usize {
        self.positions(bytes).nth(n).map_or(bytes.len(), |(at, _)| at)
    }

    fn positions(self, bytes: &[u8]) -> impl Iterator<Item = (usize, u8)> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
                let (length, byte) = self.first(rest);
                at += length;
                if !(self.space && byte.is_ascii_whitespace()) {
                    return Some((at - length, byte));
                }
            }
        })
    }

    /// Returns the length of the first character, if it is folded, and its replacement.
    fn first(self, rest: &[u8]) -> (usize, u8) {
        let byte = rest[0];
        if byte.is_ascii() {
            return (1, if self.case { byte.to_ascii_lowercase() } else { byte });
        }
        match plain(rest) {
            Some((length, plain)) if self.marks => (length, plain),
            _ => (1, byte),
        }
    }
}

/// Returns what a keyboard has for a typographic character, with the length of its UTF-8.
fn plain(rest: &[u8]) -> Option<(usize, u8)> {
    Some(match rest {
        [0xc2, 0xa0, ..] => (2, b' '),
        [0xe2, 0x80, 0x98..=0x9b, ..] => (3, b'\''),
        [0xe2, 0x80, 0x9c..=0x9f, ..] => (3, b'"'),
        [0xe2, 0x80, 0x90..=0x95, ..] | [0xe2, 0x88, 0x92, ..] => (3, b'-'),
        [0xe2, 0x80, 0x80..=0x8a | 0xaf, ..] => (3, b' '),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_count_is_left_out() {
        let text = "A\t“b”\r\n — c\u{a0}".as_bytes();
        assert_eq!(Fold::ALL.text(text), b"a\"b\"-c");
        assert_eq!(Fold::ALL.original(text, 1), 2);
        assert_eq!(Fold::ALL.original(text, 6), text.len());
    }

    #[test]
    fn each_difference_can_count_by_itself() {
        let text = "A ’".as_bytes();
        assert_eq!(Fold { space: false, ..Fold::ALL }.text(text), b"a '");
        assert_eq!(Fold { marks: false, ..Fold::ALL }.text(text), "a’".as_bytes());
        assert_eq!(Fold { case: false, ..Fold::ALL }.text(text), b"A'");
    }
}
