//! Opens what a user named: a dump, an archive, a store, or a workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wink_agent::Toolset;
use wink_fs::archive::{ArchiveLimits, ArchiveTree};
use wink_fs::{HostOptions, MemoryBackend, MountPoint, Store, Workspace};

use crate::cli::context::Context;
use crate::error::CliError;
use crate::mcp::Endpoint;
use crate::project::forks::persisted::PersistedForks;
use crate::project::{Project, exclusions};
use crate::sys::disk;
use crate::window::dump::Dump;
use crate::window::feed::Feed;
use crate::window::run::{Run, Source};

/// Opens a path; its name in addresses differs from those that are taken.
pub(crate) fn open(
    context: &Context,
    path: &Path,
    feed: &Feed,
    taken: &[Run],
) -> Result<Run, CliError> {
    let file_name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let name = free_name(&file_name, taken);
    let ending = |ending: &str| file_name.ends_with(ending);
    if disk::is_file(path) {
        return if ending(".zip") {
            archive(&name, file_name, path)
        } else {
            dump(&name, file_name, path)
        };
    }
    if disk::is_gone(path) {
        return Err(CliError::nothing_to_show(path));
    }
    if disk::is_file(&path.join("format")) {
        let history = history(path)?;
        return Ok(Run::of(&name, file_name, Source::Store { history }));
    }
    workspace(context, &name, path, feed)
}

/// Makes a plain name that no other run has.
fn free_name(file: &str, taken: &[Run]) -> String {
    let stem = file.trim_end_matches(".jsonl").trim_end_matches(".zip").trim_end_matches(".fs");
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let stem: String = stem.chars().map(plain).take(60).collect();
    let stem = if stem.trim_matches('.').is_empty() { "run".to_owned() } else { stem };
    let is_free = |name: &String| taken.iter().all(|run| run.name != *name);
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    std::iter::once(stem.clone()).chain(numbered).find(is_free).unwrap_or(stem)
}

fn opened_archive(path: &Path) -> Result<ArchiveTree, CliError> {
    ArchiveTree::open_ambient(path, &ArchiveLimits::default())
        .map_err(|error| CliError::import(path, error))
}

fn archive(name: &str, title: String, path: &Path) -> Result<Run, CliError> {
    let archive = Arc::new(opened_archive(path)?);
    Ok(Run::of(name, title, Source::Archive { archive }))
}

/// Opens a store to read from it.
fn history(path: &Path) -> Result<Workspace, CliError> {
    let store = Store::open_ambient(path)?;
    Ok(Workspace::builder(MemoryBackend::new()).read_only(true).store(store).build())
}

/// Opens a dump with what lies beside it; what cannot be read is noted, and the rest is shown.
fn dump(name: &str, title: String, path: &Path) -> Result<Run, CliError> {
    let failed = |error| CliError::host("cannot read the session", path, error);
    let dump = Dump::read(path).map_err(failed)?;
    if dump.sessions.is_empty() && !dump.notes.is_empty() {
        return Err(CliError::not_a_dump(path, &dump.notes));
    }
    let mut notes = dump.notes.clone();
    let beside = path.with_extension("fs.zip");
    let archive = if disk::is_file(&beside) {
        opened_archive(&beside).map_err(|error| notes.push(cannot_read(&beside, &error))).ok()
    } else {
        notes.push("No archive lies beside the session, so there are no files to show.".to_owned());
        None
    };
    let beside = path.with_extension("history");
    let history = if disk::is_gone(&beside) {
        notes.push(
            "No history lies beside the session: only the last files are shown, not those in between."
                .to_owned(),
        );
        None
    } else {
        history(&beside).map_err(|error| notes.push(cannot_read(&beside, &error))).ok()
    };
    let archive = archive.map(Arc::new);
    let mut run = Run::of(name, title, Source::Dump { dump, history, archive });
    run.notes = notes;
    Ok(run)
}

fn cannot_read(path: &Path, error: &CliError) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    format!(
        "`{file}` is not shown: {}",
        error.text().trim_start_matches("error: ").replace('\n', "; ")
    )
}

/// Opens a workspace that has a history; none is begun by looking at it.
fn workspace(context: &Context, name: &str, path: &Path, feed: &Feed) -> Result<Run, CliError> {
    let directory =
        disk::real_path(path).map_err(|error| CliError::host("cannot find", path, error))?;
    let store = context.store.as_deref();
    let project = match Project::read(&directory)? {
        // The directory of a history itself.
        Some(project) => project,
        None => Project::find(&directory, store)?,
    };
    let report = feed.of(name);
    let listener = report.clone();
    let builder = exclusions::heeding(&project, HostOptions::default())?
        .observe(move |event| listener.hear(event));
    use std::os::unix::ffi::OsStrExt as _;
    let mount_point = MountPoint::from_disk(project.root.as_os_str().as_bytes())?;
    let files = builder.mount_point(mount_point).build();
    let is_talkative = context.is_talkative();
    let kept = PersistedForks { directory: project.directory.clone(), is_talkative };
    let endpoint = Endpoint::of_clients(&files, Toolset::ALL).with_kept_forks(Some(kept));
    let root: PathBuf = project.root;
    let title = root.display().to_string();
    Ok(Run::live(name, title, endpoint, report, Some(root)))
}
