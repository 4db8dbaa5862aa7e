//! `wink mcp`: the tools over standard input and output, for one client.

use std::io;
use std::time::Duration;

use clap::Args;
use tokio::runtime::Builder;

use crate::context::Context;
use crate::failure::Failure;
use crate::mcp::{self, Endpoint};
use crate::serving::{ServingArgs, Usually};
use crate::stop_signals::StopSignals;

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    serving: ServingArgs,
}

/// Runs the command until its input ends or it is told to stop.
pub(crate) fn run(context: &Context, args: &McpArgs) -> Result<(), Failure> {
    let served = args.serving.open(context, Usually::Here)?;
    if let Some(note) = &served.note {
        context.say(note);
    }
    let endpoint = Endpoint::of_session(&served.files, args.serving.tools);
    let endpoint = endpoint.with_kept_forks(served.kept_forks);
    let failed = |error: io::Error| Failure::other(&error);
    // One client needs one thread to talk to it, which nobody has to wake; calls have threads of their own.
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(serve(endpoint)).map_err(failed)?;
    // What is left is a read of the input that nobody waits for, and calls that had their time.
    runtime.shutdown_timeout(Duration::ZERO);
    Ok(())
}

async fn serve(endpoint: Endpoint) -> io::Result<()> {
    mcp::serve(endpoint, StopSignals::listen()?).await;
    Ok(())
}
