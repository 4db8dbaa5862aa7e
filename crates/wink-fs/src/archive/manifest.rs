//! The manifest of an archive.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::Deserialize;

use super::refuse;
use super::spelling::MANIFEST;
use crate::error::{Error, ErrorKind, Operation, Result};

/// The version that is written and read.
const VERSION: &str = "1";

/// Larger than any manifest of this version; later versions may add fields.
pub(super) const MAX_BYTES: u64 = 64 * 1024;

/// The manifest; unknown fields are ignored.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
pub(super) struct Manifest {
    version: String,
    created_at: String,
    pub(super) file_count: u64,
    pub(super) total_bytes: u64,
}

impl Manifest {
    /// Makes the manifest of an archive.
    pub(super) fn new(created_at: SystemTime, file_count: u64, total_bytes: u64) -> Result<Self> {
        let created_at = Timestamp::try_from(created_at).map_err(|_| {
            Error::new(Operation::Export, ErrorKind::InvalidArgument)
                .with_detail("the time of the archive is out of range; give one a calendar knows")
        })?;
        let created_at = created_at.to_string();
        Ok(Self { version: VERSION.into(), created_at, file_count, total_bytes })
    }

    /// Encodes the manifest.
    pub(super) fn to_json(&self) -> String {
        let Self { version, created_at, file_count, total_bytes } = self;
        format!(
            "{{\"version\":\"{version}\",\"created_at\":\"{created_at}\",\
             \"file_count\":{file_count},\"total_bytes\":{total_bytes}}}\n"
        )
    }

    /// Decodes a manifest; another version is Unsupported.
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let name = MANIFEST.as_bytes();
        check_version(json)?;
        let manifest: Self = serde_json::from_slice(json)
            .map_err(|error| refuse::entry(name, format!("it is not a manifest: {error}")))?;
        match manifest.created_at.parse::<Timestamp>() {
            Ok(_) => Ok(manifest),
            Err(_) => Err(refuse::entry(name, "created_at is not a time as RFC 3339 writes it")),
        }
    }

    /// Returns when the archive was made.
    pub(super) fn created_at(&self) -> SystemTime {
        self.created_at.parse::<Timestamp>().map_or(SystemTime::UNIX_EPOCH, SystemTime::from)
    }
}

/// Checks the version first, because a later one may have other fields.
fn check_version(json: &[u8]) -> Result<()> {
    #[derive(Deserialize)]
    struct Versioned {
        version: String,
    }
    match serde_json::from_slice::<Versioned>(json) {
        Ok(found) if found.version != VERSION => Err(refuse::unsupported(
            MANIFEST.as_bytes(),
            format!("only archives of version {VERSION} are read; this one says another"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let manifest = Manifest::new(SystemTime::UNIX_EPOCH, 3, 14).unwrap();
        let json = "{\"version\":\"1\",\"created_at\":\"1970-01-01T00:00:00Z\",\
                    \"file_count\":3,\"total_bytes\":14}\n";
        assert_eq!(manifest.to_json(), json);
        assert_eq!(Manifest::parse(json.as_bytes()).unwrap(), manifest);
        assert_eq!(manifest.created_at(), SystemTime::UNIX_EPOCH);
    }

    #[test]
    fn another_version_is_unsupported_and_anything_else_corrupt() {
        let kind = |json: &str| Manifest::parse(json.as_bytes()).unwrap_err().kind();
        assert_eq!(kind(r#"{"version":"2"}"#), ErrorKind::Unsupported);
        let time = r#""created_at":"2026-11-15T10:00:00+01:00""#;
        for json in [
            "",
            "[]",
            "{}",
            r#"{"version":1}"#,
            r#"{"version":"1"}"#,
            &format!(r#"{{"version":"1",{time},"file_count":-1,"total_bytes":0}}"#),
            &format!(r#"{{"version":"1",{time},"file_count":1.5,"total_bytes":0}}"#),
            &format!(r#"{{"version":"1",{time},"file_count":0,"file_count":1,"total_bytes":0}}"#),
            r#"{"version":"1","created_at":"yesterday","file_count":0,"total_bytes":0}"#,
        ] {
            assert_eq!(kind(json), ErrorKind::Corrupt, "{json}");
        }
        let later = format!(r#"{{"version":"1",{time},"file_count":0,"total_bytes":0,"new":[1]}}"#);
        assert!(Manifest::parse(later.as_bytes()).is_ok());
    }
}
