//! The connection to the supervisor of a container, which is not trusted.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use wink_fs::search::Stop;
use wink_supervisor::protocol::{Reply, Request, VERSION};

use crate::problem::Problem;

/// How long the supervisor may take to read a request.
const TO_READ: Duration = Duration::from_secs(10);

/// How many replies wait to be looked at.
const WAITING: usize = 16;

/// Sends requests to a supervisor and receives its replies.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
    replies: Receiver<Reply>,
}

impl Connection {
    /// Waits until the process with this id connects, and says what it speaks.
    pub(crate) fn accept(
        listener: &UnixListener,
        pid: impl Fn() -> Option<i32>,
        time: Duration,
        stop: &Stop,
    ) -> Result<Self, Problem> {
        let deadline = Instant::now() + time;
        while Instant::now() < deadline && stop.reason().is_none() {
            match listener.accept() {
                // Any process of the container may connect. Only PID 1 is the supervisor, and the kernel says who it is.
                Ok((stream, _)) if is_of(&stream, pid()) => return Self::over(stream, deadline),
                Ok(_) => {}
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        }
        Err(Problem::NoSupervisor("it does not answer".to_owned()))
    }

    fn over(stream: UnixStream, deadline: Instant) -> Result<Self, Problem> {
        let (sender, replies) = sync_channel(WAITING);
        let started = stream.try_clone().and_then(|from| {
            stream.set_nonblocking(false)?;
            stream.set_write_timeout(Some(TO_READ))?;
            thread::Builder::new().spawn(move || forward(from, &sender))
        });
        started.map_err(|error| Problem::NoSupervisor(error.kind().to_string()))?;
        let connection = Self { stream, replies };
        let time = deadline.saturating_duration_since(Instant::now());
        match connection.replies.recv_timeout(time) {
            Ok(Reply::Hello(VERSION)) => Ok(connection),
            _ => Err(Problem::NoSupervisor("it speaks another protocol".to_owned())),
        }
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, request: &Request) -> Result<(), Problem> {
        request.write(&mut self.stream).map_err(|_| Problem::Died)
    }

    /// Waits for a reply; none if there was none in time.
    pub(crate) fn reply(&self, time: Duration) -> Result<Option<Reply>, Problem> {
        match self.replies.recv_timeout(time) {
            Ok(reply) => Ok(Some(reply)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Problem::Died),
        }
    }

    /// Returns whether nothing was sent that no command asked for, and the supervisor is there.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.reply(Duration::ZERO), Ok(None))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Ends the thread that reads.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn is_of(stream: &UnixStream, pid: Option<i32>) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| Some(peer.pid.as_raw_nonzero().get()) == pid)
}

/// Reads replies until the end, or until one that cannot be parsed.
fn forward(mut from: UnixStream, to: &SyncSender<Reply>) -> io::Result<()> {
    while let Some(reply) = Reply::read(&mut from)? {
        if to.send(reply).is_err() {
            break;
        }
    }
    Ok(())
}
