//! Merges three texts by lines.

use similar::{MergeRegion, MergeResolution, TextMerge};

/// Which side wins in a conflict.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Favour {
    Ours,
    Theirs,
    /// Both, between markers.
    Both,
}

/// A merged text.
pub(super) struct MergedText {
    pub(super) bytes: Vec<u8>,
    /// Whether both sides changed the same lines.
    pub(super) conflicted: bool,
}

const OURS: &[u8] = b"<<<<<<< ours";
const SEPARATOR: &[u8] = b"=======";
const THEIRS: &[u8] = b">>>>>>> theirs";

pub(super) fn merge(base: &[u8], ours: &[u8], theirs: &[u8], favour: Favour) -> MergedText {
    let merge = TextMerge::from_lines(base, ours, theirs);
    let ending: &[u8] = if has_long_endings(ours) { b"\r\n" } else { b"\n" };
    let mut writer = Writer { merge: &merge, favour, ending, bytes: Vec::new() };
    merge.regions().iter().for_each(|region| writer.region(region));
    MergedText { conflicted: merge.is_conflicted(), bytes: writer.bytes }
}

/// Returns whether a text has Windows line endings.
fn has_long_endings(text: &[u8]) -> bool {
    memchr::memchr(b'\n', text).is_some_and(|at| text[..at].ends_with(b"\r"))
}

struct Writer<'m, 't> {
    merge: &'m TextMerge<'t, 't, 't, [u8]>,
    favour: Favour,
    ending: &'static [u8],
    bytes: Vec<u8>,
}

impl Writer<'_, '_> {
    fn region(&mut self, region: &MergeRegion) {
        match (region.resolution(), self.favour) {
            (MergeResolution::Theirs, _) | (MergeResolution::Conflict, Favour::Theirs) => {
                self.theirs(region);
            }
            (MergeResolution::Conflict, Favour::Both) => self.both(region),
            _ => self.ours(region),
        }
    }

    fn ours(&mut self, region: &MergeRegion) {
        for line in region.ours_range().filter_map(|at| self.merge.ours_line(at)) {
            self.bytes.extend_from_slice(line);
        }
    }

    fn theirs(&mut self, region: &MergeRegion) {
        for line in region.theirs_range().filter_map(|at| self.merge.theirs_line(at)) {
            self.bytes.extend_from_slice(line);
        }
    }

    fn both(&mut self, region: &MergeRegion) {
        self.marker(OURS);
        self.ours(region);
        self.marker(SEPARATOR);
        self.theirs(region);
        self.marker(THEIRS);
    }

    /// Writes a marker on its own line, even after an incomplete last line.
    fn marker(&mut self, marker: &[u8]) {
        if !self.bytes.is_empty() && !self.bytes.ends_with(b"\n") {
            self.bytes.extend_from_slice(self.ending);
        }
        self.bytes.extend_from_slice(marker);
        self.bytes.extend_from_slice(self.ending);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str, favour: Favour) -> (String, bool) {
        let merged = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), favour);
        (String::from_utf8(merged.bytes).unwrap(), merged.conflicted)
    }

    #[test]
    fn changes_apart_from_each_other_are_both_there() {
        let (text, conflicted) = merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC", Favour::Both);
        assert_eq!((text.as_str(), conflicted), ("A\nb\nC", false));
    }

    #[test]
    fn markers_end_as_the_lines_of_the_file_do() {
        let (text, conflicted) = merged("a\r\n", "b\r\n", "c", Favour::Both);
        let expected = "<<<<<<< ours\r\nb\r\n=======\r\nc\r\n>>>>>>> theirs\r\n";
        assert_eq!((text.as_str(), conflicted), (expected, true));
    }

    #[test]
    fn a_favour_decides_only_what_is_in_conflict() {
        let base = "a\nb\nc\n";
        let ours = "1\nb\nc\n";
        let theirs = "2\nb\nC\n";
        assert_eq!(merged(base, ours, theirs, Favour::Ours).0, "1\nb\nC\n");
        assert_eq!(merged(base, ours, theirs, Favour::Theirs).0, "2\nb\nC\n");
    }
}
