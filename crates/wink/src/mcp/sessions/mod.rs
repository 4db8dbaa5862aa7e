//! The sessions that clients name.

pub(crate) mod lru;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::Value;
use wink_agent::session::Session;
use wink_agent::{SeenContents, ToolError};
use wink_fs::ErrorKind;

use super::call::records;
use crate::sys::lock::lock;

/// How many sessions are remembered; the one that was not used for longest is forgotten first.
const MOST: usize = 256;

/// How long a session is remembered that no client uses.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// Characters of a session's name.
const LONGEST: usize = 64;

/// Remembers sessions by the names that clients gave them; a clone remembers the same ones.
///
/// A name proves nothing: a client that may call tools may use any. All that depends on it is what was read and
/// which calls were made, and a client whose session is forgotten reads again.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions(Arc<Mutex<HashMap<String, Known>>>);

#[derive(Debug)]
struct Known {
    session: Session,
    seen: Arc<SeenContents>,
    used: Instant,
}

impl Sessions {
    /// Returns a session that is there, with the calls that were made in it.
    pub(super) fn get(&self, name: &str) -> Option<Session> {
        self.lock().get(name).map(|known| known.session.clone())
    }

    /// Returns all sessions, by their names.
    pub(super) fn all(&self) -> Vec<Session> {
        let known = self.lock();
        let mut all: Vec<_> = known.iter().collect();
        all.sort_by_key(|(name, _)| name.as_str());
        all.into_iter().map(|(_, known)| known.session.clone()).collect()
    }

    /// Returns a session, and the contents it has seen; a new name begins one.
    pub(super) fn find(&self, name: &Value) -> Result<(Session, Arc<SeenContents>), ToolError> {
        let name = checked(name)?;
        let mut known = self.lock();
        let now = Instant::now();
        known.retain(|_, session| now.duration_since(session.used) < IDLE);
        if known.len() >= MOST && !known.contains_key(name) {
            forget_oldest(&mut known);
        }
        let new = || Known { session: begun(name), seen: Arc::default(), used: now };
        let found = known.entry(name.to_owned()).or_insert_with(new);
        found.used = now;
        Ok((found.session.clone(), found.seen.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        lock(&self.0)
    }
}

fn begun(name: &str) -> Session {
    let session = Session::builder().tag("name", name).build();
    records::bound(&session);
    session
}

fn forget_oldest(known: &mut HashMap<String, Known>) {
    let oldest = known.iter().min_by_key(|(_, session)| session.used);
    if let Some(name) = oldest.map(|(name, _)| name.clone()) {
        known.remove(&name);
    }
}

fn checked(name: &Value) -> Result<&str, ToolError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = |name: &&str| (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain);
    name.as_str().filter(fits).ok_or_else(|| {
        ToolError::new(
            ErrorKind::InvalidArgument,
            format!("`session` must be a name of 1 to {LONGEST} letters, digits, - _ or . in it."),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(sessions: &Sessions, name: &str) -> Arc<SeenContents> {
        sessions.find(&name.into()).expect("a name that fits").1
    }

    #[test]
    fn the_same_name_is_the_same_session_until_too_many_others_came() {
        let sessions = Sessions::default();
        let first = find(&sessions, "first");
        for number in 1..MOST {
            find(&sessions, &number.to_string());
        }
        assert!(Arc::ptr_eq(&first, &find(&sessions, "first")));
        for number in MOST..2 * MOST {
            find(&sessions, &number.to_string());
        }
        assert!(!Arc::ptr_eq(&first, &find(&sessions, "first")));
        assert_eq!(sessions.0.lock().unwrap().len(), MOST);
    }

    #[test]
    fn a_name_is_short_and_plain() {
        let sessions = Sessions::default();
        for wrong in ["", "a b", "a/b", "é", &"x".repeat(65)] {
            assert!(sessions.find(&wrong.into()).is_err(), "{wrong}");
        }
        assert!(sessions.find(&7.into()).is_err());
    }
}
