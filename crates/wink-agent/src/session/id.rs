//! The id of a session.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;
use wink_fs::{Error, ErrorKind, Operation};

const UUID_CHARACTERS: usize = 36;

/// Identifies a session: a random UUID (version 4).
///
/// ```
/// use wink_agent::session::SessionId;
///
/// let id = SessionId::random();
/// assert_eq!(id.to_string().parse::<SessionId>()?, id);
/// assert!("session 1".parse::<SessionId>().is_err());
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Uuid);

impl SessionId {
    /// Makes a new id, which no other session has.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

impl FromStr for SessionId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // One spelling of a UUID is enough.
        let uuid = Some(text).filter(|text| text.len() == UUID_CHARACTERS);
        uuid.and_then(|text| Uuid::try_parse(text).ok()).map(Self).ok_or_else(|| {
            Error::new(Operation::Resolve, ErrorKind::InvalidArgument)
                .with_detail("a session's id is a UUID; give one that a session has")
        })
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({self})")
    }
}
