//! Numbers, sizes, times and snapshots, as people read them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use wink_fs::{Snapshot, SnapshotCause};

use crate::json::SkippedEntry;

/// Writes a number with separators between thousands.
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

/// Writes how many of something there are.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

/// Writes a size.
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

/// Reads a size such as `2 GiB`, `500M` or `1024`.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits =
        text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (number, unit) = text.split_at(digits);
    let power = match unit.trim().to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * 1024_f64.powi(power);
    (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// Writes how long ago something was.
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

/// Writes a moment for programs.
pub(crate) fn utc(at: SystemTime) -> String {
    moment(at).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Writes a moment for people, in their own time zone.
pub(crate) fn local(at: SystemTime) -> String {
    moment(at).to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Writes a moment for people that was written for programs.
pub(crate) fn local_of_utc(text: &str) -> String {
    text.parse().map_or(text.to_owned(), |at: Timestamp| local(at.into()))
}

fn moment(at: SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Writes a snapshot's id, with its tag where it has one.
pub(crate) fn snapshot_name(snapshot: &Snapshot) -> String {
    match &snapshot.tag {
        Some(tag) => format!("{}  {tag}", snapshot.id.short()),
        None => snapshot.id.short(),
    }
}

/// Writes a snapshot in one line.
pub(crate) fn snapshot_line(snapshot: &Snapshot) -> String {
    let mut parts = vec![snapshot.id.short(), local(snapshot.created_at)];
    parts.extend(snapshot.tag.clone());
    if snapshot.cause == SnapshotCause::Safety {
        parts.push("(saved before files were replaced)".to_owned());
    }
    parts.extend(snapshot.message.as_deref().map(first_line));
    parts.join("  ")
}

/// Writes the first line of a text, without what a terminal would take for a command.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Writes what snapshots do not hold, in at most so many words.
pub(crate) fn skipped(all: &[&SkippedEntry]) -> String {
    const SHOWN: usize = 3;
    let mut text: Vec<_> =
        all.iter().take(SHOWN).map(|it| format!("{} ({})", it.path, it.why)).collect();
    if all.len() > SHOWN {
        text.push(format!("and {} more", number((all.len() - SHOWN) as u64)));
    }
    text.join(", ")
}

/// Says in a line of its own what was left out, where anything was.
pub(crate) fn not_captured(all: &[SkippedEntry]) -> String {
    if all.is_empty() {
        String::new()
    } else {
        format!("  not captured: {}\n", skipped(&all.iter().collect::<Vec<_>>()))
    }
}

/// Writes a word so that a shell takes it as it is.
pub(crate) fn for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Writes a path so that a shell takes it as it is, whatever bytes are in it.
pub(crate) fn path_for_shell(path: &Path) -> String {
    match path.to_str().filter(|text| !text.chars().any(char::is_control)) {
        Some(text) => for_shell(text),
        None => {
            // What a terminal cannot show as it is would be lost on the way.
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
    fn ages_are_told_in_the_largest_unit() {
        let age = |seconds| super::age(Duration::from_secs(seconds));
        assert_eq!((age(59), age(60)), ("less than a minute ago".into(), "1 minute ago".into()));
        assert_eq!((age(7200), age(3 * 86_400)), ("2 hours ago".into(), "3 days ago".into()));
    }

    #[test]
    fn a_shell_takes_words_as_they_are() {
        assert_eq!(for_shell("/src/a-b.rs"), "/src/a-b.rs");
        assert_eq!(for_shell("/it's $HOME"), r"'/it'\''s $HOME'");
        assert_eq!(for_shell(""), "''");
        assert_eq!(path_for_shell(Path::new("/my project")), "'/my project'");
        let raw = Path::new(OsStr::from_bytes(b"/it's\xe9\n7"));
        assert_eq!(path_for_shell(raw), r"$'/it\047s\351\0127'");
    }

    #[test]
    fn moments_for_programs_are_in_utc() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        assert_eq!(utc(at), "1970-01-01T00:00:01.500Z");
    }
}
