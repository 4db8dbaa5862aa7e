//! The files that a workspace section owns.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use wink_fs::{
    Backend, HostBackend, MemoryBackend, NamedSnapshots, Result as FileResult, Store, Workspace,
    WorkspaceBuilder,
};

use super::preview::Preview;
use super::sandbox::Sandbox;
use crate::exec::Executor;
use crate::prompt::error::PromptError;
use crate::prompt::options::SectionOptions;
use crate::session::files::owned::SessionFiles;
use crate::session::{Session, SessionError};
use crate::tool::context::ToolContext;
use crate::util::lock;

/// Where a section's files are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Memory.
    Memory,
    /// A directory that goes with the workspace.
    Temporary,
    /// A directory that was there before.
    Directory,
    /// A directory that goes with the workspace, with programs that run in a sandbox.
    Sandbox,
}

/// A workspace, made when first used, with its session and what was mounted into it.
pub(crate) struct SectionFiles {
    pub(crate) key: &'static str,
    pub(crate) place: Place,
    pub(crate) options: SectionOptions,
    pub(crate) owned: SessionFiles,
    /// What runs programs on the files, if anything does.
    runner: Option<Runner>,
    session: Session,
    mounted: Arc<Mutex<Vec<Preview>>>,
}

/// What runs programs, and where they find the files.
struct Runner {
    executor: Arc<dyn Executor>,
    mount_point: String,
}

impl SectionFiles {
    /// Owns files in memory.
    pub(crate) fn memory(session: &Session, key: &'static str, options: SectionOptions) -> Self {
        Self::new(session, key, Place::Memory, options, |mounts| {
            let mut backend = MemoryBackend::new();
            mounts.bring_into(&mut backend)?;
            Ok(Workspace::builder(backend))
        })
    }

    /// Owns files in a directory that is made for them.
    pub(crate) fn temporary(session: &Session, key: &'static str, options: SectionOptions) -> Self {
        Self::new(session, key, Place::Temporary, options, |mounts| {
            let mut backend = HostBackend::temporary()?;
            mounts.bring_into(&mut backend)?;
            Ok(Workspace::builder(backend).store(Store::temporary()?))
        })
    }

    /// Owns files in a directory that is made for them, and what runs programs on them.
    pub(crate) fn sandbox(session: &Session, sandbox: Sandbox, options: SectionOptions) -> Self {
        let Sandbox { key, mount_point, host, executor, .. } = sandbox;
        let about = mount_point.to_string();
        let mut files = Self::new(session, key, Place::Sandbox, options, move |mounts| {
            let mut backend = HostBackend::temporary_with(&host)?;
            mounts.bring_into(&mut backend)?;
            let files = Workspace::builder(backend).store(Store::temporary()?);
            Ok(files.mount_point(mount_point.clone()))
        });
        files.runner = Some(Runner { executor, mount_point: about });
        files
    }

    /// Owns what is done to the files of a directory.
    pub(crate) fn directory(
        session: &Session,
        key: &'static str,
        root: PathBuf,
        options: SectionOptions,
    ) -> Self {
        Self::new(session, key, Place::Directory, options, move |_| {
            Workspace::host_builder(&root, Store::temporary()?)
        })
    }

    fn new(
        session: &Session,
        key: &'static str,
        place: Place,
        options: SectionOptions,
        make: impl Fn(&Mounts) -> FileResult<WorkspaceBuilder> + Send + Sync + 'static,
    ) -> Self {
        let mounted = Arc::default();
        let mounts = Mounts { options: options.clone(), mounted: Arc::clone(&mounted) };
        let limits = options.limits.clone();
        let owned =
            SessionFiles::new(session, key, move || Ok(make(&mounts)?.limits(limits.clone())));
        let session = session.clone();
        Self { key, place, options, owned, runner: None, session, mounted }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn workspace(&self) -> Result<Workspace, PromptError> {
        self.owned.workspace().map_err(|error| self.failed(error))
    }

    /// Returns the context of calls on these files.
    pub(crate) fn context(&self) -> Result<ToolContext, PromptError> {
        let context = self.owned.context().map_err(|error| self.failed(error))?;
        Ok(match &self.runner {
            Some(runner) => context.executor(runner.executor.clone()),
            None => context,
        })
    }

    /// Returns where programs find the files, if there is something that runs them.
    pub(crate) fn mount_point(&self) -> Option<&str> {
        self.runner.as_ref().map(|runner| &*runner.mount_point)
    }

    fn failed(&self, error: SessionError) -> PromptError {
        PromptError::Files { section: self.key.to_owned(), error }
    }

    /// Returns what keeps states of the files by name.
    pub(crate) fn snapshots(&self) -> Result<NamedSnapshots, SessionError> {
        let workspace = self.owned.workspace()?;
        Ok(match &self.options.snapshot_dir {
            Some(directory) => NamedSnapshots::open_ambient(workspace, directory)?,
            None => NamedSnapshots::temporary(workspace)?,
        })
    }

    /// Returns what was mounted; without mounts, nothing is made to find that out.
    pub(crate) fn previews(&self) -> Result<Vec<Preview>, SessionError> {
        if self.options.mounts.is_empty() {
            return Ok(Vec::new());
        }
        self.owned.workspace()?;
        Ok(lock(&self.mounted).clone())
    }
}

/// What is brought into each workspace that is made, and what the last one got.
struct Mounts {
    options: SectionOptions,
    mounted: Arc<Mutex<Vec<Preview>>>,
}

impl Mounts {
    fn bring_into(&self, backend: &mut dyn Backend) -> FileResult<()> {
        let reports = self.options.mount_into(backend)?;
        let tree = backend.live();
        let previews = reports.into_iter().map(|report| Preview::of(report, &*tree));
        *lock(&self.mounted) = previews.collect();
        Ok(())
    }
}

impl fmt::Debug for SectionFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SectionFiles").field("files", &self.owned).finish_non_exhaustive()
    }
}
