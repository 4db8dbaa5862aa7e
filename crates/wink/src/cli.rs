//! What can be typed.

use std::net::IpAddr;

use clap::{Args, Parser, Subcommand};

use crate::address;

/// The workspace filesystem for AI agents.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves an in-memory workspace to MCP clients on this computer.
    Serve(ServeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Loopback address to listen on: 127.0.0.1, ::1 or localhost.
    #[arg(long, default_value = "127.0.0.1", value_parser = address::loopback)]
    pub(crate) host: IpAddr,

    /// Port to listen on [default: 8000, or the next free one].
    #[arg(long)]
    pub(crate) port: Option<u16>,
}
