//! The section of a workspace whose programs run in a container.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wink_agent::prompt::{Sandbox, SandboxSection, Section, SectionOptions};
use wink_agent::session::{Session, SessionError};
use wink_agent::{SessionFiles, ToolContext};
use wink_fs::{MountReport, NamedSnapshots, Workspace};

use crate::executor::PodmanExecutor;
use crate::options::PodmanOptions;
use crate::workspace;

const KEY: &str = "podman";
const TITLE: &str = "Sandbox";

/// Owns a workspace in a temporary directory, runs its programs in a container, tells a model how to work in it, and
/// offers the tools for files and programs.
///
/// The workspace is made when it is first used, and the container when the first program runs. A clone is the same
/// section.
///
/// ```
/// use wink_agent::prompt::{PromptTemplate, SectionOptions};
/// use wink_agent::session::Session;
/// use wink_podman::{PodmanOptions, PodmanSection};
///
/// let session = Session::new();
/// let sandbox = PodmanSection::new(&session, PodmanOptions::default(), SectionOptions::default())?;
/// let prompt = PromptTemplate::new("agents/coder", "run")?.section(&sandbox).prompt(&session)?;
/// assert!(prompt.render()?.text.starts_with("## 1. Sandbox\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PodmanSection {
    section: SandboxSection,
    executor: Arc<PodmanExecutor>,
}

impl PodmanSection {
    /// Makes the section of a session.
    pub fn new(
        session: &Session,
        podman: PodmanOptions,
        options: SectionOptions,
    ) -> wink_fs::Result<Self> {
        let executor = Arc::new(PodmanExecutor::new(podman)?);
        // The directory will be this user's own.
        let host = workspace::host_options(Path::new("/nowhere"));
        let sandbox = Sandbox::new(KEY, TITLE, workspace::mount_point()?, executor.clone());
        let section = SandboxSection::temporary(session, sandbox.host(host), options);
        Ok(Self { section, executor })
    }

    /// Returns the workspace; the first use makes it.
    pub fn filesystem(&self) -> Result<Workspace, SessionError> {
        self.section.filesystem()
    }

    /// Returns the workspace together with the session: checkpoints, dumps, what changed.
    pub fn files(&self) -> &SessionFiles {
        self.section.files()
    }

    /// Returns what keeps states of the workspace by name, each in an archive.
    pub fn snapshots(&self) -> Result<NamedSnapshots, SessionError> {
        self.section.snapshots()
    }

    /// Returns what the mounts brought in and what they left out.
    pub fn mounts(&self) -> Result<Vec<MountReport>, SessionError> {
        self.section.mounts()
    }

    /// Gives the workspace up; the next use makes a fresh one and mounts anew.
    pub fn reset(&self) -> Result<(), SessionError> {
        self.section.reset()
    }

    /// Returns the path of the directory on the host, for the program and not for a model.
    pub fn root(&self) -> Result<PathBuf, SessionError> {
        self.section.root()
    }

    /// Returns what runs the programs.
    pub fn executor(&self) -> &Arc<PodmanExecutor> {
        &self.executor
    }

    /// Returns the context of calls on the workspace, with the executor.
    pub fn context(&self) -> Result<ToolContext, SessionError> {
        Ok(self.files().context()?.executor(self.executor.clone()))
    }
}

impl From<&PodmanSection> for Section {
    fn from(section: &PodmanSection) -> Self {
        Self::from(&section.section)
    }
}
