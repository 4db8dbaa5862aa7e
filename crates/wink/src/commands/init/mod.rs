//! `wink init`: makes a directory a workspace.

mod moved;

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use wink_fs::{Exclusions, Store, TreePath, Workspace};

use crate::cli::context::{self, Context};
use crate::error::CliError;
use crate::json::documents;
use crate::project::config::Key;
use crate::project::git::directory::GIT;
use crate::project::orphaned;
use crate::project::settings::Settings;
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::answer::Answer;

/// Protect a directory: keep a history of it, outside of it.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Directory [default: the current one].
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,

    /// Leave paths out of snapshots and restores, such as `node_modules/` or `/target`.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Continue the history of this directory, which was moved here; if something else is there now, it is no
    /// longer a workspace.
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    moved_from: Option<PathBuf>,

    /// Allow `/`, the home directory, or one above it.
    #[arg(long)]
    force: bool,
}

documents! {
    Initialised: "wink/init@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Initialised {
    root: String,
    /// The directory of the settings and the store.
    home: String,
    excluded: Vec<String>,
    /// Whether the exclusion of `.git` was added because it is a git repository.
    git: bool,
    /// The missing directory whose history is continued.
    moved_from: Option<String>,
    /// Whether it was a workspace before, so that nothing was changed.
    existed: bool,
}

pub(crate) fn run(context: &Context, args: &InitArgs) -> Result<Answer, CliError> {
    args.exclude.iter().try_for_each(|pattern| Key::Exclude.check_given(pattern))?;
    let path = args.path.as_deref().unwrap_or(Path::new(""));
    let root = context::real_path(&context.directory.join(path))?;
    if let Some(answer) = existing(context, args, &root)? {
        return Ok(answer);
    }
    check_breadth(context, &root, args.force)?;
    let candidates = orphaned::of(&root);
    let chosen = match &args.moved_from {
        Some(old) => Some(moved::named(context, &root, &context.host_path(old))?),
        None => moved::choose(context, &root, &candidates)?,
    };
    let moved_from = chosen.as_ref().map(|lost| lost.root.display().to_string());
    let (directory, excluded, git) = match chosen {
        Some(lost) => moved::go_on(&root, lost, &args.exclude)?,
        None => begin(context, &root, args.exclude.clone())?,
    };
    let mut notes = Vec::new();
    if moved_from.is_none() {
        let mentioned = orphaned::mentioned(&root, &candidates);
        notes = mentioned.map_or(Vec::new(), |it| context.note(format!("note: {it}")));
    }
    notes.extend(context.note("next: wink snapshot"));
    let [root, home] = [root, directory].map(|path| path.display().to_string());
    let document = Initialised { root, home, excluded, git, moved_from, existed: false };
    Ok(Answer { notes, ..context.answer(&document, text)? })
}

/// Answers for a directory that is a workspace, unless the arguments ask for another one than it is.
fn existing(context: &Context, args: &InitArgs, root: &Path) -> Result<Option<Answer>, CliError> {
    if args.moved_from.is_some() || !args.exclude.is_empty() {
        return Ok(None);
    }
    let same = |it: &Project| context.store.as_ref().is_none_or(|store| *store == it.directory);
    let Some(project) = whole_project(context, root)?.filter(same) else { return Ok(None) };
    let document = Initialised {
        root: root.display().to_string(),
        home: project.directory.display().to_string(),
        excluded: project.settings.exclude.clone(),
        git: false,
        moved_from: None,
        existed: true,
    };
    let notes = context.note("next: wink status");
    Ok(Some(Answer { notes, ..context.answer(&document, text)? }))
}

/// Returns the workspace that a directory is, if its history is there.
fn whole_project(context: &Context, root: &Path) -> Result<Option<Project>, CliError> {
    let known =
        if context.store.is_some() { Project::of(root).ok().flatten() } else { Project::of(root)? };
    // Settings whose store is gone protect nothing: the hint for that leads here.
    let is_whole = |it: &Project| it.store().is_ok_and(|store| !disk::is_gone(&store));
    Ok(known.filter(is_whole))
}

/// Fails for a directory that is far more than a project, unless `--force` is given.
fn check_breadth(context: &Context, root: &Path, force: bool) -> Result<(), CliError> {
    match (is_broad(root), force) {
        (false, _) => Ok(()),
        (true, false) => Err(CliError::too_broad(root)),
        (true, true) => {
            context.confirm(&format!("Keep a history of everything in {}?", root.display()))
        }
    }
}

/// Starts the history of a directory that is served, as `wink init` does without arguments.
pub(crate) fn protect(context: &Context, root: &Path) -> Result<Project, CliError> {
    let (directory, ..) = begin(context, root, Vec::new())?;
    Project::read(&directory)?.ok_or_else(|| CliError::no_store(&directory))
}

/// Starts a history; returns its directory, the exclusions, and whether `.git` was added to them.
fn begin(
    context: &Context,
    root: &Path,
    mut exclude: Vec<String>,
) -> Result<(PathBuf, Vec<String>, bool), CliError> {
    let directory = choose_place(context, root)?;
    // Before anything is created: it must be a readable directory.
    let files = Workspace::host(root)?;
    let git = is_unexcluded_git(&files, &Exclusions::parse(exclude.clone())?)?;
    if git {
        exclude.insert(0, GIT.to_owned());
    }
    make(root, &directory, &exclude)?;
    if context.store.is_some() {
        project::leave_pointer(root, &directory)?;
    }
    Ok((directory, exclude, git))
}

fn text(document: &Initialised) -> String {
    let Initialised { root, home, excluded, git, moved_from, existed } = document;
    let since = if *existed { "already" } else { "now" };
    let mut text = format!("{root} is {since} a workspace.\n  history   {home}\n");
    if !excluded.is_empty() {
        text += &format!("  excluded  {}\n", excluded.join(", "));
    }
    if let Some(was) = moved_from {
        text += &format!("  It continues the history of {was}.\n");
    }
    if *git {
        text += "  This is a git repository: .git is left to git, and `wink status` shows when HEAD \
                 has moved.\n";
    }
    text
}

/// Returns whether a directory is the user's home, or contains it.
pub(crate) fn is_broad(root: &Path) -> bool {
    let holds = |home: PathBuf| {
        home.starts_with(root) || disk::real_path(&home).is_ok_and(|home| home.starts_with(root))
    };
    root.parent().is_none() || project::user_home().is_some_and(holds)
}

/// Returns the directory for the history, which must neither be in use nor inside the workspace.
fn choose_place(context: &Context, root: &Path) -> Result<PathBuf, CliError> {
    let known =
        if context.store.is_some() { Project::of(root).ok().flatten() } else { Project::of(root)? };
    // Settings whose store is gone protect nothing: the hint for that leads here.
    let is_whole = |it: &Project| it.store().is_ok_and(|store| !disk::is_gone(&store));
    if let Some(project) = known.filter(|it| context.store.is_none() || is_whole(it)) {
        return Err(CliError::already_protected(root, &project.directory));
    }
    let directory = match &context.store {
        Some(directory) => directory.clone(),
        None => project::usual_place(root)?,
    };
    let real = disk::real_path_to_be(&directory);
    let real = real.map_err(|error| CliError::host("cannot use", &directory, error))?;
    if real.starts_with(root) {
        return Err(CliError::store_inside(root, &real));
    }
    match Project::read(&real)? {
        Some(project) => Err(CliError::history_of_another(&project.root)),
        None => Ok(real),
    }
}

fn is_unexcluded_git(files: &Workspace, excluded: &Exclusions) -> Result<bool, CliError> {
    let git = TreePath::parse(".git")?;
    Ok(files.tree().stat(&git).is_ok() && !excluded.matches(&git))
}

/// Makes the history's directory, which appears complete.
fn make(root: &Path, directory: &Path, exclude: &[String]) -> Result<(), CliError> {
    let mut settings = Settings::new(root, exclude.to_vec())?;
    let made = disk::publish(directory, |directory| {
        let store = Store::create_ambient(project::store_in(directory)).map_err(CliError::from)?;
        settings.store_id = Some(store.id().to_owned());
        Ok(settings.write(directory)?)
    });
    made.map_err(|error: Unmade| error.at(directory))
}

/// Why a directory could not be made.
enum Unmade {
    System(io::Error),
    CliError(CliError),
}

impl Unmade {
    fn at(self, directory: &Path) -> CliError {
        match self {
            Self::System(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Another process may have just made it.
                match Project::read(directory) {
                    Ok(Some(project)) => CliError::already_protected(&project.root, directory),
                    _ => CliError::place_taken(directory),
                }
            }
            Self::System(error) => CliError::host("cannot make", directory, error),
            Self::CliError(failure) => failure,
        }
    }
}

impl From<io::Error> for Unmade {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<CliError> for Unmade {
    fn from(failure: CliError) -> Self {
        Self::CliError(failure)
    }
}
