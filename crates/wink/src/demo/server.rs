//! The server of the demo: a running one, or its own.

use std::io;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::CliError;
use crate::serve::discovery::{self, Signal};
use crate::sys::process;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that can be reached.
pub(super) struct Server {
    pub(super) signal: Signal,
    own: Option<OwnServer>,
}

impl Server {
    /// Finds a server that has no files of the user's own, or starts one that ends with the demo.
    pub(super) fn find_or_start() -> Result<Self, CliError> {
        let running = discovery::signals().into_iter().find(|it| it.for_demo && is_there(it));
        match running {
            Some(signal) => Ok(Self { signal, own: None }),
            None => Self::start(),
        }
    }

    fn start() -> Result<Self, CliError> {
        let failed = |error| CliError::server("wink serve", &error);
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.arg("serve").arg(format!("--end-with-parent={}", std::process::id()));
        // Its errors are shown to the user.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut own = OwnServer(command.spawn().map_err(failed)?);
        let signal = own.lit().map_err(failed)?;
        Ok(Self { signal, own: Some(own) })
    }

    /// Returns the first lines of the demo.
    pub(super) fn introduction(&self) -> String {
        match &self.own {
            None => format!("An agent works in the workspace of {}/mcp.", self.signal.url),
            Some(_) => "An agent works in a workspace in memory, served for this demo alone. \
                        (With `wink serve` in another terminal it works there, and you can watch.)"
                .to_owned(),
        }
    }

    /// Returns the last lines of the demo, with next steps.
    pub(super) fn farewell(&self) -> String {
        let watched = match &self.own {
            None => "  the page that `wink serve` printed shows every call, what it changed, and how to undo it\n".to_owned(),
            Some(_) => String::new(),
        };
        format!(
            "\nNext:\n{watched}  wink init      protect a directory\n  \
             wink mcp       offer it to your agent\n  \
             wink undo      undo what it did"
        )
    }
}

/// Ends with this, wherever that is.
struct OwnServer(Child);

impl OwnServer {
    /// Waits until it can be reached.
    fn lit(&mut self) -> io::Result<Signal> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let lit = discovery::signals().into_iter().find(|it| it.pid == self.0.id());
            if let Some(signal) = lit.filter(is_there) {
                return Ok(signal);
            }
            if let Some(status) = self.0.try_wait()? {
                return Err(io::Error::other(format!("it ended at once: {status}")));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // Politely, so that the server removes its beacon file; one that has ended already was waited for.
        if let Ok(None) = self.0.try_wait() {
            let pid = rustix::process::Pid::from_child(&self.0);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            let _ = self.0.wait();
        }
    }
}

/// Returns whether the server is still there, and no other program in its place: that must not get the token.
fn is_there(signal: &Signal) -> bool {
    let address = signal.url.trim_start_matches("http://");
    let own = process::program_of(std::process::id());
    let is_ours = own.is_some() && process::program_of(signal.pid) == own;
    is_ours && TcpStream::connect(address).is_ok()
}
