//! `wink debug`: opens the window on a session, an archive, a store or a workspace.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::middleware;
use axum::routing::get;
use clap::Args;
use serde::Serialize;

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::documents;
use crate::serve::banner;
use crate::serve::browser;
use crate::serve::http::auth::Auth;
use crate::serve::http::connections::{self, Ending};
use crate::serve::http::origin_guard::{self, Guard};
use crate::serve::token::Token;
use crate::serve::{address, for_runtime, open, refuse_look};
use crate::sys::stop_signals::StopSignals;
use crate::ui::answer::{self, Answer};
use crate::ui::format;
use crate::window::feed::Feed;
use crate::window::{self, Window};

/// Look at a session, an archive, a history or a workspace in the browser.
#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    /// What to show: a session such as `ID.jsonl`, an archive such as `ID.fs.zip`, the directory of a history, or a
    /// workspace.
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// Address of this computer to listen on, 127.0.0.1 with ::1.
    #[arg(long, default_value = "127.0.0.1", value_parser = address::parse)]
    host: IpAddr,

    /// Port to listen on [default: 8000, or the next free one].
    #[arg(long)]
    port: Option<u16>,

    /// Only print the address.
    #[arg(long)]
    no_open_browser: bool,
}

documents! {
    Showing: "wink/debug.ready@1" "item";
    Shown: "wink/debug@1";
}

/// Printed when the page is ready.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Showing {
    /// The page, for a browser; works once.
    page_url: String,
    /// What is shown, each with what could not be read.
    shown: Vec<ShownRun>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownRun {
    name: String,
    title: String,
    notes: Vec<String>,
}

/// Printed when the page was closed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Shown {
    duration_ms: u64,
}

/// Serves the page until a signal stops it.
pub(crate) fn run(context: &Context, args: &DebugArgs) -> Result<Answer, CliError> {
    let began = Instant::now();
    let failed = |error: io::Error| CliError::other(&error);
    if !args.host.is_loopback() {
        return Err(CliError::only_loopback(args.host));
    }
    let feed = Feed::default();
    let mut runs = Vec::new();
    for path in &args.paths {
        runs.push(window::open(context, &context.host_path(path), &feed, &runs)?);
    }
    let shown = runs.iter().map(|run| ShownRun {
        name: run.name.clone(),
        title: run.title.clone(),
        notes: run.notes.clone(),
    });
    let shown: Vec<_> = shown.collect();
    let listeners = address::listen(args.host, args.port).map_err(|it| CliError::other(&it))?;
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let window = Window::new(runs, feed);
    let ended = runtime.block_on(serve(context, args, listeners, window, shown));
    runtime.shutdown_timeout(Duration::ZERO);
    ended?;
    let duration_ms = began.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
    context.answer(&Shown { duration_ms }, |_| String::new())
}

async fn serve(
    context: &Context,
    args: &DebugArgs,
    listeners: Vec<TcpListener>,
    window: Window,
    shown: Vec<ShownRun>,
) -> Result<(), CliError> {
    let failed = |error: io::Error| CliError::other(&error);
    let listeners = listeners.into_iter().map(for_runtime).collect::<io::Result<Vec<_>>>();
    let listeners = listeners.map_err(failed)?;
    let address: SocketAddr = listeners[0].local_addr().map_err(failed)?;
    let token = Token::new().map_err(failed)?;
    let (access, ticket) = Auth::new(token, address.port()).map_err(failed)?;
    let access = Arc::new(access);
    let guard = Arc::new(Guard::new(address, access.clone()));
    let feed = window.feed.clone();
    let opening = get(open).head(refuse_look).with_state(access);
    let app = window.routes().route(&format!("{}{{ticket}}", origin_guard::OPEN), opening);
    let app = app.layer(middleware::from_fn_with_state(guard, origin_guard::check));
    let stop = StopSignals::listen().map_err(failed)?;
    let page_url = format!("http://{address}{}{}", origin_guard::OPEN, ticket.reveal());
    announce(context, &page_url, shown)?;
    if !args.no_open_browser && context.is_for_people() {
        browser::open(&page_url);
    }
    let stopping = feed.clone();
    let end = async move { stopping.end() };
    connections::serve(listeners, app, stop, Ending { end, hurry: || feed.end() }).await;
    Ok(())
}

/// Prints what is shown, and where.
fn announce(context: &Context, page_url: &str, shown: Vec<ShownRun>) -> Result<(), CliError> {
    if !context.is_for_people() {
        return answer::item(&Showing { page_url: page_url.to_owned(), shown });
    }
    for run in &shown {
        for note in &run.notes {
            context.say(&format!("note: {}: {}", run.name, format::first_line(note)));
        }
    }
    let titles: Vec<_> = shown.iter().map(|run| format::first_line(&run.title)).collect();
    let text =
        format!("Showing {} (Ctrl-C stops).\nPage: {page_url}  (works once)\n", titles.join(", "));
    banner::announce(&text).map_err(|error| CliError::other(&error))
}
