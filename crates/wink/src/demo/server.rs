//! The server that the demo works in: one that runs, or one of its own.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::beacon::{self, Signal};
use crate::disk;
use crate::failure::Failure;

/// How long a server has until it can be reached.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that can be reached.
pub(super) struct Server {
    pub(super) signal: Signal,
    own: Option<Child>,
}

impl Server {
    /// Finds a server that has nobody's own files, or starts one that ends with the demo.
    pub(super) fn find_or_start() -> Result<Self, Failure> {
        let running = beacon::signals().into_iter().find(|it| it.for_demo && is_there(it));
        match running {
            Some(signal) => Ok(Self { signal, own: None }),
            None => Self::start(),
        }
    }

    fn start() -> Result<Self, Failure> {
        let failed = |error| Failure::server("wink serve", &error);
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--end-with-parent"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let own = command.spawn().map_err(failed)?;
        let (pid, began) = (own.id(), Instant::now());
        let mut server = OwnServer(Some(own));
        while began.elapsed() < PATIENCE {
            let lit = beacon::signals().into_iter().find(|it| it.pid == pid);
            if let Some(signal) = lit.filter(is_there) {
                return Ok(Self { signal, own: server.0.take() });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(failed(std::io::ErrorKind::TimedOut.into()))
    }

    /// Says where the demo takes place.
    pub(super) fn introduction(&self) -> String {
        match &self.own {
            None => format!("An agent works in the workspace of {}/mcp.", self.signal.url),
            Some(_) => "An agent works in a workspace in memory, served for this demo alone. \
                        (With `wink serve` in another terminal it works there, and you can watch.)"
                .to_owned(),
        }
    }

    /// Says what to do next.
    pub(super) fn farewell(&self) -> String {
        let watched = match &self.own {
            None => format!("  {}  shows what was called\n", self.signal.url),
            Some(_) => String::new(),
        };
        format!(
            "\nNext:\n{watched}  wink init      protects a directory of yours\n  \
             wink mcp       offers it to your agent\n  \
             wink undo      takes back what it did"
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(OwnServer(self.own.take()));
    }
}

/// Ends with this, wherever that is.
struct OwnServer(Option<Child>);

impl Drop for OwnServer {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        // Politely, so that it takes its signal away.
        if let Some(pid) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = child.wait();
    }
}

/// Tells whether the server is still there, and no other program in its place: that must not get the token.
fn is_there(signal: &Signal) -> bool {
    let address = signal.url.trim_start_matches("http://");
    let is_wink = disk::program_of(signal.pid).is_some_and(|name| name == "wink");
    is_wink && TcpStream::connect(address).is_ok()
}
