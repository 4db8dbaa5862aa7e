//! The sections that tell a model of its workspace: the files, how to use the tools, a preview of the tree.

pub(crate) mod files;
pub(crate) mod guidance;
pub(crate) mod owning;
pub(crate) mod preview;
pub(crate) mod sandbox;
pub(crate) mod vfs;

use std::path::PathBuf;
use std::sync::Arc;

use wink_fs::{
    Error, ErrorKind, MountReport, NamedSnapshots, Operation, Result as FileResult, Workspace,
};

use super::options::SectionOptions;
use super::section::Section;
use super::workspace::files::SectionFiles;
use super::workspace::guidance::ToolSource;
use super::workspace::owning::owning;
use crate::session::files::owned::SessionFiles;
use crate::session::{Session, SessionError};

const KEY: &str = "workspace";
const TITLE: &str = "Workspace";

/// Owns a workspace in a directory, tells a model how to work in it, and offers the tools.
///
/// The workspace is made when it is first used, and its history lasts as long as it does. The tools
/// refuse to be called for another session than the section's. A clone is the same section.
///
/// A harness with file tools of its own takes the section
/// [without tools](Self::without_tools), works in [`root`](Self::root), and has
/// [`SessionFiles::rescan`] tell the session what changed on the disk.
///
/// ```
/// use wink_agent::prompt::{PromptTemplate, SectionOptions, WorkspaceSection};
/// use wink_agent::session::{Session, VirtualFileSystem};
///
/// let session = Session::new();
/// let workspace =
///     WorkspaceSection::temporary(&session, SectionOptions::default()).without_tools();
/// let prompt = PromptTemplate::new("agents/coder", "native")?.section(&workspace);
/// assert!(prompt.prompt(&session)?.render()?.tools.is_empty());
///
/// std::fs::write(workspace.root()?.join("native.txt"), "by a tool of the harness")?;
/// workspace.files().rescan()?;
/// assert_eq!(session.query::<VirtualFileSystem>()?.latest().unwrap().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WorkspaceSection {
    files: Arc<SectionFiles>,
    tools: ToolSource,
}

owning!(WorkspaceSection);

impl WorkspaceSection {
    /// Creates a section with a temporary directory, which is deleted with the workspace.
    pub fn temporary(session: &Session, options: SectionOptions) -> Self {
        Self::of(SectionFiles::temporary(session, KEY, options))
    }

    /// Creates a section that works in an existing directory.
    ///
    /// Nothing can be mounted there: a reset, which mounts anew, would overwrite files that are not the
    /// session's own. For the same reason it leaves the files as they are.
    pub fn over(
        session: &Session,
        root: impl Into<PathBuf>,
        options: SectionOptions,
    ) -> FileResult<Self> {
        if !options.mounts.is_empty() {
            return Err(Error::new(Operation::Mount, ErrorKind::InvalidArgument).with_detail(
                "a directory that is there already keeps its own files; mount into a temporary one",
            ));
        }
        Ok(Self::of(SectionFiles::directory(session, KEY, root.into(), options)))
    }

    fn of(files: SectionFiles) -> Self {
        Self { files: Arc::new(files), tools: ToolSource::Section }
    }

    /// Offers no tools, for a harness that has file tools of its own.
    #[must_use]
    pub fn without_tools(mut self) -> Self {
        self.tools = ToolSource::Harness;
        self
    }

    /// Returns the path of the directory on the host, for the program and not for a model.
    pub fn root(&self) -> Result<PathBuf, SessionError> {
        Ok(self.filesystem()?.properties().root.clone().into())
    }
}

impl From<&WorkspaceSection> for Section {
    fn from(section: &WorkspaceSection) -> Self {
        Section::over(TITLE, section.files.clone(), section.tools)
    }
}
