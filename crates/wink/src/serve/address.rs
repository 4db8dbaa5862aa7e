//! Where the server listens: on a port that is free.

use std::error::Error;
use std::fmt;
use std::io;
use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::ops::RangeInclusive;

/// The ports tried, in order, when none was asked for.
const DEFAULT_PORTS: RangeInclusive<u16> = 8000..=8099;

/// How often the system is asked for a port.
const TRIES: usize = 100;

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
///
/// A server on 127.0.0.1 listens on ::1 too, where there is IPv6: `localhost` means either, and no other program
/// may answer at the other. The first one is the address that was asked for.
pub(crate) fn listen(host: IpAddr, port: Option<u16>) -> Result<Vec<TcpListener>, ListenError> {
    match port {
        None => first_free(host, DEFAULT_PORTS),
        // The system chooses a port that is free on one address, and may not be on the other.
        Some(0) => first_free(host, iter::repeat_n(0, TRIES)),
        Some(port) => listen_on(host, port),
    }
}

fn first_free(
    host: IpAddr,
    ports: impl Iterator<Item = u16>,
) -> Result<Vec<TcpListener>, ListenError> {
    let mut outcomes = ports.map(|port| listen_on(host, port));
    let is_decided = |outcome: &Result<_, _>| !matches!(outcome, Err(ListenError::Busy(_)));
    outcomes.find(is_decided).unwrap_or(Err(ListenError::AllBusy))
}

fn listen_on(host: IpAddr, port: u16) -> Result<Vec<TcpListener>, ListenError> {
    let first = bound(host, port)?;
    if host != Ipv4Addr::LOCALHOST {
        return Ok(vec![first]);
    }
    let port = first.local_addr().map_err(|error| ListenError::Io(port, error))?.port();
    match bound(Ipv6Addr::LOCALHOST.into(), port) {
        Ok(second) => Ok(vec![first, second]),
        Err(ListenError::Io(..)) => Ok(vec![first]),
        Err(busy) => Err(busy),
    }
}

fn bound(host: IpAddr, port: u16) -> Result<TcpListener, ListenError> {
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
        let first = DEFAULT_PORTS.start();
        let last = DEFAULT_PORTS.end();
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
