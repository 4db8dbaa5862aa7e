//! The section of a workspace in memory.

use std::sync::Arc;

use wink_fs::{MountReport, NamedSnapshots, Workspace};

use super::files::SectionFiles;
use super::guidance::ToolSource;
use super::owning::owning;
use crate::prompt::options::SectionOptions;
use crate::prompt::section::Section;
use crate::session::files::owned::SessionFiles;
use crate::session::{Session, SessionError};

const KEY: &str = "vfs";
const TITLE: &str = "Virtual Filesystem";

/// Owns a workspace in memory, tells a model how to work in it, and offers the tools.
///
/// The workspace is made when it is first used: by a tool, by the program, or to show what is mounted.
/// The tools refuse to be called for another session than the section's. A clone is the same section.
///
/// ```
/// use wink_agent::prompt::{PromptTemplate, SectionOptions, VfsSection};
/// use wink_agent::session::Session;
///
/// let session = Session::new();
/// let vfs = VfsSection::new(&session, SectionOptions::default());
/// vfs.filesystem()?.write("notes.txt", "Working notes...")?;
///
/// let prompt = PromptTemplate::new("agents/coder", "edit")?.section(&vfs).prompt(&session)?;
/// assert!(prompt.filesystem()?.unwrap().is_file("notes.txt"));
/// assert!(prompt.render()?.text.starts_with("## 1. Virtual Filesystem\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct VfsSection {
    files: Arc<SectionFiles>,
}

owning!(VfsSection);

impl VfsSection {
    /// Makes the section of a session.
    pub fn new(session: &Session, options: SectionOptions) -> Self {
        Self { files: Arc::new(SectionFiles::memory(session, KEY, options)) }
    }
}

impl From<&VfsSection> for Section {
    fn from(section: &VfsSection) -> Self {
        Section::over(TITLE, section.files.clone(), ToolSource::Section)
    }
}
