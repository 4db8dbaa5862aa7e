//! `wink serve`: an in-memory workspace behind an MCP endpoint.

use std::error::Error;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::routing::get;
use axum::{Router, middleware};
use tokio::signal::unix::{Signal, SignalKind, signal};
use wink_fs::Workspace;

use crate::cli::ServeArgs;
use crate::http_guard::{self, Guard};
use crate::{address, connections, mcp, welcome};

/// Runs the command until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Box<dyn Error>> {
    let listener = address::listen(args.host, args.port)?;
    listener.set_nonblocking(true)?;
    tokio::runtime::Runtime::new()?.block_on(serve(listener))?;
    Ok(())
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    let address = listener.local_addr()?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    // Before the address is printed: whoever reads it may stop the server at once.
    let stop = StopSignals::listen()?;
    announce(address)?;
    connections::serve(listener, app(address), stop.received()).await;
    Ok(())
}

fn app(address: SocketAddr) -> Router {
    let guard = Arc::new(Guard::for_port(address.port()));
    Router::new()
        .route("/", get(welcome::page(address)))
        .route_service("/mcp", mcp::service(Workspace::memory()))
        .layer(middleware::from_fn_with_state(guard, http_guard::check))
}

fn announce(address: SocketAddr) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(welcome::announcement(address).as_bytes())?;
    stdout.flush()
}

/// The two polite ways to end a server.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    fn listen() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        Ok(StopSignals { interrupt, terminate })
    }

    async fn received(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
