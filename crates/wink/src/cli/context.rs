//! What all commands share: global options, the directory, and the open workspace.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use wink_fs::{Exclusions, HostOptions, MountPoint, TreePath, Workspace, WorkspaceBuilder};

use crate::cli::GlobalArgs;
use crate::cli::paths;
use crate::error::CliError;
use crate::json::Document;
use crate::project::Project;
use crate::project::git::directory;
use crate::project::{self, prune_log, retention};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::output::Output;
use crate::ui::progress::{Audience, Progress};
use crate::ui::prune_notice::PruneNotice;
use crate::ui::{input, output, recovery_notice};

/// The global options and the directory that a command works in.
#[derive(Debug)]
pub(crate) struct Context {
    global: GlobalArgs,
    /// Counts the files of long work, for progress.
    pub(crate) counted: wink_fs::Progress,
    /// The real path of the directory that the command works in.
    pub(crate) directory: PathBuf,
    /// The directory of the history, if `--store` names one.
    pub(crate) store: Option<PathBuf>,
}

/// An open workspace.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The real path of the directory that the command works in.
    pub(crate) directory: PathBuf,
    pub(crate) project: Project,
    pub(crate) excluded: Exclusions,
    pub(crate) files: Workspace,
    /// Counts snapshots that were pruned while the command ran.
    pub(crate) prune_notice: PruneNotice,
}

impl Context {
    pub(crate) fn new(args: &GlobalArgs) -> Result<Self, CliError> {
        let directory = project::working_directory(&args.directory, args.store.as_deref())?;
        let store = args.store.as_ref().map(|store| real_path_to_be(&directory.join(store)));
        let store = store.transpose()?;
        let counted = wink_fs::Progress::default();
        Ok(Self { global: args.clone(), counted, directory, store })
    }

    /// Opens the workspace that the command works in.
    pub(crate) fn open(&self) -> Result<Opened, CliError> {
        let project = Project::find(&self.directory, self.store.as_deref())?;
        let progress = (!self.global.quiet).then(|| self.counted.clone());
        let opened = Self::open_project(project, progress)?;
        Ok(Opened { directory: self.directory.clone(), ..opened })
    }

    /// Opens the workspace of a project.
    pub(crate) fn open_project(
        project: Project,
        progress: Option<wink_fs::Progress>,
    ) -> Result<Opened, CliError> {
        tracing::info!(root = ?project.root, history = ?project.directory, "workspace");
        let excluded = directory::excluded(&project)?;
        let prune_notice = PruneNotice::default();
        let listener = prune_notice.clone();
        let mut files = Self::builder(&project, &excluded, HostOptions::default())?
            .observe(move |event| listener.hear(event));
        if let Some(progress) = progress {
            files = files.progress(progress);
        }
        let directory = project.root.clone();
        Ok(Opened { directory, project, excluded, files: files.build(), prune_notice })
    }

    /// Returns a builder for the workspace of a project.
    pub(crate) fn builder(
        project: &Project,
        excluded: &Exclusions,
        options: HostOptions,
    ) -> Result<WorkspaceBuilder, CliError> {
        let store = project.open_store()?;
        let files = Workspace::host_builder_with(&project.root, store, options);
        let files = files.map_err(|error| CliError::root(project, error))?;
        // So that absolute paths below the root are paths of the workspace.
        let mount_point = MountPoint::from_disk(project.root.as_os_str().as_bytes())?;
        let files = files.exclude(excluded.clone()).mount_point(mount_point);
        let (shared, actor) = (project.shared()?, actor());
        let files = files.retention(retention::of(project)?).actor(&actor);
        Ok(files.observe(move |event| {
            tracing::debug!(?event, "files");
            recovery_notice::print(event);
            prune_log::remember(&shared, &actor, event);
        }))
    }

    /// Resolves paths that were typed to paths of the workspace.
    pub(crate) fn paths(
        &self,
        opened: &Opened,
        named: &[PathBuf],
    ) -> Result<Vec<TreePath>, CliError> {
        named.iter().map(|path| self.path(opened, path)).collect()
    }

    /// Resolves a path that was typed to a path of the workspace.
    pub(crate) fn path(&self, opened: &Opened, named: &Path) -> Result<TreePath, CliError> {
        paths::resolve(&opened.project.root, &self.directory, named)
    }

    /// Returns the absolute path of a file of the host, inside the workspace or not.
    pub(crate) fn host_path(&self, named: &Path) -> PathBuf {
        paths::without_dots(&self.directory.join(named))
    }

    /// Returns the answer: the document as JSON, or its text.
    pub(crate) fn answer<D: Document>(
        &self,
        document: &D,
        text: impl FnOnce(&D) -> String,
    ) -> Result<Answer, CliError> {
        if self.global.json {
            Answer::json(document)
        } else {
            Ok(Answer { text: text(document), ..Answer::default() })
        }
    }

    /// Returns the line that says what a command did; with `--quiet` the exit code says it.
    pub(crate) fn summary(&self, line: String) -> String {
        if self.global.quiet { String::new() } else { line }
    }

    /// Returns the output, for commands that print before their answer.
    pub(crate) fn output(&self) -> Output {
        Output::new(&self.global)
    }

    /// Returns whether the answer is text, not JSON.
    pub(crate) fn is_for_people(&self) -> bool {
        !self.global.json
    }

    /// Returns whether to print notes and hints.
    pub(crate) fn is_talkative(&self) -> bool {
        !self.global.json && !self.global.quiet
    }

    /// Shows progress until the value is dropped, if the work takes long.
    pub(crate) fn progress(&self, doing: &'static str) -> Progress {
        Progress::begin(
            doing,
            &self.counted,
            match (self.global.quiet, self.global.json) {
                (true, _) => Audience::None,
                (_, true) => Audience::Programs,
                _ => Audience::People,
            },
        )
    }

    /// Returns whether `confirm` can get an answer.
    pub(crate) fn can_confirm(&self) -> bool {
        self.global.yes || (!self.global.json && input::is_interactive())
    }

    /// Asks before something that cannot be undone; fails without a terminal or `--yes`.
    pub(crate) fn confirm(&self, question: &str) -> Result<(), CliError> {
        if self.global.yes {
            Ok(())
        } else if !self.can_confirm() {
            Err(CliError::unanswered(question))
        } else if input::ask(question)? {
            Ok(())
        } else {
            Err(CliError::declined())
        }
    }

    /// Returns whether an optional question can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        !self.global.json && !self.global.yes && input::is_interactive()
    }

    /// Asks whether to do something optional; without a terminal the answer is no.
    pub(crate) fn agrees(&self, question: &str) -> Result<bool, CliError> {
        Ok(self.can_ask() && input::ask(question)?)
    }

    /// Prints a note before the answer, unless `--quiet` or `--json`.
    pub(crate) fn say(&self, note: &str) {
        if self.is_talkative() {
            output::say(note);
        }
    }

    /// Returns a note, unless `--quiet` or `--json`.
    pub(crate) fn note(&self, text: impl Into<String>) -> Vec<String> {
        if self.is_talkative() { vec![text.into()] } else { Vec::new() }
    }
}

/// Returns the actor that the operation log records.
pub(crate) fn actor() -> String {
    format!("{PERSON}{}", std::process::id())
}

/// What the actor of commands that a person types begins with.
const PERSON: &str = "wink, process ";

/// Returns whether an actor is a person at the command line.
pub(crate) fn is_command_line(actor: &str) -> bool {
    actor.starts_with(PERSON)
}

pub(crate) fn real_path(path: &Path) -> Result<PathBuf, CliError> {
    disk::real_path(path).map_err(|error| CliError::host("cannot find", path, error))
}

fn real_path_to_be(path: &Path) -> Result<PathBuf, CliError> {
    disk::real_path_to_be(&paths::without_dots(path))
        .map_err(|error| CliError::host("cannot find", path, error))
}
