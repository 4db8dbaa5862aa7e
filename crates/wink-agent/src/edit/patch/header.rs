//! The names and numbers in the headers of a patch.

use super::{PatchError, Target};

/// The old and the new name of a file; `None` is `/dev/null`.
pub(super) struct Names {
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
}

impl Names {
    /// Reads the texts after `---` and `+++`, less git's `a/` and `b/`.
    pub(super) fn parse(old: &str, new: &str, number: usize) -> Result<Self, PatchError> {
        let old = name(old, number)?;
        let new = name(new, number + 1)?;
        let begins = |name: &Option<String>, prefix: &str| {
            name.as_ref().is_none_or(|name| name.starts_with(prefix))
        };
        let prefixed = begins(&old, "a/") && begins(&new, "b/");
        let plain = |name: String| if prefixed { name[2..].to_owned() } else { name };
        Ok(Self { old: old.map(plain), new: new.map(plain) })
    }
}

fn name(text: &str, number: usize) -> Result<Option<String>, PatchError> {
    // A time may follow, after a tab.
    let name = text.split('\t').next().unwrap_or_default().trim_end();
    match name {
        "/dev/null" => Ok(None),
        "" => Err(PatchError::at(number, "a name is missing")),
        _ => unquoted(name)
            .map(Some)
            .ok_or_else(|| PatchError::at(number, "the quoted name cannot be read")),
    }
}

/// Undoes git's quoting of names that are not plain.
pub(super) fn unquoted(name: &str) -> Option<String> {
    let Some(inner) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Some(name.to_owned());
    };
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes();
    while let [first, tail @ ..] = rest {
        let (byte, length) = if *first == b'\\' { escaped(tail)? } else { (*first, 0) };
        bytes.push(byte);
        rest = &tail[length..];
    }
    String::from_utf8(bytes).ok()
}

/// Returns the byte an escape stands for, and how long it is without its backslash.
fn escaped(rest: &[u8]) -> Option<(u8, usize)> {
    match rest {
        [b'0'..=b'3', b'0'..=b'7', b'0'..=b'7', ..] => {
            let digits = rest[..3].iter().map(|digit| digit - b'0');
            Some((digits.fold(0, |value, digit| value * 8 + digit), 3))
        }
        [quoted @ (b'"' | b'\\'), ..] => Some((*quoted, 1)),
        _ => None,
    }
}

/// Returns the name in `diff --git a/name b/name`, if both are the same.
pub(super) fn git_name(rest: &str) -> Option<String> {
    let length = rest.len().checked_sub("a/ b/".len())? / 2;
    let old = rest.strip_prefix("a/")?.get(..length)?;
    let new = rest.get(2 + length..)?.strip_prefix(" b/")?;
    (old == new).then(|| old.to_owned())
}

/// Reads the line that begins a hunk: the place, and how many old and new lines follow.
pub(super) fn target(line: &str) -> (Target, Option<(usize, usize)>) {
    let rest = line.trim_start_matches('@');
    match numbers(rest) {
        Some((start, counts)) => (Target { line: Some(start), ..Target::default() }, Some(counts)),
        None => {
            let anchor = rest.strip_prefix(' ').unwrap_or(rest).trim_end_matches(" @@").trim_end();
            let anchors = (!anchor.is_empty()).then(|| anchor.to_owned());
            (Target { anchors: anchors.into_iter().collect(), ..Target::default() }, None)
        }
    }
}

/// Reads ` -12,3 +14,5 @@`.
fn numbers(rest: &str) -> Option<(usize, (usize, usize))> {
    let (numbers, _) = rest.trim_start().split_once("@@")?;
    let (old, new) = numbers.trim_end().split_once(' ')?;
    let (start, old_count) = range(old.strip_prefix('-')?)?;
    let (_, new_count) = range(new.trim_start().strip_prefix('+')?)?;
    Some((start, (old_count, new_count)))
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_gits_prefixes_and_times() {
        let names = |old, new| {
            let names = Names::parse(old, new, 1).expect("names");
            (names.old.unwrap_or_default(), names.new.unwrap_or_default())
        };
        let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        assert_eq!(names("a/x\t2026-01-01", "b/x"), pair("x", "x"));
        assert_eq!(names("x", "x"), pair("x", "x"));
        assert_eq!(names("a/x", "a/x"), pair("a/x", "a/x"));
        assert_eq!(names("/dev/null", "b/x"), pair("", "x"));
        assert_eq!(names(r#""a/caf\303\251""#, r#""b/caf\303\251""#), pair("café", "café"));
        assert_eq!(git_name("a/x y b/x y"), Some("x y".to_owned()));
    }

    #[test]
    fn a_hunk_begins_at_a_line_or_below_one() {
        let (place, counts) = target("@@ -12,3 +14 @@ fn main() {");
        assert_eq!((place.line, counts), (Some(12), Some((3, 1))));
        assert_eq!(target("@@ fn main() {").0.anchors, ["fn main() {"]);
        assert_eq!(target("@@").0, Target::default());
    }
}
