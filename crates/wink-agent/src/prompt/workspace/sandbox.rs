//! The section of a workspace with an executor.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use wink_fs::{HostOptions, MountPoint, MountReport, NamedSnapshots, Workspace};

use super::files::SectionFiles;
use super::guidance::ToolSource;
use super::owning::owning;
use crate::exec::Executor;
use crate::prompt::options::SectionOptions;
use crate::prompt::section::Section;
use crate::session::files::owned::SessionFiles;
use crate::session::{Session, SessionError};
use crate::tool::set::Toolset;

/// What a sandbox is to a section: its names, how its files are reached, and what runs programs in it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Sandbox {
    /// The section's key, which its snapshots and its listing are known by.
    pub key: &'static str,
    /// The section's title.
    pub title: &'static str,
    /// Where programs find the files.
    pub mount_point: MountPoint,
    /// How the host reaches the files.
    pub host: HostOptions,
    /// What runs programs.
    pub executor: Arc<dyn Executor>,
}

impl Sandbox {
    /// Describes a sandbox.
    pub fn new(
        key: &'static str,
        title: &'static str,
        mount_point: MountPoint,
        executor: Arc<dyn Executor>,
    ) -> Self {
        Self { key, title, mount_point, host: HostOptions::default(), executor }
    }

    /// Sets how the host reaches the files.
    #[must_use]
    pub fn host(mut self, host: HostOptions) -> Self {
        self.host = host;
        self
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Owns a workspace whose programs run in a sandbox, tells a model how to work in it, and offers the tools for files
/// and programs.
///
/// The workspace is made when it is first used. The crate of an executor has a section of its own on this one.
///
/// ```
/// use std::sync::Arc;
/// use wink_agent::exec::{Executed, ScriptedExecutor};
/// use wink_agent::prompt::{PromptTemplate, Sandbox, SandboxSection, SectionOptions};
/// use wink_agent::session::Session;
/// use wink_fs::MountPoint;
///
/// let session = Session::new();
/// let executor = Arc::new(ScriptedExecutor::new(|_, _| Ok(Executed::exit(0))));
/// let sandbox = Sandbox::new("sandbox", "Sandbox", MountPoint::parse("/workspace")?, executor);
/// let section = SandboxSection::temporary(&session, sandbox, SectionOptions::default());
/// let prompt = PromptTemplate::new("agents/coder", "run")?.section(&section).prompt(&session)?;
/// let rendered = prompt.render()?;
/// assert!(rendered.text.contains("/workspace"));
/// assert!(rendered.tools.iter().any(|tool| tool.tool.name == "shell_execute"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SandboxSection {
    files: Arc<SectionFiles>,
    title: &'static str,
}

owning!(SandboxSection);

impl SandboxSection {
    /// Creates a section with a temporary directory, which is deleted with the workspace.
    pub fn temporary(session: &Session, sandbox: Sandbox, options: SectionOptions) -> Self {
        let title = sandbox.title;
        Self { files: Arc::new(SectionFiles::sandbox(session, sandbox, options)), title }
    }

    /// Returns the path of the directory on the host, for the program and not for a model.
    pub fn root(&self) -> Result<PathBuf, SessionError> {
        Ok(self.filesystem()?.properties().root.clone().into())
    }
}

impl From<&SandboxSection> for Section {
    fn from(section: &SandboxSection) -> Self {
        Section::over(section.title, section.files.clone(), ToolSource::Section)
            .tools(Toolset::EXECUTION.tools().cloned())
    }
}
