//! `wink mcp`: serves the tools to one client over stdio.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::runtime::Builder;
use wink_agent::exec::Executor;
use wink_agent::session::{Session, ToolInvoked};
use wink_agent::{WithoutSpecial, checkpoint};

use crate::cli::context::Context;
use crate::commands::run::SandboxArgs;
use crate::error::CliError;
use crate::json::documents;
use crate::mcp::{self, Endpoint};
use crate::project::Project;
use crate::serve::source::{Served, SourceArgs, Usually, Watched};
use crate::sys::disk;
use crate::sys::stop_signals::StopSignals;
use crate::ui::answer::Answer;
use crate::ui::format;
use crate::window::feed::RunFeed;

/// Serve the tools to one MCP client over stdio.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Write the session and its files to this directory when it ends, for `wink session show`.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,

    /// Write also the snapshots that the session refers to.
    #[arg(long, requires = "dump")]
    dump_history: bool,

    /// Offer tools that run programs, in the sandbox of `wink run`.
    #[arg(long)]
    allow_execution: bool,

    #[command(flatten)]
    serving: SourceArgs,

    #[command(flatten)]
    sandbox: SandboxArgs,
}

documents! {}

/// Serves until its input ends or a signal stops it.
pub(crate) fn run(context: &Context, args: &McpArgs) -> Result<Answer, CliError> {
    let session = Session::new();
    let watched =
        Watched { listed_in: args.dump.as_ref().map(|_| &session), feed: RunFeed::default() };
    let served = args.serving.open(context, Usually::Here, &watched)?;
    if let Some(note) = &served.note {
        context.say(note);
    }
    let dump = args.dump.as_deref().map(|named| dump_directory(context, named, &served));
    let dump = dump.transpose()?;
    let endpoint =
        Endpoint::of_session(&served.files, args.serving.tools, &session, served.follower.clone());
    let endpoint = endpoint.with_executor(args.executor(context, &served)?);
    let endpoint = endpoint.with_results(args.serving.results);
    let endpoint = endpoint.with_kept_forks(served.kept_forks);
    let failed = |error: io::Error| CliError::other(&error);
    // One client needs one thread to talk to it, which no other thread has to wake; calls have threads of their own.
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(serve(endpoint.clone())).map_err(failed)?;
    let dumped = dump.map_or(Ok(()), |directory| dump_into(context, args, &directory, &endpoint));
    // What is left is a read of the input that no task waits for, and calls that had their time.
    runtime.shutdown_timeout(Duration::ZERO);
    dumped.map(|()| Answer::default())
}

impl McpArgs {
    /// Returns what runs programs, if that is allowed. A server that cannot keep them inside does not start.
    fn executor(
        &self,
        context: &Context,
        served: &Served,
    ) -> Result<Option<Arc<dyn Executor>>, CliError> {
        if !self.allow_execution {
            return if self.sandbox.is_given() {
                Err(CliError::sandbox_without_execution())
            } else {
                Ok(served.executor.clone())
            };
        }
        if served.executor.is_some() {
            return Err(CliError::execution_twice());
        }
        let root = served.root.as_deref().ok_or_else(CliError::execution_in_memory)?;
        let project = Project::find_any(root, context.store.as_deref())?;
        let executor = self.sandbox.executor(context, root, project.as_ref())?.share_outputs();
        Ok(Some(Arc::new(executor)))
    }
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

/// Writes the session with its files, if any calls were made.
fn dump_into(
    context: &Context,
    args: &McpArgs,
    directory: &Path,
    endpoint: &Endpoint,
) -> Result<(), CliError> {
    let (Some(session), Some(files)) = (endpoint.own_session(), endpoint.files()) else {
        return Ok(());
    };
    let failed = |error| CliError::session(directory, &error);
    if session.query::<ToolInvoked>().map_err(failed)?.is_empty() {
        return Ok(());
    }
    let dump = if args.dump_history {
        checkpoint::dump_with_history(session, &files, directory)
    } else {
        checkpoint::dump_with_files(session, &files, directory)
    };
    let dumped = dump.map_err(failed)?;
    let file = dumped.session.display();
    context.say(&format!("note: see the calls with `wink session show {file}`"));
    if !dumped.left_out.is_empty() {
        let count = format::counted(dumped.left_out.len() as u64, "entry is", "entries are");
        let first = &dumped.left_out[0];
        context.say(&format!(
            "warning: {count} not in the archive, such as {first}: {}",
            WithoutSpecial::WHY
        ));
    }
    if !dumped.gone.is_empty() {
        let count = format::counted(dumped.gone.len() as u64, "snapshot", "snapshots");
        context.say(&format!("warning: {count} that the session refers to are not kept any more"));
    }
    Ok(())
}

async fn serve(endpoint: Endpoint) -> io::Result<()> {
    mcp::serve(endpoint, StopSignals::listen()?).await;
    Ok(())
}
