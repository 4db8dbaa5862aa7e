//! The settings of a workspace, a file beside its store.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use wink_fs::TreePath;

use crate::error::CliError;
use crate::project::config::Key;
use crate::sys::disk;
use crate::ui::format;

const FILE: &str = "workspace.json";
const VERSION: u32 = 1;

/// The settings of a workspace.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    version: u32,
    /// The real path of the workspace's root, encoded as text.
    root: String,
    /// The exclusions.
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
    /// Whether `.git` is captured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    captures_git: bool,
    created_at: String,
    /// How many untagged snapshots are kept, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retention_count: Option<String>,
    /// The quota, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retention_bytes: Option<String>,
    /// The id of the store, by which a store that was put in its place is noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) store_id: Option<String>,
    /// The directory of the history, if these settings are only a pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept_in: Option<String>,
    /// What it was forked from, if it is a fork.
    #[serde(default, rename = "branch", skip_serializing_if = "Option::is_none")]
    pub(crate) fork: Option<ForkSettings>,
}

/// The field that settings of every version have.
#[derive(Deserialize)]
struct AnyVersion {
    #[serde(rename = "version")]
    _version: u64,
}

/// The settings that only a fork has.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkSettings {
    pub(crate) name: String,
    /// The id of the fork's first snapshot.
    pub(crate) base: String,
    /// The directory of the shared history.
    of: String,
    /// The id of the snapshot with its files, if it has no directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
    /// Its merged states, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    merges: Vec<MergeBase>,
}

/// A merged state of a fork.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MergeBase {
    /// The id of the snapshot of the fork.
    pub(crate) theirs: String,
    /// The id of the safety snapshot, if the merge changed anything.
    pub(crate) saved: Option<String>,
}

/// How many merged states are remembered: a merge that is undone makes an earlier one the merge base again.
const MERGES: usize = 16;

impl ForkSettings {
    pub(crate) fn new(name: &str, base: &str, of: &Path) -> Result<Self, CliError> {
        let (name, base, of) = (name.to_owned(), base.to_owned(), path_text(of)?);
        Ok(Self { name, base, of, kept: None, merges: Vec::new() })
    }

    /// Sets the snapshot with its files, if it has no directory.
    pub(crate) fn kept_as(self, kept: String) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// Returns the merged states, oldest first.
    pub(crate) fn merges(&self) -> impl Iterator<Item = &MergeBase> {
        self.merges.iter()
    }

    /// Adds a merged state; returns those that are dropped for it.
    pub(crate) fn merged(&mut self, point: MergeBase) -> Vec<MergeBase> {
        self.merges.push(point);
        self.merges.drain(..self.merges.len().saturating_sub(MERGES)).collect()
    }

    /// Returns the ids of all snapshots that a merge may need.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &str> {
        let merged = self.merges.iter().map(|it| &*it.theirs);
        [&*self.base].into_iter().chain(self.kept.as_deref()).chain(merged)
    }

    /// Returns the directory of the shared history.
    pub(crate) fn of(&self) -> Result<PathBuf, CliError> {
        text_path(&self.of)
    }
}

impl Settings {
    pub(crate) fn new(root: &Path, exclude: Vec<String>) -> Result<Self, CliError> {
        let created_at = format::utc(SystemTime::now());
        let root = path_text(root)?;
        Ok(Self {
            version: VERSION,
            root,
            exclude,
            captures_git: false,
            created_at,
            retention_count: None,
            retention_bytes: None,
            store_id: None,
            kept_in: None,
            fork: None,
        })
    }

    /// Makes the settings of a fork.
    pub(crate) fn of_fork(
        root: &Path,
        exclude: Vec<String>,
        fork: ForkSettings,
    ) -> Result<Self, CliError> {
        Ok(Self { fork: Some(fork), ..Self::new(root, exclude)? })
    }

    /// Makes a pointer to a history elsewhere.
    pub(crate) fn pointer(root: &Path, project: &Path) -> Result<Self, CliError> {
        Ok(Self { kept_in: Some(path_text(project)?), ..Self::new(root, Vec::new())? })
    }

    /// Reads the settings in a directory; `None` if there are none.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>, CliError> {
        let path = directory.join(FILE);
        let bytes = disk::read(&path);
        let bytes =
            bytes.map_err(|error| CliError::host("cannot read the settings", &path, error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let settings = serde_json::from_slice(&bytes).ok();
        let known = settings.filter(|settings: &Self| settings.version == VERSION);
        known.map(Some).ok_or_else(|| match serde_json::from_slice(&bytes) {
            // Damage leaves no complete object: another version, or the user, wrote this one on purpose.
            Ok(AnyVersion { .. }) => CliError::settings_of_another_version(&path),
            Err(_) => CliError::unreadable_settings(&path),
        })
    }

    /// Writes the settings of a new directory.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), CliError> {
        self.write_by(directory, disk::write_new_whole)
    }

    /// Replaces the settings.
    pub(crate) fn write_over(&self, directory: &Path) -> Result<(), CliError> {
        self.write_by(directory, disk::replace)
    }

    fn write_by(
        &self,
        directory: &Path,
        write: fn(&Path, &[u8]) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let path = directory.join(FILE);
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| CliError::other(&error))?;
        text.push(b'\n');
        write(&path, &text)
            .map_err(|error| CliError::host("cannot write the settings", &path, error))
    }

    /// Returns the file of the settings in a directory.
    pub(crate) fn place(directory: &Path) -> PathBuf {
        directory.join(FILE)
    }

    /// Returns the value of a key, if set.
    pub(crate) fn value(&self, key: Key) -> Option<String> {
        match key {
            Key::Exclude => Some(self.exclude.join(", ")).filter(|text| !text.is_empty()),
            Key::RetentionCount => self.retention_count.clone(),
            Key::RetentionBytes => self.retention_bytes.clone(),
            Key::Color | Key::Pager => None,
        }
    }

    /// Sets a retention key; `None` means the default.
    pub(crate) fn set(&mut self, key: Key, value: Option<String>) {
        match key {
            Key::RetentionCount => self.retention_count = value,
            Key::RetentionBytes => self.retention_bytes = value,
            _ => {}
        }
    }

    /// Changes the root, after the workspace was moved.
    pub(crate) fn move_to(&mut self, root: &Path) -> Result<(), CliError> {
        self.root = path_text(root)?;
        Ok(())
    }

    /// Returns whether `.git` is captured.
    pub(crate) fn captures_git(&self) -> bool {
        self.captures_git
    }

    /// Sets the exclusions, and whether `.git` is captured.
    pub(crate) fn set_excluded(&mut self, exclude: Vec<String>, captures_git: bool) {
        (self.exclude, self.captures_git) = (exclude, captures_git);
    }

    pub(crate) fn root(&self) -> Result<PathBuf, CliError> {
        text_path(&self.root)
    }

    pub(crate) fn kept_in(&self) -> Result<Option<PathBuf>, CliError> {
        self.kept_in.as_deref().map(text_path).transpose()
    }

    /// Returns whether these are the settings of this root.
    pub(crate) fn is_of(&self, root: &Path) -> bool {
        path_text(root).is_ok_and(|root| root == self.root)
    }
}

/// Encodes an absolute path of any bytes as text.
pub(crate) fn path_text(path: &Path) -> Result<String, CliError> {
    Ok(match TreePath::from_disk(path.as_os_str().as_bytes())? {
        root if root.is_root() => "/".to_owned(),
        path => format!("/{path}"),
    })
}

/// Decodes the text of an absolute path.
pub(crate) fn text_path(text: &str) -> Result<PathBuf, CliError> {
    let path = TreePath::parse(text)?;
    Ok(Path::new("/").join(OsStr::from_bytes(path.as_bytes())))
}
