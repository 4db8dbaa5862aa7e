//! Which files a server serves, and with which tools.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use wink_agent::Toolset;
use wink_agent::exec::Executor;
use wink_agent::file_index::Follower;
use wink_agent::session::Session;
use wink_fs::{
    HostMount, HostOptions, Layered, MemoryBackend, MountPoint, TreePath, Workspace,
    WorkspaceBuilder,
};

use crate::cli::context::{Context, real_path};
use crate::commands::init;
use crate::error::CliError;
use crate::mcp::Results;
use crate::project::forks::persisted::PersistedForks;
use crate::project::{self, Project, exclusions, orphaned, retention};
use crate::serve::fixed_mounts::FixedMounts;
use crate::window::feed::RunFeed;

#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// Directory to serve.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Where the files are: in memory, in a directory of the host, or there with programs that run in a container.
    #[arg(long, value_name = "NAME")]
    backend: Option<BackendName>,

    /// Copy a file or directory of the host into memory, as DEST or under its own name; the host's files do not
    /// change, and with :ro the tools for files cannot change the copy either.
    #[arg(long, value_name = "SRC[:DEST][:ro]")]
    mount: Vec<String>,

    /// Image of the container that --backend podman runs programs in [default: docker.io/library/python:3.12-slim].
    #[arg(long, value_name = "NAME")]
    image: Option<String>,

    /// Tools to offer: files, history or all.
    #[arg(long, value_name = "SET", default_value = "all", value_parser = toolset)]
    pub(crate) tools: Toolset,

    /// How to send results: as text for a model, or as structured data with schemas for a program.
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(crate) results: Results,

    /// Offer only tools that read, and refuse every change.
    #[arg(long)]
    read_only: bool,

    /// Serve a directory without a history: no change can be undone, and every answer says so.
    #[arg(long)]
    no_history: bool,

    /// Allow `/`, the home directory, or one above it.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackendName {
    Memory,
    Host,
    Podman,
}

fn toolset(name: &str) -> Result<Toolset, String> {
    Toolset::named(name).ok_or_else(|| "choose files, history or all".to_owned())
}

/// An open workspace to serve.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) files: Workspace,
    /// Its directory, if it has one.
    pub(crate) root: Option<PathBuf>,
    /// A description for users.
    pub(crate) what: String,
    /// A note or warning for users.
    pub(crate) note: Option<String>,
    /// What runs programs on the files, if anything does.
    pub(crate) executor: Option<Arc<dyn Executor>>,
    /// Where forks are kept when the server ends; in memory they are lost.
    pub(crate) kept_forks: Option<PersistedForks>,
    /// Keeps the listing of the files of the session up to date, if there is to be one.
    pub(crate) follower: Option<Arc<Follower>>,
    /// Reports what happens in it to the pages that are open.
    pub(crate) feed: RunFeed,
}

/// What follows the changes of a workspace from its beginning.
#[derive(Debug)]
pub(crate) struct Watched<'s> {
    /// The session that gets a listing of the files, if one does.
    pub(crate) listed_in: Option<&'s Session>,
    /// Reports changes to the pages that are open.
    pub(crate) feed: RunFeed,
}

/// What is served by default.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Usually {
    /// The workspace that the command was started in, or the directory itself.
    Here,
    /// An empty workspace in memory.
    Memory,
}

impl SourceArgs {
    /// Opens the workspace that the options name.
    pub(crate) fn open(
        &self,
        context: &Context,
        usually: Usually,
        watched: &Watched<'_>,
    ) -> Result<Served, CliError> {
        match self.backend {
            Some(BackendName::Podman) => self.podman(context, watched),
            _ if self.image.is_some() => Err(CliError::image_without_podman()),
            Some(BackendName::Memory) if self.root.is_some() => Err(CliError::root_in_memory()),
            Some(BackendName::Memory) => self.memory(context, watched),
            Some(BackendName::Host) => self.host(context, watched),
            None if self.root.is_some() => self.host(context, watched),
            None if !self.mount.is_empty() => self.memory(context, watched),
            None => match usually {
                Usually::Here => self.host(context, watched),
                Usually::Memory => self.memory(context, watched),
            },
        }
    }

    /// Returns whether the options name files.
    pub(crate) fn names_files(&self) -> bool {
        self.root.is_some() || self.backend.is_some() || !self.mount.is_empty()
    }

    fn memory(&self, context: &Context, watched: &Watched<'_>) -> Result<Served, CliError> {
        if self.no_history {
            return Err(CliError::no_history_in_memory());
        }
        let mut backend = MemoryBackend::new();
        let mut fixed = FixedMounts::default();
        for text in &self.mount {
            let (mount, is_fixed) = mounted(context, text)?;
            let allowed = mount.host_path.parent().unwrap_or(&mount.host_path).to_owned();
            let reports = wink_fs::mount(&mut backend, &[mount], &[allowed])?;
            fixed.0.extend(reports.into_iter().filter(|_| is_fixed).map(|it| it.mount_path));
        }
        let backend = Layered::new(backend, fixed);
        let files = Workspace::builder(backend).retention(retention::in_memory());
        let (files, follower) = built(files.read_only(self.read_only), watched)?;
        let what = "an in-memory workspace, deleted when the server stops".to_owned();
        Ok(Served {
            files,
            root: None,
            what,
            note: None,
            executor: None,
            kept_forks: None,
            follower,
            feed: watched.feed.clone(),
        })
    }

    /// Returns the directory that the options name, or the one that the command was started in.
    fn root(&self, context: &Context) -> Result<PathBuf, CliError> {
        match &self.root {
            Some(root) => served_root(context, root),
            None => Ok(Project::find_any(&context.directory, context.store.as_deref())?
                .map_or_else(|| context.directory.clone(), |project| project.root)),
        }
    }

    /// Opens a directory, and starts a container for its programs: a server without one would only seem to work.
    #[cfg(target_os = "linux")]
    fn podman(&self, context: &Context, watched: &Watched<'_>) -> Result<Served, CliError> {
        if !self.mount.is_empty() {
            return Err(CliError::mount_on_host());
        }
        let root = self.root(context)?;
        let mut options = wink_podman::PodmanOptions::default();
        if let Some(image) = &self.image {
            // The user who starts the server allows the image by naming it.
            options = options.allow_image(image)?.image(image)?;
        }
        let executor = wink_podman::PodmanExecutor::new(options)?;
        let host_options = wink_podman::host_options(&root);
        let (builder, mut note, project) = self.with_history(context, &root, host_options)?;
        let builder = builder.mount_point(wink_podman::mount_point()?).read_only(self.read_only);
        let mode =
            executor.start(&root).map_err(|problem| CliError::container(&problem.to_string()))?;
        if let wink_podman::RunningMode::ContainerPerCommand(why) = mode {
            let slow = format!("note: each command gets a container of its own, because {why}");
            note = Some(note.map_or(slow.clone(), |note| format!("{note}\n{slow}")));
        }
        let (files, follower) = built(builder, watched)?;
        let served = Served {
            files,
            root: Some(root.clone()),
            what: format!("{}, with programs in a container", root.display()),
            note,
            executor: (!self.read_only).then(|| Arc::new(executor) as Arc<dyn Executor>),
            kept_forks: kept_forks(context, project),
            follower,
            feed: watched.feed.clone(),
        };
        self.said_whole(context, &root, served)
    }

    #[cfg(not(target_os = "linux"))]
    fn podman(&self, _: &Context, _: Option<&Session>) -> Result<Served, CliError> {
        Err(CliError::container("containers need Linux"))
    }

    fn host(&self, context: &Context, watched: &Watched<'_>) -> Result<Served, CliError> {
        if !self.mount.is_empty() {
            return Err(CliError::mount_on_host());
        }
        let root = self.root(context)?;
        self.said_whole(context, &root, self.served(context, &root, watched)?)
    }

    /// Adds that a whole workspace is served, if the command was started below its root.
    fn said_whole(
        &self,
        context: &Context,
        root: &Path,
        mut served: Served,
    ) -> Result<Served, CliError> {
        if self.root.is_none() && root != context.directory {
            let whole = format!("note: serving the whole workspace {}", root.display());
            served.note =
                Some(served.note.map_or(whole.clone(), |note| format!("{note}\n{whole}")));
        }
        Ok(served)
    }

    /// Opens a directory of the host beside the one that is served first.
    pub(crate) fn open_directory(
        &self,
        context: &Context,
        root: &Path,
        feed: RunFeed,
    ) -> Result<Served, CliError> {
        let watched = Watched { listed_in: None, feed };
        self.served(context, &served_root(context, root)?, &watched)
    }

    fn served(
        &self,
        context: &Context,
        root: &Path,
        watched: &Watched<'_>,
    ) -> Result<Served, CliError> {
        let (builder, note, project) = self.with_history(context, root, HostOptions::default())?;
        let mount_point = MountPoint::from_disk(root.as_os_str().as_bytes())?;
        let builder = builder.mount_point(mount_point).read_only(self.read_only);
        let (files, follower) = built(builder, watched)?;
        let kept_forks = kept_forks(context, project);
        let what = root.display().to_string();
        let root = Some(root.to_owned());
        let feed = watched.feed.clone();
        Ok(Served { files, root, what, note, executor: None, kept_forks, follower, feed })
    }

    /// Begins the workspace of a directory with its history; starts one if there is none, and fails if that
    /// cannot be done, unless no change is possible or the user wants none.
    fn with_history(
        &self,
        context: &Context,
        root: &Path,
        options: HostOptions,
    ) -> Result<(WorkspaceBuilder, Option<String>, Option<Project>), CliError> {
        let project = if self.no_history { None } else { home_of(context, root)? };
        if let Some(project) = project {
            return Ok((exclusions::heeding(&project, options)?, None, Some(project)));
        }
        if init::is_broad(root) && !self.force {
            return Err(CliError::too_broad_to_serve(root));
        }
        if self.read_only || self.no_history {
            let note = if self.read_only {
                "note: this directory has no history; `wink init` starts one"
            } else {
                "warning: no history is kept (--no-history), so nothing can be undone"
            };
            let files =
                Workspace::builder(wink_fs::HostBackend::open_ambient_with(root, &options)?);
            return Ok((files, Some(note.to_owned()), None));
        }
        let mentioned = orphaned::mentioned(root, &orphaned::of(root));
        let project = init::protect(context, root);
        let project = project.map_err(|failure| failure.without_history(root))?;
        let kept = project.directory.display();
        let mut note = format!("note: the history of {} is kept in {kept}", root.display());
        if let Some(mentioned) = mentioned {
            note += &format!("\nnote: {mentioned}");
        }
        Ok((exclusions::heeding(&project, options)?, Some(note), Some(project)))
    }
}

fn kept_forks(context: &Context, project: Option<Project>) -> Option<PersistedForks> {
    let is_talkative = context.is_talkative();
    project.map(|it| PersistedForks { directory: it.directory, is_talkative })
}

/// Makes the workspace, and lists its files in a session.
fn built(
    builder: WorkspaceBuilder,
    watched: &Watched<'_>,
) -> Result<(Workspace, Option<Arc<Follower>>), CliError> {
    let listener = watched.feed.clone();
    let builder = builder.observe(move |event| listener.hear(event));
    let Some(session) = watched.listed_in else { return Ok((builder.build(), None)) };
    let listed = Follower::begin(session, builder).map_err(|error| CliError::other(&error));
    listed.map(|(files, follower)| (files, Some(Arc::new(follower))))
}

fn served_root(context: &Context, named: &Path) -> Result<PathBuf, CliError> {
    project::working_directory(&context.directory.join(named), context.store.as_deref())
}

/// Finds the history of a directory, in the default place or the one that `--store` names.
fn home_of(context: &Context, root: &Path) -> Result<Option<Project>, CliError> {
    match &context.store {
        Some(store) => Ok(Project::read(store)?.filter(|project| project.root == root)),
        None => Project::of(root),
    }
}

/// Parses `SRC[:DEST][:ro]`; returns whether it is read-only. Naming a path on the command line allows it.
fn mounted(context: &Context, text: &str) -> Result<(HostMount, bool), CliError> {
    let (named, is_fixed) = match text.strip_suffix(":ro") {
        Some(named) => (named, true),
        None => (text, false),
    };
    let (source, target) = named.split_once(':').unwrap_or((named, ""));
    let mount = HostMount::new(real_path(&context.directory.join(source))?);
    Ok(match target {
        "" => (mount, is_fixed),
        target => (mount.at(TreePath::parse(target)?), is_fixed),
    })
}
