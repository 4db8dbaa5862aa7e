//! Numbers, sizes, times and snapshots, as people read them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use wink_fs::{Skipped, Snapshot, SnapshotCause};

use crate::json::SkippedEntry;

/// Formats a number with separators between thousands.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

/// Formats a size in bytes.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // What would be written 1024.0 is 1.0 of the next unit.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Parses a size such as `2 GiB`, `500M` or `1024`.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits =
        text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "ki" | "kib" => 1 << 10,
        "m" | "mb" | "mi" | "mib" => 1 << 20,
        "g" | "gb" | "gi" | "gib" => 1 << 30,
        "t" | "tb" | "ti" | "tib" => 1 << 40,
        _ => return None,
    };
    // A float has no room for all digits of a large integer.
    if let Ok(number) = number.parse::<u64>() {
        return number.checked_mul(unit).filter(|bytes| *bytes > 0);
    }
    let bytes = number.parse::<f64>().ok()? * unit as f64;
    (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// Formats an age in its largest unit.
pub(crate) fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    let (n, one, many) = match seconds {
        0..60 => return "less than a minute ago".to_owned(),
        60..3600 => (seconds / 60, "minute", "minutes"),
        3600..86_400 => (seconds / 3600, "hour", "hours"),
        _ => (seconds / 86_400, "day", "days"),
    };
    format!("{} ago", counted(n, one, many))
}

/// Formats a time in UTC, for programs.
pub(crate) fn utc(at: SystemTime) -> String {
    moment(at).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Formats a time in the local time zone, for people.
pub(crate) fn local(at: SystemTime) -> String {
    moment(at).to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Converts a time from [`utc`] to [`local`].
pub(crate) fn local_of_utc(text: &str) -> String {
    text.parse().map_or(text.to_owned(), |at: Timestamp| local(at.into()))
}

fn moment(at: SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Formats a snapshot's id, and its tag if it has one.
pub(crate) fn snapshot_name(snapshot: &Snapshot) -> String {
    match &snapshot.tag {
        Some(tag) => format!("{}  {tag}", snapshot.id.short()),
        None => snapshot.id.short(),
    }
}

/// Formats a snapshot in one line.
pub(crate) fn snapshot_line(snapshot: &Snapshot) -> String {
    let mut parts = vec![snapshot.id.short(), local(snapshot.created_at)];
    parts.extend(snapshot.tag.clone());
    if snapshot.cause == SnapshotCause::Safety {
        parts.push("(saved before files were replaced)".to_owned());
    }
    parts.extend(snapshot.message.as_deref().map(first_line));
    parts.extend(incomplete(snapshot).map(|it| format!("({it})")));
    parts.join("  ")
}

/// Says that a snapshot is incomplete, if it is.
pub(crate) fn incomplete(snapshot: &Snapshot) -> Option<String> {
    let missing = snapshot.missing().count() as u64;
    (missing > 0).then(|| format!("incomplete: {} missing", counted(missing, "path", "paths")))
}

/// Names what was not compared, because a state lacks it.
pub(crate) fn missing_note(missing: &[Skipped]) -> String {
    let entries: Vec<_> = missing.iter().map(SkippedEntry::from).collect();
    let shown = skipped(&entries.iter().collect::<Vec<_>>());
    format!("warning: not compared, because a state lacks it: {shown}")
}

/// Returns the first line of a text, without control characters.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Lists the first entries that a snapshot does not contain.
pub(crate) fn skipped(all: &[&SkippedEntry]) -> String {
    const SHOWN: usize = 3;
    let mut text: Vec<_> =
        all.iter().take(SHOWN).map(|it| format!("{} ({})", it.path, it.why)).collect();
    if all.len() > SHOWN {
        text.push(format!("and {} more", number((all.len() - SHOWN) as u64)));
    }
    text.join(", ")
}

/// Returns a line that lists the entries a snapshot does not contain, if any.
pub(crate) fn not_captured(all: &[SkippedEntry]) -> String {
    if all.is_empty() {
        String::new()
    } else {
        format!("  not captured: {}\n", skipped(&all.iter().collect::<Vec<_>>()))
    }
}

/// Quotes a word for a shell, if necessary.
pub(crate) fn shell_quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Quotes a path for a shell, whatever bytes are in it.
pub(crate) fn shell_quote_path(path: &Path) -> String {
    match path.to_str().filter(|text| !text.chars().any(char::is_control)) {
        Some(text) => shell_quote(text),
        None => {
            // Bytes that a terminal cannot show would be lost when the path is copied.
            let octal = |byte: &u8| match byte {
                b'\'' | b'\\' | 0..=31 | 127.. => format!("\\{byte:03o}"),
                plain => char::from(*plain).to_string(),
            };
            let text: String = path.as_os_str().as_bytes().iter().map(octal).collect();
            format!("$'{text}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn sizes_and_counts_read_as_people_write_them() {
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1024), "1.0 KiB");
        assert_eq!(size(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(size(19_084_083), "18.2 MiB");
        assert_eq!((number(0), number(999)), ("0".into(), "999".into()));
        assert_eq!((number(1284), number(1_000_000)), ("1,284".into(), "1,000,000".into()));
        assert_eq!(counted(1, "file", "files"), "1 file");
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let sizes = ["1024", "1k", "1.5 KiB", "2 GiB", "500M", "1tb"].map(parse_size);
        let expected = [1024, 1024, 1536, 2_147_483_648, 524_288_000, 1_099_511_627_776];
        assert_eq!(sizes, expected.map(Some));
        for text in ["", "0", "x", "1 parsec", "-1", "1.2.3", "99999999999999999999t"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn a_size_has_one_unit_and_all_its_digits() {
        for text in ["5 i", "5bbb", "5ib", "1kiiib", "1kbb"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
        assert_eq!(parse_size("9007199254740993"), Some(9_007_199_254_740_993));
        assert_eq!(parse_size("5 B"), Some(5));
    }

    #[test]
    fn ages_are_told_in_the_largest_unit() {
        let age = |seconds| super::age(Duration::from_secs(seconds));
        assert_eq!((age(59), age(60)), ("less than a minute ago".into(), "1 minute ago".into()));
        assert_eq!((age(7200), age(3 * 86_400)), ("2 hours ago".into(), "3 days ago".into()));
    }

    #[test]
    fn words_and_paths_are_quoted_for_a_shell() {
        assert_eq!(shell_quote("/src/a-b.rs"), "/src/a-b.rs");
        assert_eq!(shell_quote("/it's $HOME"), r"'/it'\''s $HOME'");
        assert_eq!(shell_quote(""), "''");
        assert_eq!(shell_quote_path(Path::new("/my project")), "'/my project'");
        let raw = Path::new(OsStr::from_bytes(b"/it's\xe9\n7"));
        assert_eq!(shell_quote_path(raw), r"$'/it\047s\351\0127'");
    }

    #[test]
    fn moments_for_programs_are_in_utc() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        assert_eq!(utc(at), "1970-01-01T00:00:01.500Z");
    }
}
