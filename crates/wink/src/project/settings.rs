//! What a workspace remembers of itself, in a file beside its store.

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

/// Holds the settings of a workspace.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    version: u32,
    /// The real path of the workspace's root, as text that stands for any name.
    root: String,
    /// What is neither captured nor touched.
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
    /// Whether what git keeps is captured like everything else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    captures_git: bool,
    created_at: String,
    /// How many snapshots without a tag stay, where this was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retention_count: Option<String>,
    /// How much space the history takes, where this was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retention_bytes: Option<String>,
    /// The directory that holds the history and its settings, where it is not this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept_in: Option<String>,
    /// What it is a fork of, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<Branch>,
}

/// What the settings of every version have.
#[derive(Deserialize)]
struct AnyVersion {
    #[serde(rename = "version")]
    _version: u64,
}

/// Says which fork of a workspace another one is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Branch {
    pub(crate) name: String,
    /// The id of the snapshot that the fork begins with.
    pub(crate) base: String,
    /// The directory of the history that it shares.
    of: String,
    /// The id of the snapshot that it was kept as, where it has no directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
    /// The states of it that were brought back, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    merges: Vec<MergeBase>,
}

/// A state of a fork that was brought back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MergeBase {
    /// The id of the snapshot of the fork.
    pub(crate) theirs: String,
    /// The id of the snapshot of what was there before, where anything was changed.
    pub(crate) saved: Option<String>,
}

/// How many states that were brought back are remembered, for those who undo merges.
const MERGES: usize = 16;

impl Branch {
    pub(crate) fn new(name: &str, base: &str, of: &Path) -> Result<Self, CliError> {
        let (name, base, of) = (name.to_owned(), base.to_owned(), path_text(of)?);
        Ok(Self { name, base, of, kept: None, merges: Vec::new() })
    }

    /// Says that it has no directory, and which snapshot has its files.
    pub(crate) fn kept_as(self, kept: String) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// Returns the states that were brought back, oldest first.
    pub(crate) fn merges(&self) -> impl Iterator<Item = &MergeBase> {
        self.merges.iter()
    }

    /// Remembers a state that was brought back; returns those that are forgotten for it.
    pub(crate) fn merged(&mut self, point: MergeBase) -> Vec<MergeBase> {
        self.merges.push(point);
        self.merges.drain(..self.merges.len().saturating_sub(MERGES)).collect()
    }

    /// Returns the ids of all snapshots that a merge may need.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &str> {
        let merged = self.merges.iter().map(|it| &*it.theirs);
        [&*self.base].into_iter().chain(self.kept.as_deref()).chain(merged)
    }

    /// Returns the directory of the history that it shares.
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
            kept_in: None,
            branch: None,
        })
    }

    /// Makes the settings of a fork in a directory of its own.
    pub(crate) fn of_branch(
        root: &Path,
        exclude: Vec<String>,
        branch: Branch,
    ) -> Result<Self, CliError> {
        Ok(Self { branch: Some(branch), ..Self::new(root, exclude)? })
    }

    /// Says that the history is somewhere else.
    pub(crate) fn pointer(root: &Path, project: &Path) -> Result<Self, CliError> {
        Ok(Self { kept_in: Some(path_text(project)?), ..Self::new(root, Vec::new())? })
    }

    /// Reads the settings in a directory; `None` where there are none.
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

    /// Writes the settings in the place of those that are there.
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

    /// Returns what was set for a key.
    pub(crate) fn value(&self, key: Key) -> Option<String> {
        match key {
            Key::Exclude => Some(self.exclude.join(", ")).filter(|text| !text.is_empty()),
            Key::RetentionCount => self.retention_count.clone(),
            Key::RetentionBytes => self.retention_bytes.clone(),
            Key::Color | Key::Pager => None,
        }
    }

    /// Sets how many snapshots stay, or how much space they take; none means what is usual.
    pub(crate) fn set(&mut self, key: Key, value: Option<String>) {
        match key {
            Key::RetentionCount => self.retention_count = value,
            Key::RetentionBytes => self.retention_bytes = value,
            _ => {}
        }
    }

    /// Says that the workspace is in another place now.
    pub(crate) fn move_to(&mut self, root: &Path) -> Result<(), CliError> {
        self.root = path_text(root)?;
        Ok(())
    }

    /// Tells whether a person wants what git keeps to be captured.
    pub(crate) fn captures_git(&self) -> bool {
        self.captures_git
    }

    /// Sets what is excluded; what git keeps is captured only where that was asked for.
    pub(crate) fn set_excluded(&mut self, exclude: Vec<String>, captures_git: bool) {
        (self.exclude, self.captures_git) = (exclude, captures_git);
    }

    pub(crate) fn root(&self) -> Result<PathBuf, CliError> {
        text_path(&self.root)
    }

    pub(crate) fn kept_in(&self) -> Result<Option<PathBuf>, CliError> {
        self.kept_in.as_deref().map(text_path).transpose()
    }

    /// Tells whether they are those of a workspace.
    pub(crate) fn is_of(&self, root: &Path) -> bool {
        path_text(root).is_ok_and(|root| root == self.root)
    }
}

/// Returns the text of an absolute path, which stands for any bytes.
pub(crate) fn path_text(path: &Path) -> Result<String, CliError> {
    Ok(match TreePath::from_disk(path.as_os_str().as_bytes())? {
        root if root.is_root() => "/".to_owned(),
        path => format!("/{path}"),
    })
}

/// Returns the path that a text stands for.
pub(crate) fn text_path(text: &str) -> Result<PathBuf, CliError> {
    let path = TreePath::parse(text)?;
    Ok(Path::new("/").join(OsStr::from_bytes(path.as_bytes())))
}
