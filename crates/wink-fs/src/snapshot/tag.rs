//! The names people give to snapshots.

use super::id::SnapshotId;
use super::state_name::StateName;
use super::value::Snapshot;
use crate::error::{Error, ErrorKind, Operation, Result};
use crate::path::needs_escape;

const MAX_CHARACTERS: usize = 100;

/// Refuses a tag that could not be typed back, or that reads as something else.
pub(crate) fn check_tag(tag: &str) -> Result<()> {
    let why = match tag {
        "" => "a tag has at least one character; give one, or none at all",
        _ if tag.chars().count() > MAX_CHARACTERS => {
            "a tag has at most 100 characters; give a shorter one"
        }
        _ if tag.chars().any(needs_escape) => {
            "a tag has no control or invisible characters; leave them out"
        }
        _ if tag.starts_with(['@', '-']) => "a tag does not start with `@` or `-`; give another",
        _ if tag.trim() != tag => "a tag has no spaces at its ends; leave them out",
        _ if tag.parse::<SnapshotId>().is_ok() => {
            "a tag cannot be what only an id looks like; give another"
        }
        _ if reads_as_a_state(tag) => {
            "a tag cannot be another way to name a state (op:N, event:N, a..b, an age, an archive); \
             give another"
        }
        _ => return Ok(()),
    };
    Err(Error::new(Operation::Snapshot, ErrorKind::InvalidArgument).with_detail(why))
}

/// Returns whether a name means something else wherever states are named.
fn reads_as_a_state(tag: &str) -> bool {
    StateName::given(tag).is_none() || tag.contains("..") || tag.ends_with(".fs.zip")
}

/// Returns whether a name is safe as a part of a path or of a command line.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= MAX_CHARACTERS
        && name.chars().all(is_plain)
}

/// Refuses a tag that a snapshot has already, or is known by.
pub(crate) fn check_unused<'s>(
    tag: Option<&str>,
    mut snapshots: impl Iterator<Item = &'s Snapshot>,
) -> Result<()> {
    let Some(tag) = tag else { return Ok(()) };
    let is_id = |id: &SnapshotId| tag.len() >= id.short().len() && id.matches_prefix(tag);
    match snapshots.find(|it| it.tag.as_deref() == Some(tag) || is_id(&it.id)) {
        None => Ok(()),
        Some(other) if is_id(&other.id) => Err(is_another(other)),
        Some(other) => Err(in_use(other)),
    }
}

/// Refuses a snapshot whose id or tag another one has already.
pub(crate) fn check_new<'s>(
    id: Option<SnapshotId>,
    tag: Option<&str>,
    snapshots: impl Iterator<Item = &'s Snapshot> + Clone,
) -> Result<()> {
    match id.filter(|id| snapshots.clone().any(|other| other.id == *id)) {
        None => check_unused(tag, snapshots),
        Some(id) => Err(Error::new(Operation::Snapshot, ErrorKind::AlreadyExists).with_detail(
            format!("snapshot {} is there already; a copy of it is not needed", id.short()),
        )),
    }
}

fn is_another(other: &Snapshot) -> Error {
    Error::new(Operation::Snapshot, ErrorKind::InvalidArgument)
        .with_detail(format!("this is the id of snapshot {}; give another tag", other.id.short()))
}

fn in_use(other: &Snapshot) -> Error {
    Error::new(Operation::Snapshot, ErrorKind::AlreadyExists).with_detail(format!(
        "snapshot {} has this tag already; give another, or take it away there first",
        other.id.short()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_people_give_are_tags() {
        let long = "x".repeat(100);
        for tag in ["a", "v1.0", "before the change", "größe", "日本", &long, "a-@", "long ago"]
        {
            check_tag(tag).unwrap();
        }
    }

    #[test]
    fn names_that_read_as_something_else_are_refused() {
        let id = SnapshotId::random();
        let (uuid, base32, long) = (id.to_string(), id.base32(), "x".repeat(101));
        let states = ["op:1", "event:4", "a..b", "10m ago", "work.fs.zip"];
        let others = ["", "@1", "-f", " a", "a ", "a\nb", "\u{7}", &long, &uuid, &base32];
        let hidden =
            ["a\u{202e}b", "\u{2067}a", "a\u{200b}", "a\u{200c}b", "\u{3164}", "a\u{e0041}"];
        for tag in states.into_iter().chain(others).chain(hidden) {
            assert_eq!(check_tag(tag).unwrap_err().kind(), ErrorKind::InvalidArgument, "{tag:?}");
        }
    }
}
