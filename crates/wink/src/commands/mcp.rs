//! `wink mcp`: serves the tools to one client over stdio.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tokio::runtime::Builder;
use wink_agent::session::dump_session_tree;

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::documents;
use crate::mcp::{self, Endpoint};
use crate::serve::source::{Served, SourceArgs, Usually};
use crate::sys::disk;
use crate::sys::stop_signals::StopSignals;
use crate::ui::answer::Answer;
use crate::window::feed::RunFeed;

/// Serve the tools to one MCP client over stdio.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Write the session to this directory when it ends, for `wink session show`.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,

    #[command(flatten)]
    serving: SourceArgs,
}

documents! {}

/// Serves until its input ends or a signal stops it.
pub(crate) fn run(context: &Context, args: &McpArgs) -> Result<Answer, CliError> {
    let served = args.serving.open(context, Usually::Here, RunFeed::default())?;
    if let Some(note) = &served.note {
        context.say(note);
    }
    let dump = args.dump.as_deref().map(|named| dump_directory(context, named, &served));
    let dump = dump.transpose()?;
    let endpoint = Endpoint::of_session(&served.files, args.serving.tools);
    let endpoint = endpoint.with_results(args.serving.results);
    let endpoint = endpoint.with_kept_forks(served.kept_forks);
    let failed = |error: io::Error| CliError::other(&error);
    // One client needs one thread to talk to it, which no other thread has to wake; calls have threads of their own.
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(serve(endpoint.clone())).map_err(failed)?;
    let dumped = dump.map_or(Ok(()), |directory| dump_into(context, &directory, &endpoint));
    // What is left is a read of the input that no task waits for, and calls that had their time.
    runtime.shutdown_timeout(Duration::ZERO);
    dumped.map(|()| Answer::default())
}

/// Makes the directory for the dump before the session starts; fails inside the workspace.
fn dump_directory(context: &Context, named: &Path, served: &Served) -> Result<PathBuf, CliError> {
    let named = context.host_path(named);
    let failed = |error| CliError::host("cannot write to", &named, error);
    let directory = disk::real_path_to_be(&named).map_err(failed)?;
    if let Some(root) = served.root.as_deref().filter(|root| directory.starts_with(root)) {
        return Err(CliError::dump_inside(root, &directory));
    }
    disk::make_private(&directory).map_err(failed)?;
    Ok(directory)
}

/// Writes the session, if any calls were made.
fn dump_into(context: &Context, directory: &Path, endpoint: &Endpoint) -> Result<(), CliError> {
    let Some(session) = endpoint.own_session() else { return Ok(()) };
    let dumped = dump_session_tree(session, directory);
    if let Some(file) = dumped.map_err(|error| CliError::session(directory, &error))? {
        context.say(&format!("note: see the calls with `wink session show {}`", file.display()));
    }
    Ok(())
}

async fn serve(endpoint: Endpoint) -> io::Result<()> {
    mcp::serve(endpoint, StopSignals::listen()?).await;
    Ok(())
}
