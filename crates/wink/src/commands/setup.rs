//! `wink setup`: puts wink into the settings of a coding agent.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::cli::context::Context;
use crate::clients::config::{Edit, Unchanged};
use crate::clients::{self, Client, Site};
use crate::error::CliError;
use crate::json::documents;
use crate::project::{self, Project};
use crate::sys::disk;
use crate::ui::answer::Answer;
use crate::ui::style::Paint;

/// Add wink to the settings of a coding agent, and show the change.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SetupArgs {
    /// The client.
    #[arg(value_name = "CLIENT", value_parser = clients::NAMES)]
    client: String,

    /// Also add hooks, which take snapshots at prompts, after calls and at the end of turns.
    #[arg(long)]
    hooks: bool,

    /// Print the change, and change nothing.
    #[arg(long)]
    print: bool,

    /// Take out what was put in.
    #[arg(long)]
    undo: bool,
}

const AFTER_HELP: &str = "\
What is in the settings stays, with its comments and its order. Run again, it changes nothing. Most clients are set up for this
project; Codex for the user ($CODEX_HOME, or ~/.codex).";

documents! {
    SetUp: "wink/setup@1";
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SetUp {
    client: &'static str,
    /// Whether nothing was written, because of `--print`.
    dry_run: bool,
    undo: bool,
    files: Vec<FileEntry>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FileEntry {
    path: String,
    /// `created`, `changed`, `removed` or `unchanged`.
    change: &'static str,
    /// The change as a patch; empty if there is none.
    patch: String,
}

/// A file before and after.
struct Planned {
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

pub(crate) fn run(context: &Context, args: &SetupArgs) -> Result<Answer, CliError> {
    let client =
        clients::named(&args.client).ok_or_else(|| CliError::unknown_client(&args.client))?;
    let site = site(context)?;
    // What an earlier version put in is taken out with the hooks, asked for or not.
    let edits = client.edits(&site, args.hooks || args.undo);
    let planned = edits.iter().map(|edit| plan(edit, args.undo)).collect::<Result<Vec<_>, _>>()?;
    if !args.print {
        write_all(&planned, args.undo)?;
    }
    answer(context, args, client, &planned)
}

pub(super) fn site(context: &Context) -> Result<Site, CliError> {
    let project = Project::find_any(&context.directory, context.store.as_deref())?;
    let project = project.map_or_else(|| context.directory.clone(), |project| project.root);
    let home = project::user_home().ok_or_else(CliError::no_data_home)?;
    Ok(Site { project, home, program: program() })
}

/// Returns the shortest name that runs this very program.
pub(super) fn program() -> String {
    let own = std::env::current_exe().and_then(|path| disk::real_path(&path)).ok();
    let first = super::doctor::on_path("wink").into_iter().next();
    match own {
        Some(own) if first.as_ref() != Some(&own) => own.display().to_string(),
        _ => "wink".to_owned(),
    }
}

fn plan(edit: &Edit, undo: bool) -> Result<Planned, CliError> {
    let refused = |why: Unchanged| CliError::settings_of_client(&edit.path, &why);
    // A link stays, and what it leads to is changed.
    let path = disk::real_path(&edit.path).unwrap_or_else(|_| edit.path.clone());
    let before =
        disk::read_text(&path).map_err(|error| CliError::host("cannot read", &edit.path, error))?;
    let after = match (&before, undo) {
        (before, false) => Some(edit.content.put_into(before.as_deref()).map_err(refused)?),
        (None, true) => None,
        (Some(text), true) => match Remembered::of(&path).filter(|it| it.after == *text) {
            Some(remembered) => remembered.before,
            None => edit.content.take_out_of(text).map_err(refused)?,
        },
    };
    Ok(Planned { path, before, after })
}

/// Writes all files, or none.
fn write_all(planned: &[Planned], undo: bool) -> Result<(), CliError> {
    for (at, file) in planned.iter().enumerate() {
        if let Err(error) = file.write(undo) {
            planned[..at].iter().for_each(|done| {
                let _ = write(&done.path, done.before.as_deref());
            });
            return Err(CliError::host("cannot write", &file.path, error));
        }
    }
    Ok(())
}

impl Planned {
    fn write(&self, undo: bool) -> std::io::Result<()> {
        if self.before == self.after {
            return Ok(());
        }
        write(&self.path, self.after.as_deref())?;
        match &self.after {
            Some(after) if !undo => Remembered::keep(&self.path, self.before.as_deref(), after),
            _ => Remembered::forget(&self.path),
        }
        Ok(())
    }

    fn entry(&self) -> FileEntry {
        let change = match (&self.before, &self.after) {
            (before, after) if before == after => "unchanged",
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        };
        let [before, after] =
            [&self.before, &self.after].map(|it| it.as_deref().unwrap_or_default());
        let diff = TextDiff::from_lines(before, after);
        let path = self.path.display().to_string();
        let patch = diff.unified_diff().context_radius(3).header(&path, &path).to_string();
        FileEntry { path, change, patch }
    }
}

fn write(path: &Path, content: Option<&str>) -> std::io::Result<()> {
    match content {
        Some(text) => disk::replace_settings(path, text.as_bytes()),
        None => disk::remove_if_there(path),
    }
}

/// What a file was before it was changed, so that it is the same again.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    before: Option<String>,
    after: String,
}

impl Remembered {
    fn of(path: &Path) -> Option<Self> {
        serde_json::from_slice(&disk::read(&Self::place(path)?).ok()??).ok()
    }

    /// Without it, `--undo` takes out what was put in, and leaves the layout as it is: errors are ignored.
    fn keep(path: &Path, before: Option<&str>, after: &str) {
        // Set up twice, first without hooks: the oldest state counts.
        let first = Self::of(path).filter(|it| Some(&*it.after) == before).map(|it| it.before);
        let before = first.unwrap_or_else(|| before.map(str::to_owned));
        let remembered = Self { before, after: after.to_owned() };
        if let (Some(place), Ok(text)) = (Self::place(path), serde_json::to_vec(&remembered)) {
            let _ = place.parent().map(disk::make_private);
            let _ = disk::replace(&place, &text);
        }
    }

    fn forget(path: &Path) {
        if let Some(place) = Self::place(path) {
            let _ = disk::remove(&place);
        }
    }

    fn place(path: &Path) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStrExt as _;
        let hash = blake3::hash(path.as_os_str().as_bytes()).to_hex();
        Some(project::config_home()?.join("wink/setup").join(format!("{}.json", &hash[..16])))
    }
}

fn answer(
    context: &Context,
    args: &SetupArgs,
    client: &'static Client,
    planned: &[Planned],
) -> Result<Answer, CliError> {
    let files: Vec<_> = planned.iter().map(Planned::entry).collect();
    let document = SetUp { client: client.name, dry_run: args.print, undo: args.undo, files };
    let mut answer = context.answer(&document, text)?.painted(Paint::Patch);
    let is_changed = document.files.iter().any(|file| file.change != "unchanged");
    let undo = format!("undo: wink setup {} --undo", client.name);
    answer.notes = match (is_changed, args.undo, args.print) {
        (_, _, true) => context.note("nothing was written (--print)"),
        (false, ..) => context.note(format!("{}: nothing to change", client.title)),
        (true, true, _) => context.note(format!("{} is no longer set up", client.title)),
        (true, false, _) => {
            context.note(format!("{} is set up; next: {}\n{undo}", client.title, client.next))
        }
    };
    Ok(answer)
}

fn text(document: &SetUp) -> String {
    document.files.iter().map(|file| file.patch.as_str()).collect()
}
