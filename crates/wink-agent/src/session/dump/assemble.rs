//! Builds a tree of sessions from the lines of a dump.

use std::collections::{HashMap, HashSet};

use super::line::Line;
use crate::session::Session;
use crate::session::error::SessionError;
use crate::session::id::SessionId;

/// Builds the sessions of lines, each below its parent; returns the root.
pub(super) fn assemble(lines: Vec<Line>) -> Result<Session, SessionError> {
    check(&lines)?;
    let mut made: HashMap<SessionId, Session> = HashMap::new();
    let mut root = None;
    for line in lines {
        let session = make(line, &made);
        made.insert(session.id(), session.clone());
        root.get_or_insert(session);
    }
    root.ok_or_else(|| SessionError::malformed(1, "the dump is empty"))
}

fn make(line: Line, made: &HashMap<SessionId, Session>) -> Session {
    let builder = Session::builder().session_id(line.id).created_at(line.created_at);
    let builder = builder.tags(line.tags).loaded(line.slices, line.kept);
    match line.parent.as_ref().map(|parent| made.get(parent)) {
        Some(Some(parent)) => builder.parent(parent).build(),
        _ => builder.outside_parent(line.parent).build(),
    }
}

/// Fails unless the lines are one whole tree, its root first.
fn check(lines: &[Line]) -> Result<(), SessionError> {
    let all: HashSet<SessionId> = lines.iter().map(|line| line.id).collect();
    let mut above = HashSet::new();
    for (place, line) in lines.iter().enumerate() {
        check_parent(place, line, &all, &above)?;
        if !above.insert(line.id) {
            return Err(SessionError::DuplicateSession { id: line.id });
        }
    }
    let said = lines.first().and_then(|line| line.sessions);
    match said.filter(|said| *said != lines.len()) {
        None => Ok(()),
        Some(said) => Err(SessionError::malformed(
            lines.len(),
            format_args!("it is the last one, and the dump had {said} lines"),
        )),
    }
}

/// The parent of the first line may be outside of the dump, that of every other is on a line above.
fn check_parent(
    place: usize,
    line: &Line,
    all: &HashSet<SessionId>,
    above: &HashSet<SessionId>,
) -> Result<(), SessionError> {
    let number = place + 1;
    match line.parent {
        Some(parent) if above.contains(&parent) => Ok(()),
        Some(parent) if all.contains(&parent) => {
            Err(SessionError::ParentNotBefore { line: number, parent })
        }
        Some(parent) if place > 0 => Err(SessionError::UnknownParent { line: number, parent }),
        None if place > 0 => {
            Err(SessionError::malformed(number, "it has no parent, and only the first line may"))
        }
        _ => Ok(()),
    }
}
