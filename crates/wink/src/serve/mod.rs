//! `wink serve`: serves workspaces over HTTP, with the window.

pub(crate) mod address;
pub(crate) mod banner;
pub(crate) mod browser;
pub(crate) mod discovery;
pub(crate) mod downloads;
pub(crate) mod fixed_mounts;
pub(crate) mod http;
pub(crate) mod source;
pub(crate) mod token;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{ALLOW, LOCATION, SET_COOKIE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use clap::Args;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::cli::context::Context;
use crate::error::CliError;
use crate::json::documents;
use crate::mcp::{self, Endpoint, McpService};
use crate::serve::banner::Banner;
use crate::serve::discovery::{DiscoveryFile, Signal};
use crate::serve::http::auth::Auth;
use crate::serve::http::connections;
use crate::serve::http::connections::Ending;
use crate::serve::http::origin_guard::{self, Guard};
use crate::serve::source::{Served, SourceArgs, Usually, Watched};
use crate::serve::token::Token;
use crate::sys::stop_signals;
use crate::sys::stop_signals::StopSignals;
use crate::ui::answer::{self, Answer};
use crate::window::Window;
use crate::window::feed::{Feed, RunFeed};
use crate::window::run::Run;

/// The time for calls in flight when the server stops; then their connections are closed.
const GRACE: Duration = Duration::from_secs(4);

/// The path of the endpoint of the first workspace.
const FIRST: &str = "/mcp";

/// Serve workspaces to MCP clients over HTTP, with a page to watch them; by default one in memory.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on, 127.0.0.1 with ::1; one that other computers reach needs --token-file.
    #[arg(long, default_value = "127.0.0.1", value_parser = address::parse)]
    host: IpAddr,

    /// Port to listen on [default: 8000, or the next free one].
    #[arg(long)]
    port: Option<u16>,

    /// File with the token, private to its owner; without it each start makes a new token.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Only print the address of the page.
    #[arg(long)]
    no_open_browser: bool,

    /// Serve another directory too, at /mcp/NAME.
    #[arg(long, value_name = "NAME=DIR", value_parser = workspace)]
    workspace: Vec<(String, PathBuf)>,

    /// Adds what the public conformance runner wants to find in a server.
    #[cfg(feature = "conformance-fixtures")]
    #[arg(long, hide = true)]
    conformance_fixtures: bool,

    /// Ends with the process of this id, which started it.
    #[arg(long, hide = true, value_name = "PID")]
    end_with_parent: Option<u32>,

    #[command(flatten)]
    serving: SourceArgs,
}

documents! {
    banner::Serving: "wink/serve.ready@1" "item";
    ServedUntilNow: "wink/serve@1";
}

/// Printed when the server was stopped.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ServedUntilNow {
    duration_ms: u64,
}

/// One workspace that is served.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The path of its endpoint.
    pub(crate) route: String,
    /// A description of its files.
    pub(crate) what: String,
    /// A note or warning about it.
    pub(crate) note: Option<String>,
    pub(crate) endpoint: Endpoint,
    root: Option<PathBuf>,
    feed: RunFeed,
}

impl Site {
    /// Returns its name, if it has one.
    fn name(&self) -> Option<&str> {
        self.route.strip_prefix(FIRST)?.strip_prefix('/')
    }

    /// Returns what the page shows of it.
    fn run(&self, args: &ServeArgs) -> Run {
        let name = self.name().map_or_else(|| args.first_run(), str::to_owned);
        let (endpoint, feed) = (self.endpoint.clone(), self.feed.clone());
        let mut run = Run::live(&name, self.what.clone(), endpoint, feed, self.root.clone());
        run.notes.extend(self.note.clone());
        run
    }
}

fn workspace(text: &str) -> Result<(String, PathBuf), String> {
    let (name, directory) = text.split_once('=').ok_or("use NAME=DIR")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=40).contains(&name.len()) && name.chars().all(is_plain) {
        Ok((name.to_owned(), directory.into()))
    } else {
        Err("a name has 1 to 40 letters, digits, - or _".to_owned())
    }
}

/// Serves until a signal stops it.
pub(crate) fn run(context: &Context, args: &ServeArgs) -> Result<Answer, CliError> {
    let began = Instant::now();
    let failed = |error: io::Error| CliError::other(&error);
    if let Some(parent) = args.end_with_parent {
        stop_signals::end_with_parent(parent).map_err(failed)?;
    }
    let token = match &args.token_file {
        Some(path) => Token::read(&context.host_path(path))?,
        None if !args.host.is_loopback() => return Err(CliError::open_to_others(args.host)),
        None => Token::new().map_err(failed)?,
    };
    let feed = Feed::default();
    let served = args.open(context, &feed)?;
    let listeners = address::listen(args.host, args.port).map_err(|it| CliError::other(&it))?;
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let ended = runtime.block_on(serve(context, listeners, args, token, served, feed));
    // Calls that are still running had their time; the next start rolls them back.
    runtime.shutdown_timeout(Duration::ZERO);
    ended?;
    let duration_ms = began.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
    context.answer(&ServedUntilNow { duration_ms }, |_| String::new())
}

impl ServeArgs {
    /// Opens the workspaces, each with the path of its endpoint; the first one is also at `/mcp`.
    fn open(&self, context: &Context, feed: &Feed) -> Result<Vec<(String, Served)>, CliError> {
        let mut names: Vec<_> = self.workspace.iter().map(|(name, _)| name).collect();
        names.sort();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CliError::workspace_twice(twice[0]));
        }
        let mut all = Vec::new();
        if self.serving.names_files() || self.workspace.is_empty() {
            let watched = Watched { listed_in: None, feed: feed.of(&self.first_run()) };
            all.push((FIRST.to_owned(), self.serving.open(context, Usually::Memory, &watched)?));
        }
        for (name, directory) in &self.workspace {
            let served = self.serving.open_directory(context, directory, feed.of(name))?;
            all.push((format!("{FIRST}/{name}"), served));
        }
        for note in all.iter().filter_map(|(_, served)| served.note.as_ref()) {
            if context.is_for_people() {
                context.say(note);
            }
        }
        Ok(all)
    }

    /// Returns what the page calls the first workspace, which has no name: one that no other workspace has.
    fn first_run(&self) -> String {
        let is_free = |name: &String| self.workspace.iter().all(|(other, _)| other != name);
        let names = std::iter::once("main".to_owned()).chain((2..).map(|it| format!("main-{it}")));
        names.into_iter().find(is_free).unwrap_or_default()
    }

    /// Writes the discovery file; a server that `wink demo` started is useless without it.
    fn light(&self, context: &Context, signal: &Signal) -> io::Result<Option<DiscoveryFile>> {
        match DiscoveryFile::light(signal) {
            Err(error) if self.end_with_parent.is_some() => Err(io::Error::new(
                error.kind(),
                format!("cannot write the discovery file: {error}"),
            )),
            Err(error) => {
                context.say(&format!("warning: `wink demo` cannot find this server: {error}"));
                Ok(None)
            }
            lit => lit.map(Some),
        }
    }
}

/// The services of all endpoints, each with its path.
type Services = Vec<(String, McpService)>;

async fn serve(
    context: &Context,
    listeners: Vec<TcpListener>,
    args: &ServeArgs,
    token: Token,
    served: Vec<(String, Served)>,
    feed: Feed,
) -> Result<(), CliError> {
    let failed = |error: io::Error| CliError::other(&error);
    let listeners = listeners.into_iter().map(for_runtime).collect::<io::Result<Vec<_>>>();
    let listeners = listeners.map_err(failed)?;
    // The other listeners are for the same server.
    let address = listeners[0].local_addr().map_err(failed)?;
    let runs = |sites: &[Site]| sites.iter().map(|site| site.run(args)).collect();
    let (sites, services) = endpoints(args, served);
    let window = Window::new(runs(&sites), feed.clone());
    let (access, ticket) = Auth::new(token.clone(), address.port()).map_err(failed)?;
    let app = app(address, access, &sites, &services, window);
    // Before the address is printed: a program that reads it may stop the server at once.
    let stop = StopSignals::listen().map_err(failed)?;
    let url = format!("http://{address}");
    let for_demo = sites.first().is_some_and(|site| site.endpoint.is_for_demo());
    let signal = Signal::new(address, token.reveal(), for_demo);
    let discovery = args.light(context, &signal).map_err(failed)?;
    let token = token.reveal();
    let ticket = ticket.reveal();
    let welcome = Banner { url: &url, token, ticket, sites: &sites };
    if context.is_for_people() {
        banner::announce(&welcome.text()).map_err(failed)?
    } else {
        answer::item(&welcome.document())?
    }
    if !args.no_open_browser && args.end_with_parent.is_none() && context.is_for_people() {
        browser::open(&format!("{url}{}{ticket}", origin_guard::OPEN));
    }
    let hurry = || services.iter().for_each(|(_, service)| service.hurry());
    let ending = services.clone();
    let end = async move {
        feed.end();
        end(ending).await;
    };
    connections::serve(listeners, app, stop, Ending { end, hurry }).await;
    drop(discovery);
    Ok(())
}

pub(crate) fn for_runtime(listener: TcpListener) -> io::Result<tokio::net::TcpListener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}

fn endpoints(args: &ServeArgs, served: Vec<(String, Served)>) -> (Vec<Site>, Services) {
    let mut sites = Vec::new();
    let mut services = Vec::new();
    for (route, Served { files, what, note, executor, kept_forks, root, feed, .. }) in served {
        let endpoint = Endpoint::of_clients(&files, args.serving.tools).with_executor(executor);
        let endpoint = endpoint.with_results(args.serving.results);
        let endpoint = endpoint.with_kept_forks(kept_forks);
        #[cfg(feature = "conformance-fixtures")]
        let endpoint = if args.conformance_fixtures { endpoint.with_fixtures() } else { endpoint };
        let endpoint_of_site = endpoint.clone();
        sites.push(Site {
            route: route.clone(),
            what,
            note,
            endpoint: endpoint_of_site,
            root,
            feed,
        });
        services.push((route, mcp::service(endpoint)));
    }
    (sites, services)
}

fn app(
    address: SocketAddr,
    access: Auth,
    sites: &[Site],
    services: &Services,
    window: Window,
) -> Router {
    let access = Arc::new(access);
    let guard = Arc::new(Guard::new(address, access.clone()));
    let downloads = downloads::routes(sites.iter().map(|site| (site.name(), &site.endpoint)));
    let opening = get(open).head(refuse_look).with_state(access);
    let mut app = downloads
        .merge(window.routes())
        .route(&format!("{}{{ticket}}", origin_guard::OPEN), opening);
    for (index, (route, service)) in services.iter().enumerate() {
        if index == 0 && route != FIRST {
            app = app.route(FIRST, service.clone().route());
        }
        app = app.route(route, service.clone().route());
    }
    app.layer(middleware::from_fn_with_state(guard, origin_guard::check))
}

/// Sets the cookie of a browser, and redirects it to the page.
pub(crate) async fn open(State(access): State<Arc<Auth>>, Path(ticket): Path<String>) -> Response {
    match access.exchange(&ticket) {
        Ok(cookie) => {
            let headers = [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie)];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Refuses HEAD requests, as from link previews, which would use up the ticket.
pub(crate) async fn refuse_look() -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET")]).into_response()
}

/// Ends all services at the same time.
async fn end(services: Services) {
    let ends = services.into_iter().map(|(_, service)| async move { service.end(GRACE).await });
    ends.collect::<JoinSet<()>>().join_all().await;
}
