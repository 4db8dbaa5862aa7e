//! `wink blame`: shows which snapshot, and which agent, each line of a file comes from.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use wink_fs::{ErrorKind, Kind, Snapshot, Tree, TreePath};

use crate::cli::context::{Context, Opened};
use crate::clients::Moment;
use crate::error::CliError;
use crate::hooks::record::{self, HookRecord};
use crate::json::documents;
use crate::ui::answer::Answer;
use crate::ui::format;

/// Show which snapshot, agent and call each line of a file comes from.
#[derive(Debug, Args)]
pub(crate) struct BlameArgs {
    /// File of the workspace.
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

documents! {
    Blamed: "wink/blame@1";
}

/// A larger file is refused: every version of it is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Blamed {
    path: String,
    lines: Vec<BlamedLine>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BlamedLine {
    number: u64,
    text: String,
    /// The first snapshot that has the line; null if no snapshot has it yet.
    snapshot: Option<String>,
    created_at: Option<String>,
    /// The event of an agent for which the snapshot was taken.
    event: Option<HookRecord>,
    /// What the snapshot is called, if no agent told of it.
    message: Option<String>,
}

pub(crate) fn run(context: &Context, args: &BlameArgs) -> Result<Answer, CliError> {
    let opened = context.open()?;
    let path = context.path(&opened, &args.path)?;
    let live = lines(&*opened.files.tree(), &path)?;
    let Some(live) = live else { return Err(CliError::in_no_state(&path)) };
    let progress = context.progress("reading every version");
    let line_of = history(&opened, &path)?;
    drop(progress);
    let events = events(&opened);
    let origins = line_of.origins(&live);
    let lines = live.iter().zip(origins).enumerate();
    let lines = lines.map(|(at, (text, origin))| {
        blamed(at, text, origin.map(|at| &line_of.snapshots[at]), &events)
    });
    let document = Blamed { path: path.to_string(), lines: lines.collect() };
    Ok(context.answer(&document, text)?.long())
}

/// The versions of a file that snapshots hold, oldest first, and where the lines of the newest come from.
#[derive(Default)]
struct History {
    snapshots: Vec<Snapshot>,
    lines: Vec<Vec<u8>>,
    origins: Vec<usize>,
}

fn history(opened: &Opened, path: &TreePath) -> Result<History, CliError> {
    let mut history = History::default();
    for snapshot in chain(opened)? {
        let found = match opened.files.tree_at(&snapshot) {
            Ok(tree) => lines(&*tree, path)?,
            // The others still tell.
            Err(error) if error.kind() == ErrorKind::Corrupt => continue,
            Err(error) => return Err(error.into()),
        };
        let found = found.unwrap_or_default();
        let at = history.snapshots.len();
        let origins =
            history.origins(&found).into_iter().map(|origin| origin.unwrap_or(at)).collect();
        history.origins = origins;
        history.lines = found;
        history.snapshots.push(snapshot);
    }
    Ok(history)
}

/// Returns the snapshots that the current files grew from, oldest first.
fn chain(opened: &Opened) -> Result<Vec<Snapshot>, CliError> {
    let all: HashMap<_, _> = opened.files.snapshots()?.into_iter().map(|it| (it.id, it)).collect();
    let mut next = opened.files.current_snapshot_id()?;
    let mut chain = Vec::new();
    while let Some(snapshot) = next.and_then(|id| all.get(&id)) {
        next = snapshot.parent;
        chain.push(snapshot.clone());
    }
    chain.reverse();
    Ok(chain)
}

impl History {
    /// Returns where each line of the next version comes from; none if it is new.
    fn origins(&self, next: &[Vec<u8>]) -> Vec<Option<usize>> {
        let mut origins = vec![None; next.len()];
        for operation in capture_diff_slices(Algorithm::Myers, &self.lines, next) {
            if let DiffOp::Equal { old_index, new_index, len } = operation {
                for at in 0..len {
                    origins[new_index + at] = Some(self.origins[old_index + at]);
                }
            }
        }
        origins
    }
}

/// Returns the lines of a file, with their ends; none if there is no file.
fn lines(tree: &dyn Tree, path: &TreePath) -> Result<Option<Vec<Vec<u8>>>, CliError> {
    match tree.stat(path) {
        Ok(stat) if stat.kind == Kind::File => {}
        Ok(_) => return Ok(None),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    }
    let content = tree.open(path)?;
    if content.len() > MAX_BYTES {
        return Err(CliError::too_large_to_blame(path, MAX_BYTES));
    }
    let bytes = content.read_all().map_err(|error| CliError::other(&error))?;
    Ok(Some(bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()))
}

/// Returns the event for which each snapshot was taken; a call says more than the turn.
fn events(opened: &Opened) -> HashMap<String, HookRecord> {
    let mut events: HashMap<String, HookRecord> = HashMap::new();
    for event in record::all(&opened.project.directory) {
        let Some(id) = event.snapshot.clone() else { continue };
        let is_call = event.moment == Moment::AfterCall;
        let known = events.get(&id);
        if known.is_none_or(|known| is_call && known.moment != Moment::AfterCall) {
            events.insert(id, event);
        }
    }
    events
}

fn blamed(
    at: usize,
    text: &[u8],
    origin: Option<&Snapshot>,
    events: &HashMap<String, HookRecord>,
) -> BlamedLine {
    let snapshot = origin.map(|it| it.id.to_string());
    BlamedLine {
        number: at as u64 + 1,
        text: String::from_utf8_lossy(text).trim_end_matches(['\n', '\r']).to_owned(),
        created_at: origin.map(|it| format::utc(it.created_at)),
        event: snapshot.as_ref().and_then(|id| events.get(id).cloned()),
        message: origin.and_then(|it| it.tag.clone().or_else(|| it.message.clone())),
        snapshot,
    }
}

fn text(document: &Blamed) -> String {
    let origins: Vec<_> = document.lines.iter().map(origin).collect();
    let width = origins.iter().map(|it| it.chars().count()).max().unwrap_or_default();
    let digits = document.lines.len().to_string().len();
    let lines = document.lines.iter().zip(origins);
    lines
        .map(|(line, origin)| {
            format!("{origin:<width$}  {:>digits$}  {}\n", line.number, line.text)
        })
        .collect()
}

/// Describes where a line comes from, in a column that is not too wide.
fn origin(line: &BlamedLine) -> String {
    const WIDEST: usize = 40;
    let Some(id) = line.snapshot.as_ref().and_then(|id| id.parse::<wink_fs::SnapshotId>().ok())
    else {
        return "not in a snapshot yet".to_owned();
    };
    let what = match (&line.event, &line.message) {
        (Some(event), _) => {
            let tool = event.tool.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
            format!("{}{tool}", event.agent())
        }
        (None, Some(message)) => message.clone(),
        (None, None) => String::new(),
    };
    let what: String = format::first_line(&what).chars().take(WIDEST).collect();
    format!("{}  {what}", id.short()).trim_end().to_owned()
}
