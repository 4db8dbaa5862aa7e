//! Contents of which there is only one, so that each can be found wherever it got to.

/// Names one content by its author and a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Mark {
    /// By the saver.
    Save(u64),
    /// By a call of the workspace.
    Call(u64),
}

/// How long the beginning of a mark is: a bracket, a letter and the number.
const HEAD: usize = 11;

impl Mark {
    /// The content itself; some are longer than others, so that writing them takes longer.
    pub(crate) fn text(self) -> String {
        let (letter, number) = match self {
            Self::Save(number) => ('s', number),
            Self::Call(number) => ('c', number),
        };
        let filler = if number % 7 == 0 { 2000 } else { 20 };
        format!("<{letter}{number:09}{:.<filler$}{number:09}{letter}>", "")
    }

    /// The content as a line of a file.
    pub(crate) fn line(self) -> String {
        self.text() + "\n"
    }

    /// Finds all marks that are whole in some bytes.
    pub(crate) fn all_in(bytes: &[u8]) -> Vec<Self> {
        let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'<');
        let whole = |(start, _): (usize, &u8)| {
            let rest = &bytes[start..];
            let mark = Self::at_start(rest)?;
            rest.starts_with(mark.text().as_bytes()).then_some(mark)
        };
        starts.filter_map(whole).collect()
    }

    fn at_start(bytes: &[u8]) -> Option<Self> {
        let head = std::str::from_utf8(bytes.get(..HEAD)?).ok().filter(|head| head.is_ascii())?;
        let number = head[2..].parse().ok()?;
        match &head[1..2] {
            "s" => Some(Self::Save(number)),
            "c" => Some(Self::Call(number)),
            _ => None,
        }
    }
}

#[test]
fn marks_are_found_in_any_bytes_and_only_whole() {
    let (save, call) = (Mark::Save(7), Mark::Call(8));
    let bytes =
        [b"<s00\xff<\xc9\x98      k".to_vec(), save.line().into(), call.text().into()].concat();
    assert_eq!(Mark::all_in(&bytes), [save, call]);
    assert_eq!(Mark::all_in(&bytes[..bytes.len() - 1]), [save]);
}
