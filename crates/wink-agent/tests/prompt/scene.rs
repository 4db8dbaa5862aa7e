//! A workspace section on each backend, and host files to mount.

use serde_json::Value;
use tempfile::TempDir;
use wink_agent::SessionFiles;
use wink_agent::ToolResult;
use wink_agent::prompt::{
    Prompt, PromptTemplate, RenderedPrompt, Section, SectionOptions, VfsSection, WorkspaceSection,
};
use wink_agent::session::{Session, SessionError, VirtualFileSystem};
use wink_fs::{HostMount, MountReport, NamedSnapshots, Workspace};

/// Makes tests of functions, one on each backend.
macro_rules! on_each_backend {
    ($($name:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $name() { super::$name(crate::prompt::scene::Backend::Memory) })*
        }
        mod host {
            $(#[test] fn $name() { super::$name(crate::prompt::scene::Backend::Host) })*
        }
    };
}
pub(crate) use on_each_backend;

#[derive(Clone, Copy)]
pub(crate) enum Backend {
    Memory,
    Host,
}

impl Backend {
    pub(crate) fn owner(self, session: &Session, options: SectionOptions) -> Owner {
        match self {
            Self::Memory => Owner::Memory(VfsSection::new(session, options)),
            Self::Host => Owner::Host(WorkspaceSection::temporary(session, options)),
        }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Memory => Self::Host,
            Self::Host => Self::Memory,
        }
    }
}

/// Makes a section whose workspace starts empty.
pub(crate) fn empty(backend: Backend, session: &Session) -> Owner {
    backend.owner(session, SectionOptions::default())
}

/// A workspace section of either kind.
pub(crate) enum Owner {
    Memory(VfsSection),
    Host(WorkspaceSection),
}

macro_rules! of_either {
    ($($name:ident -> $result:ty),* $(,)?) => {
        $(pub(crate) fn $name(&self) -> $result {
            match self {
                Self::Memory(section) => section.$name(),
                Self::Host(section) => section.$name(),
            }
        })*
    };
}

impl Owner {
    of_either!(
        filesystem -> Result<Workspace, SessionError>,
        files -> &SessionFiles,
        snapshots -> Result<NamedSnapshots, SessionError>,
        mounts -> Result<Vec<MountReport>, SessionError>,
        reset -> Result<(), SessionError>,
    );

    pub(crate) fn section(&self) -> Section {
        match self {
            Self::Memory(section) => section.into(),
            Self::Host(section) => section.into(),
        }
    }

    pub(crate) fn workspace(&self) -> Workspace {
        self.filesystem().unwrap()
    }

    /// Makes a prompt of this section alone.
    pub(crate) fn prompt(&self, session: &Session) -> Prompt {
        let template = PromptTemplate::new("agents/coder", "edit-files").unwrap();
        template.section(self.section()).prompt(session).unwrap()
    }

    /// Calls a tool of this section, in the context the prompt gives it.
    pub(crate) fn call(&self, session: &Session, name: &str, arguments: Value) -> ToolResult {
        call(&self.prompt(session).render().unwrap(), name, arguments)
    }
}

pub(crate) fn call(rendered: &RenderedPrompt, name: &str, arguments: Value) -> ToolResult {
    let offered = rendered.tool(name).unwrap();
    offered.tool.call(&offered.context().unwrap(), arguments)
}

/// A directory of the host with something to mount.
pub(crate) struct Project {
    pub(crate) directory: TempDir,
    pub(crate) files: Workspace,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let host = Workspace::host(directory.path()).unwrap();
        files.iter().for_each(|(path, content)| drop(host.write(path, content).unwrap()));
        Self { directory, files: host }
    }

    /// Mounts things of the project, which is allowed.
    pub(crate) fn mounting(&self, mounts: impl IntoIterator<Item = HostMount>) -> SectionOptions {
        let options = SectionOptions::default().allow_host_root(self.directory.path());
        mounts.into_iter().fold(options, SectionOptions::mount)
    }
}

/// Returns the paths of all files, in order.
pub(crate) fn paths(files: &Workspace) -> Vec<String> {
    files.glob("**", "").unwrap().paths.iter().map(ToString::to_string).collect()
}

/// Returns the session's listing: paths with their versions.
pub(crate) fn listing(session: &Session) -> Vec<(String, u64)> {
    let listing = session.query::<VirtualFileSystem>().unwrap().latest().unwrap_or_default();
    listing.files().map(|file| (file.path.to_string(), file.version)).collect()
}
