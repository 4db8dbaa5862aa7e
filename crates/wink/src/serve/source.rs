//! Which files a server works on, and what it offers to do with them.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use wink_agent::Toolset;
use wink_fs::{
    HostMount, Layered, MemoryBackend, MountPoint, TreePath, Workspace, WorkspaceBuilder,
};

use crate::cli::context::{Context, real_path};
use crate::commands::init;
use crate::error::CliError;
use crate::project::Project;
use crate::project::forks::persisted::PersistedForks;
use crate::project::{exclusions, missing_root, orphaned, retention};
use crate::serve::fixed_mounts::FixedMounts;

#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// Directory to serve.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Where the files are: in memory, or in a directory of the host.
    #[arg(long, value_name = "NAME")]
    backend: Option<BackendName>,

    /// Copy a file or directory of the host into memory, as DEST or under its own name; the host's files do not
    /// change, and with :ro the tools for files cannot change the copy either.
    #[arg(long, value_name = "SRC[:DEST][:ro]")]
    mount: Vec<String>,

    /// Tools to offer: files, history or all.
    #[arg(long, value_name = "SET", default_value = "all", value_parser = toolset)]
    pub(crate) tools: Toolset,

    /// Offer only tools that read, and refuse every change.
    #[arg(long)]
    read_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackendName {
    Memory,
    Host,
    /// Not built yet, and so not offered.
    #[value(hide = true)]
    Podman,
}

fn toolset(name: &str) -> Result<Toolset, String> {
    Toolset::named(name).ok_or_else(|| "choose files, history or all".to_owned())
}

/// Files that were opened to be served.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) files: Workspace,
    /// The directory that they are in, where they are in one.
    pub(crate) root: Option<PathBuf>,
    /// What they are, in words for a person.
    pub(crate) what: String,
    /// What a person should know of them.
    pub(crate) note: Option<String>,
    /// Where forks of them are kept when the server ends; with files in memory they go.
    pub(crate) kept_forks: Option<PersistedForks>,
}

/// Says what is served where the user does not name it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Usually {
    /// The workspace that the command was started in, or the directory itself.
    Here,
    /// An empty workspace in memory.
    Memory,
}

impl SourceArgs {
    /// Opens what was asked for.
    pub(crate) fn open(&self, context: &Context, usually: Usually) -> Result<Served, CliError> {
        match self.backend {
            Some(BackendName::Podman) => Err(CliError::not_yet("the podman backend")),
            Some(BackendName::Memory) if self.root.is_some() => Err(CliError::root_in_memory()),
            Some(BackendName::Memory) => self.memory(context),
            Some(BackendName::Host) => self.host(context),
            None if self.root.is_some() => self.host(context),
            None if !self.mount.is_empty() => self.memory(context),
            None => match usually {
                Usually::Here => self.host(context),
                Usually::Memory => self.memory(context),
            },
        }
    }

    /// Tells whether it was said which files are served.
    pub(crate) fn names_files(&self) -> bool {
        self.root.is_some() || self.backend.is_some() || !self.mount.is_empty()
    }

    fn memory(&self, context: &Context) -> Result<Served, CliError> {
        let (mut backend, mut fixed) = (MemoryBackend::new(), FixedMounts::default());
        for text in &self.mount {
            let (mount, is_fixed) = mounted(context, text)?;
            let allowed = mount.host_path.parent().unwrap_or(&mount.host_path).to_owned();
            let reports = wink_fs::mount(&mut backend, &[mount], &[allowed])?;
            fixed.0.extend(reports.into_iter().filter(|_| is_fixed).map(|it| it.mount_path));
        }
        let backend = Layered::new(backend, fixed);
        let files = Workspace::builder(backend).retention(retention::in_memory());
        let files = files.read_only(self.read_only).build();
        let what = "an in-memory workspace; it is gone when this stops".to_owned();
        Ok(Served { files, root: None, what, note: None, kept_forks: None })
    }

    fn host(&self, context: &Context) -> Result<Served, CliError> {
        if !self.mount.is_empty() {
            return Err(CliError::mount_on_host());
        }
        let root = match &self.root {
            Some(root) => served_root(context, root)?,
            None => here(context)?,
        };
        let mut served = host(context, &root, self.read_only)?;
        if self.root.is_none() && root != context.directory {
            let whole = format!("note: all of the workspace {} is served", root.display());
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
    ) -> Result<Served, CliError> {
        host(context, &served_root(context, root)?, self.read_only)
    }
}

fn served_root(context: &Context, named: &Path) -> Result<PathBuf, CliError> {
    missing_root::real_path(&context.directory.join(named), context.store.as_deref())
}

/// Returns the workspace that the command was started in, or the directory itself.
fn here(context: &Context) -> Result<PathBuf, CliError> {
    match Project::find_any(&context.directory, context.store.as_deref())? {
        Some(project) => Ok(project.root),
        None if init::is_broad(&context.directory) => {
            Err(CliError::too_broad_to_serve(&context.directory))
        }
        None => Ok(context.directory.clone()),
    }
}

fn host(context: &Context, root: &Path, read_only: bool) -> Result<Served, CliError> {
    let (builder, note, project) = with_history(context, root, read_only)?;
    let mount_point = MountPoint::from_disk(root.as_os_str().as_bytes())?;
    let files = builder.mount_point(mount_point).read_only(read_only).build();
    let is_talkative = context.is_talkative();
    let kept_forks = project.map(|it| PersistedForks { directory: it.directory, is_talkative });
    let what = root.display().to_string();
    Ok(Served { files, root: Some(root.to_owned()), what, note, kept_forks })
}

/// Begins the workspace of a directory; where it has no history, one is made if that can be.
fn with_history(
    context: &Context,
    root: &Path,
    read_only: bool,
) -> Result<(WorkspaceBuilder, Option<String>, Option<Project>), CliError> {
    if let Some(project) = home_of(context, root)? {
        return Ok((exclusions::heeding(&project)?, None, Some(project)));
    }
    if read_only {
        let note = "note: this directory has no history; `wink init` begins one".to_owned();
        return Ok((without_history(root)?, Some(note), None));
    }
    let mentioned = orphaned::mentioned(root, &orphaned::of(root));
    match init::protect(context, root) {
        Ok(project) => {
            let kept = project.directory.display();
            let mut note = format!("note: the history of {} is kept in {kept}", root.display());
            if let Some(mentioned) = mentioned {
                note += &format!("\nnote: {mentioned}");
            }
            Ok((exclusions::heeding(&project)?, Some(note), Some(project)))
        }
        Err(failure) => {
            let why = failure.message();
            let note = format!("warning: no history is kept, so nothing can be undone: {why}");
            Ok((without_history(root)?, Some(note), None))
        }
    }
}

/// Finds the history of a directory, where it is usually kept or where a person says it is.
fn home_of(context: &Context, root: &Path) -> Result<Option<Project>, CliError> {
    match &context.store {
        Some(store) => Ok(Project::read(store)?.filter(|project| project.root == root)),
        None => Project::of(root),
    }
}

fn without_history(root: &Path) -> Result<WorkspaceBuilder, CliError> {
    Ok(Workspace::builder(wink_fs::HostBackend::open_ambient(root)?))
}

/// Reads `SRC[:DEST][:ro]` and whether it is to stay as it is; the person who typed it allows what is there.
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
