//! `wink hook`: what coding agents run at the events of their work.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::{fork, init};
use crate::cli::context::{Context, Opened};
use crate::clients::{self, Call, Client, Moment, Payload};
use crate::error::CliError;
use crate::hooks::record::HookRecord;
use crate::hooks::{capture, record, taken_back};
use crate::json::documents;
use crate::project::Project;
use crate::sys::disk;
use crate::ui::answer::Answer;

/// Run by coding agents at the events of their work: takes snapshots at prompts, after calls and at the end of turns.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct HookArgs {
    /// Client that runs it; the event on standard input says more.
    #[arg(value_name = "CLIENT")]
    client: Option<String>,

    /// Take the snapshots that wait.
    #[arg(long, hide = true)]
    capture: bool,
}

const AFTER_HELP: &str = "\
`wink setup CLIENT --hooks` sets it up. It reads the event as JSON from standard input, starts a history where there is none, and
always exits with 0, so that it never stops an agent. What fails is told to the user in the client, and by `wink status`.";

documents! {}

/// The largest event that is read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) fn run(context: &Context, args: &HookArgs) -> Result<Answer, CliError> {
    if args.capture {
        capture::all(context)?;
        return Ok(Answer::default());
    }
    Ok(answered(context, args).unwrap_or_else(|failure| failed(&failure)))
}

/// Returns the answer of a hook that failed: the client shows it to the user, and the agent goes on.
pub(crate) fn failed(failure: &CliError) -> Answer {
    said(&warning(failure.message()))
}

fn warning(why: &str) -> Value {
    json!({"systemMessage": format!("wink: changes of this agent are not protected: {why}")})
}

fn said(answer: &Value) -> Answer {
    Answer { text: format!("{answer}\n"), ..Answer::default() }
}

fn answered(context: &Context, args: &HookArgs) -> Result<Answer, CliError> {
    let payload = read().map_err(|why| CliError::hook_payload(&why))?;
    let client = clients::of(&payload, args.client.as_deref());
    let call = client.read(&payload);
    let nothing = || if client.expects_json { said(&json!({})) } else { Answer::default() };
    if call.moment == Moment::Other || call.is_own() {
        return Ok(nothing());
    }
    let project = project_of(context, &payload)?;
    match call.moment {
        Moment::WorktreeCreate => worktree(context, project, &payload),
        Moment::BeforeCall | Moment::AfterCall => {
            if !record::is_known(&project.directory, &call) {
                capture::later(&project, &HookRecord::new(client, call))?;
            }
            Ok(nothing())
        }
        _ => Ok(at_once(client, project, call)?.map_or_else(nothing, |answer| said(&answer))),
    }
}

fn read() -> Result<Payload, String> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        Err("it is too large".to_owned())
    } else {
        Payload::parse(&bytes)
    }
}

/// Returns the workspace that the agent works in; starts one where there is none.
fn project_of(context: &Context, payload: &Payload) -> Result<Project, CliError> {
    let named = payload.directory(&[
        "/cwd",
        "/directory",
        "/workspace_roots/0",
        "/properties/info/directory",
    ]);
    let directory = named
        .and_then(|named| disk::real_path(&named).ok())
        .unwrap_or_else(|| context.directory.clone());
    if let Some(project) = Project::find_any(&directory, context.store.as_deref())? {
        return Ok(project);
    }
    // The directory that the client was started in; the other one follows each `cd`.
    let started_in =
        std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|it| it.is_absolute());
    let started_in = started_in.and_then(|path| disk::real_path(&path).ok());
    let root = started_in.filter(|root| directory.starts_with(root)).unwrap_or(directory);
    begin(context, &root)
}

fn begin(context: &Context, root: &Path) -> Result<Project, CliError> {
    if init::is_broad(root) {
        return Err(CliError::too_broad(root));
    }
    match init::protect(context, root) {
        // Another hook has just begun it.
        Err(failure) => Project::of(root)?.ok_or(failure),
        made => made,
    }
}

/// Takes a snapshot while the agent waits; returns what to tell the agent or the user.
fn at_once(client: &Client, project: Project, call: Call) -> Result<Option<Value>, CliError> {
    // The second hook for one event waits for the first.
    let alone = disk::wait_to_hold(&project.directory.join("hooks.turn"));
    if record::is_known(&project.directory, &call) {
        return Ok(None);
    }
    let event = call.event.clone();
    let opened: Opened = Context::open_project(project, None).inspect_err(|_| drop(alone))?;
    let records = record::all(&opened.project.directory);
    let is_prompt = call.moment == Moment::Prompt;
    let record = capture::now(&opened, HookRecord::new(client, call));
    if let Some(why) = &record.failed {
        return Ok(Some(warning(why)));
    }
    let taken_back =
        taken_back::since(&opened.files, &records, &record.session).filter(|_| is_prompt);
    Ok(taken_back.map(
        |text| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}),
    ))
}

/// Makes a fork for a client that wants a directory of its own, and prints its path.
fn worktree(context: &Context, project: Project, payload: &Payload) -> Result<Answer, CliError> {
    let name = payload.text(&["/name"]).unwrap_or_else(|| "worktree".to_owned());
    let opened = Context::open_project(project, None)?;
    let fork = fork::made(context, &opened, &name)?;
    Ok(Answer { text: format!("{}\n", fork.project.root.display()), ..Answer::default() })
}
