//! What a session knows of one file.

use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};
use wink_fs::TreePath;

use crate::session::moment;

/// Describes a file of the workspace; its content is in the workspace alone.
///
/// ```
/// use std::time::SystemTime;
/// use wink_agent::session::{Encoding, FileChange, FilesChanged, VirtualFileSystem};
/// use wink_fs::TreePath;
///
/// let path = TreePath::parse("src/main.rs")?;
/// let change = FileChange::written(path.clone(), 12, Some(Encoding::Utf8));
/// let files = VirtualFileSystem::default().after(&FilesChanged::new(SystemTime::now(), [change]));
/// let file = files.get(&path).unwrap();
/// assert_eq!((file.size_bytes, file.version), (12, 1));
/// assert_eq!(file.created_at, file.updated_at);
/// # Ok::<(), wink_fs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VirtualFile {
    /// Where it is.
    #[serde(serialize_with = "path_to_text", deserialize_with = "path_from_text")]
    pub path: TreePath,
    /// The bytes of its content.
    pub size_bytes: u64,
    /// How often it was written since it was made, that time included.
    pub version: u64,
    /// How to read its bytes, if known.
    pub encoding: Option<Encoding>,
    /// When it was made, in UTC, to the millisecond.
    #[serde(with = "moment")]
    pub created_at: SystemTime,
    /// When it was written last, in UTC, to the millisecond.
    #[serde(with = "moment")]
    pub updated_at: SystemTime,
    /// The fields of a dump that this version does not know, which are written back unchanged.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl VirtualFile {
    /// Returns the file after it was made.
    pub(crate) fn made(path: TreePath, at: SystemTime) -> Self {
        let size_bytes = 0;
        let encoding = None;
        let rest = Map::new();
        Self { path, size_bytes, version: 1, encoding, created_at: at, updated_at: at, rest }
    }

    /// Returns the file after it was written once more.
    pub(crate) fn written_again(&self, at: SystemTime) -> Self {
        Self { version: self.version.saturating_add(1), updated_at: at, ..self.clone() }
    }
}

/// How to read a file's bytes; an unchecked hint.
///
/// ```
/// use wink_agent::session::Encoding;
///
/// assert_eq!(Encoding::from("utf-8".to_owned()), Encoding::Utf8);
/// assert_eq!(String::from(Encoding::Other("latin-1".into())), "latin-1");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum Encoding {
    /// Text in UTF-8.
    Utf8,
    /// No text.
    Binary,
    /// Text in another encoding, by its name.
    Other(String),
}

impl From<String> for Encoding {
    fn from(name: String) -> Self {
        match name.as_str() {
            "utf-8" => Self::Utf8,
            "binary" => Self::Binary,
            _ => Self::Other(name),
        }
    }
}

impl From<Encoding> for String {
    fn from(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Utf8 => "utf-8".into(),
            Encoding::Binary => "binary".into(),
            Encoding::Other(name) => name,
        }
    }
}

fn path_to_text<S: Serializer>(path: &TreePath, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(path)
}

fn path_from_text<'de, D: Deserializer<'de>>(from: D) -> Result<TreePath, D::Error> {
    TreePath::parse(&String::deserialize(from)?).map_err(de::Error::custom)
}
