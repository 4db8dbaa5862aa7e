//! Where the server listens: on a port that is free.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::ops::RangeInclusive;

/// The ports tried, in order, when none was asked for.
const DEFAULT_PORTS: RangeInclusive<u16> = 8000..=8099;

/// Parses an address of this computer.
pub(crate) fn parse(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(Ipv4Addr::LOCALHOST.into()),
        "[::1]" => Ok(Ipv6Addr::LOCALHOST.into()),
        _ => text.parse().map_err(|_| {
            "give an IP address of this computer: 127.0.0.1, ::1 or localhost reach only it"
                .to_owned()
        }),
    }
}

/// Listens on the port asked for, or on the first free default one.
pub(crate) fn listen(host: IpAddr, port: Option<u16>) -> Result<TcpListener, ListenError> {
    match port {
        Some(port) => listen_on(host, port),
        None => first_free(host),
    }
}

fn first_free(host: IpAddr) -> Result<TcpListener, ListenError> {
    DEFAULT_PORTS
        .map(|port| listen_on(host, port))
        .find(|outcome| !matches!(outcome, Err(ListenError::Busy(_))))
        .unwrap_or(Err(ListenError::AllBusy))
}

fn listen_on(host: IpAddr, port: u16) -> Result<TcpListener, ListenError> {
    TcpListener::bind((host, port)).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::Busy(port),
        _ => ListenError::Io(port, error),
    })
}

/// Why the server could not listen.
#[derive(Debug)]
pub(crate) enum ListenError {
    Busy(u16),
    AllBusy,
    Io(u16, io::Error),
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (DEFAULT_PORTS.start(), DEFAULT_PORTS.end());
        match self {
            ListenError::Busy(port) => write!(
                f,
                "port {port} is in use; choose another one, or leave --port out to take the \
                 first free one from {first}"
            ),
            ListenError::AllBusy => {
                write!(f, "ports {first} to {last} are all in use; choose one with --port")
            }
            ListenError::Io(port, error) => write!(f, "cannot listen on port {port}: {error}"),
        }
    }
}

impl Error for ListenError {}
