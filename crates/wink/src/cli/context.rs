//! What was typed, made into what was meant.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use wink_fs::{Exclusions, MountPoint, TreePath, Workspace, WorkspaceBuilder};

use crate::cli::GlobalArgs;
use crate::cli::paths;
use crate::error::CliError;
use crate::json::Document;
use crate::project::Project;
use crate::project::git::directory;
use crate::project::{missing_root, prune_log, retention};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::progress::{Audience, Progress};
use crate::ui::prune_notice::PruneNotice;
use crate::ui::{confirm, output, recovery_notice};

/// Holds what all commands are told.
#[derive(Debug)]
pub(crate) struct Context {
    json: bool,
    quiet: bool,
    yes: bool,
    /// How far the command is with what takes long.
    pub(crate) counted: wink_fs::Progress,
    /// The real path of the directory that the command works in.
    pub(crate) directory: PathBuf,
    /// The directory of the history, where it was named.
    pub(crate) store: Option<PathBuf>,
}

/// A workspace that was found and opened.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The real path of the directory that the command works in.
    pub(crate) directory: PathBuf,
    pub(crate) project: Project,
    pub(crate) excluded: Exclusions,
    pub(crate) files: Workspace,
    /// What a person should be told when the command is done.
    pub(crate) prune_notice: PruneNotice,
}

impl Context {
    pub(crate) fn new(args: &GlobalArgs) -> Result<Self, CliError> {
        let directory = missing_root::real_path(&args.directory, args.store.as_deref())?;
        let store = args.store.as_ref().map(|store| real_path_to_be(&directory.join(store)));
        let store = store.transpose()?;
        let GlobalArgs { json, quiet, yes, .. } = *args;
        let counted = wink_fs::Progress::default();
        Ok(Self { json, quiet, yes, counted, directory, store })
    }

    /// Opens the workspace that the command works in.
    pub(crate) fn open(&self) -> Result<Opened, CliError> {
        let project = Project::find(&self.directory, self.store.as_deref())?;
        let counted = (!self.quiet).then(|| self.counted.clone());
        let opened = Self::open_counted(project, counted)?;
        Ok(Opened { directory: self.directory.clone(), ..opened })
    }

    /// Opens a workspace whose history was found.
    pub(crate) fn open_project(project: Project) -> Result<Opened, CliError> {
        Self::open_counted(project, None)
    }

    fn open_counted(
        project: Project,
        counted: Option<wink_fs::Progress>,
    ) -> Result<Opened, CliError> {
        tracing::info!(root = ?project.root, history = ?project.directory, "workspace");
        let excluded = directory::excluded(&project)?;
        let mut files = Self::builder(&project, &excluded)?;
        if let Some(counted) = counted {
            files = files.progress(counted);
        }
        let prune_notice = PruneNotice::default();
        let listener = prune_notice.clone();
        let files = files.observe(move |event| listener.hear(event));
        let directory = project.root.clone();
        Ok(Opened { directory, project, excluded, files: files.build(), prune_notice })
    }

    /// Begins a workspace whose history was found.
    pub(crate) fn builder(
        project: &Project,
        excluded: &Exclusions,
    ) -> Result<WorkspaceBuilder, CliError> {
        let store = project.open_store()?;
        let files = Workspace::host_builder(&project.root, store);
        let files = files.map_err(|error| CliError::root(project, error))?;
        // An absolute path is one of the workspace where it is below the root, and none elsewhere.
        let mount_point = MountPoint::from_disk(project.root.as_os_str().as_bytes())?;
        let files = files.exclude(excluded.clone()).mount_point(mount_point);
        let (shared, actor) = (project.shared()?, actor());
        let files = files.retention(retention::of(project)?).actor(&actor);
        Ok(files.observe(move |event| {
            tracing::debug!(?event, "files");
            recovery_notice::tell(event);
            prune_log::remember(&shared, &actor, event);
        }))
    }

    /// Returns the paths that were named, as those of the workspace.
    pub(crate) fn paths(
        &self,
        opened: &Opened,
        named: &[PathBuf],
    ) -> Result<Vec<TreePath>, CliError> {
        named.iter().map(|path| self.path(opened, path)).collect()
    }

    /// Returns a path that was named, as one of the workspace.
    pub(crate) fn path(&self, opened: &Opened, named: &Path) -> Result<TreePath, CliError> {
        paths::resolve(&opened.project.root, &self.directory, named)
    }

    /// Returns where a file of the host is that was named, in the workspace or not.
    pub(crate) fn host_path(&self, named: &Path) -> PathBuf {
        paths::without_dots(&self.directory.join(named))
    }

    /// Answers with a document, or with what it says to a person.
    pub(crate) fn answer<D: Document>(
        &self,
        document: &D,
        text: impl FnOnce(&D) -> String,
    ) -> Result<Answer, CliError> {
        if self.json {
            Answer::json(document)
        } else {
            Ok(Answer { text: text(document), ..Answer::default() })
        }
    }

    /// Tells whether a person reads the answer.
    pub(crate) fn is_for_people(&self) -> bool {
        !self.json
    }

    /// Tells whether notes and hints are wanted.
    pub(crate) fn is_talkative(&self) -> bool {
        !self.json && !self.quiet
    }

    /// Says what is being done, if it takes long, until the value is dropped.
    pub(crate) fn progress(&self, doing: &'static str) -> Progress {
        Progress::begin(
            doing,
            &self.counted,
            match (self.quiet, self.json) {
                (true, _) => Audience::None,
                (_, true) => Audience::Programs,
                _ => Audience::People,
            },
        )
    }

    /// Asks a person before something that cannot be undone; programs must have said yes.
    pub(crate) fn confirm(&self, question: &str) -> Result<(), CliError> {
        match self.json || !confirm::is_possible() {
            _ if self.yes => Ok(()),
            true => Err(CliError::unanswered(question)),
            false => confirm::ask(question)?.then_some(()).ok_or_else(CliError::declined),
        }
    }

    /// Asks the user whether something is wanted; where no user can be asked, it is not.
    pub(crate) fn agrees(&self, question: &str) -> Result<bool, CliError> {
        Ok(!self.json && !self.yes && confirm::is_possible() && confirm::ask(question)?)
    }

    /// Says something before the answer, where notes are wanted.
    pub(crate) fn say(&self, note: &str) {
        if self.is_talkative() {
            output::say(note);
        }
    }

    /// Returns a note, where notes are wanted.
    pub(crate) fn note(&self, text: impl Into<String>) -> Vec<String> {
        if self.is_talkative() { vec![text.into()] } else { Vec::new() }
    }
}

/// Returns who does what is written down.
pub(crate) fn actor() -> String {
    format!("wink, process {}", std::process::id())
}

pub(crate) fn real_path(path: &Path) -> Result<PathBuf, CliError> {
    disk::real_path(path).map_err(|error| CliError::host("cannot find", path, error))
}

fn real_path_to_be(path: &Path) -> Result<PathBuf, CliError> {
    disk::real_path_to_be(&paths::without_dots(path))
        .map_err(|error| CliError::host("cannot find", path, error))
}
