//! Every number that bounds what an agent may do, in one place.

use std::time::Duration;

/// Bounds what an agent creates and how much of a file one call returns.
///
/// The [guard](crate::Guard) enforces the first group on what an agent creates. Files that exist
/// already, whatever their depth or size, are read, listed and changed as usual, and so are the files
/// that result from an append. `None` means no bound.
///
/// ```
/// use wink_fs::Limits;
///
/// let mut limits = Limits::default();
/// limits.max_depth = Some(4);
/// assert_eq!(limits.max_content, Some(48_000));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Content supplied in one call: characters of text, or bytes if it is binary.
    pub max_content: Option<u64>,
    /// Segments of a path that is created.
    pub max_depth: Option<usize>,
    /// Characters of a segment that is created.
    pub max_segment: Option<usize>,
    /// Whether only ASCII may be used in a path that is created.
    pub ascii_only: bool,
    /// Whether a path that is created may have only names that are plain text, without an escape.
    pub plain_names: bool,
    /// Lines of a page of text, when the caller does not say.
    pub page_lines: u64,
    /// Bytes of a page, of text or binary, when the caller does not say.
    pub max_read_bytes: u64,
    /// Bytes of a file that one call edits.
    pub max_edit_bytes: u64,
    /// Lines or files a search returns, when the caller does not say.
    pub max_grep_matches: u64,
    /// Bytes of a line a search shows.
    pub max_line_bytes: usize,
    /// Bytes of a pattern.
    pub max_pattern_bytes: usize,
    /// Bytes of memory a compiled regular expression takes.
    pub max_regex_bytes: usize,
    /// How long a search that a model asks for may take.
    pub max_search_time: Duration,
}

impl Limits {
    /// Bounds nothing that is created; what an embedding program's own writes go by.
    pub fn unlimited() -> Self {
        let (max_content, max_depth, max_segment, plain_names) = (None, None, None, false);
        Self { max_content, max_depth, max_segment, plain_names, ..Self::default() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_content: Some(48_000),
            max_depth: Some(16),
            max_segment: Some(80),
            ascii_only: false,
            plain_names: true,
            page_lines: 2_000,
            max_read_bytes: 256 * 1024,
            max_edit_bytes: 64 * 1024 * 1024,
            max_grep_matches: 1_000,
            max_line_bytes: 1_000,
            max_pattern_bytes: 1024,
            max_regex_bytes: 100 * 1024 * 1024,
            max_search_time: Duration::from_secs(30),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a number as the page does.
    fn grouped(number: u64) -> String {
        let digits = number.to_string();
        let groups: Vec<_> =
            digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
        groups.join(",")
    }

    #[test]
    fn the_page_of_limits_has_the_defaults() {
        let page = include_str!("../../../docs/limits.md");
        let Limits {
            max_content,
            max_depth,
            max_segment,
            ascii_only,
            plain_names,
            page_lines,
            max_read_bytes,
            max_edit_bytes,
            max_grep_matches,
            max_line_bytes,
            max_pattern_bytes,
            max_regex_bytes,
            max_search_time,
        } = Limits::default();
        let optional = |most: Option<u64>| most.map_or("none".to_owned(), grouped);
        let wide = |most: Option<usize>| optional(most.map(|most| most as u64));
        let whether = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let all = [
            ("max_content", optional(max_content)),
            ("max_depth", wide(max_depth)),
            ("max_segment", wide(max_segment)),
            ("ascii_only", whether(ascii_only)),
            ("plain_names", whether(plain_names)),
            ("page_lines", grouped(page_lines)),
            ("max_read_bytes", grouped(max_read_bytes)),
            ("max_edit_bytes", grouped(max_edit_bytes)),
            ("max_grep_matches", grouped(max_grep_matches)),
            ("max_line_bytes", grouped(max_line_bytes as u64)),
            ("max_pattern_bytes", grouped(max_pattern_bytes as u64)),
            ("max_regex_bytes", grouped(max_regex_bytes as u64)),
            ("max_search_time", grouped(max_search_time.as_secs())),
        ];
        for (name, default) in &all {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
            let told = row.and_then(|row| row.trim_end_matches(" |").rsplit_once("| "));
            assert_eq!(told.map(|(_, told)| told), Some(&**default), "{name}");
        }
        let rows = page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, all.len());
    }
}
