//! Runs commands inside a container, as its PID 1.
#![allow(
    clippy::disallowed_methods,
    reason = "everything that it reaches is inside of the container"
)]

#[allow(
    dead_code,
    unreachable_pub,
    reason = "the library shows it to wink, which has the other half"
)]
mod protocol;
mod sys;

use std::ffi::OsStr;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use protocol::{MAX_REPLY, Obstacle, Reply, Request, Run, VERSION};

/// How long the container stays when wink is gone, for the next process of wink to take it over.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it looks for wink.
const PAUSE: Duration = Duration::from_millis(20);

/// Makes the kernel end the command rather than the supervisor when memory runs out.
const FIRST_TO_GO: &[u8] = b"1000";

fn main() -> ExitCode {
    let socket = std::env::args_os().nth(1);
    let Some(socket) = socket.filter(|_| std::process::id() == 1) else {
        let _ = writeln!(io::stderr(), "wink-supervisor: this runs as PID 1 of a container only");
        return ExitCode::from(2);
    };
    // Without this, a process of the container could read and write this one.
    if sys::hide().is_err() {
        return ExitCode::FAILURE;
    }
    let mut alone_since = Instant::now();
    while alone_since.elapsed() < PATIENCE {
        let served = UnixStream::connect(&socket).and_then(serve);
        if matches!(served, Ok(Served::Left)) {
            break;
        }
        if served.is_ok() {
            alone_since = Instant::now();
        }
        thread::sleep(PAUSE);
    }
    ExitCode::SUCCESS
}

/// How a connection ended.
enum Served {
    /// Wink is gone, and the next one may come.
    Lost,
    /// Wink wants the container to end.
    Left,
}

/// What all threads write replies to.
type Out = Arc<Mutex<UnixStream>>;

fn send(out: &Out, reply: &Reply) -> io::Result<()> {
    let mut stream = out.lock().unwrap_or_else(PoisonError::into_inner);
    reply.write(&mut *stream)
}

fn serve(mut stream: UnixStream) -> io::Result<Served> {
    let out = Arc::new(Mutex::new(stream.try_clone()?));
    send(&out, &Reply::Hello(VERSION))?;
    let mut running: Option<JoinHandle<()>> = None;
    let ended = loop {
        match Request::read(&mut stream) {
            Ok(Some(Request::Run(_))) if running.as_ref().is_some_and(|it| !it.is_finished()) => {
                let _ = send(&out, &Reply::NotStarted(Obstacle::Busy));
            }
            Ok(Some(Request::Run(run))) => running = start(run, &out),
            Ok(Some(Request::End)) => sys::kill_all(),
            Ok(Some(Request::Leave)) => break Served::Left,
            // What cannot be parsed did not come from wink.
            Ok(None) | Err(_) => break Served::Lost,
        }
    };
    // The thread ends once no process of the command is left.
    while running.as_ref().is_some_and(|it| !it.is_finished()) {
        sys::kill_all();
        thread::sleep(PAUSE);
    }
    Ok(ended)
}

/// Runs a command in a thread, so that requests are read meanwhile.
fn start(run: Run, out: &Out) -> Option<JoinHandle<()>> {
    let of_thread = out.clone();
    let started = thread::Builder::new().spawn(move || {
        let reply = run_to_end(run, &of_thread);
        let reply = reply.unwrap_or_else(Reply::NotStarted);
        let _ = send(&of_thread, &reply);
    });
    if let Err(error) = &started {
        let _ = send(out, &Reply::NotStarted(system(error)));
    }
    started.ok()
}

fn run_to_end(run: Run, out: &Out) -> Result<Reply, Obstacle> {
    let cwd = OsStr::from_bytes(&run.cwd).to_owned();
    if !Path::new(&cwd).is_dir() {
        return Err(Obstacle::NoDirectory);
    }
    let (pumps, pid) = {
        // Threads first: a command that uses up all processes leaves none for them.
        let (stdin, feeder) = feed(run.stdin)?;
        let (stdout, out_pump) = pump(out, Reply::Stdout)?;
        let (stderr, err_pump) = pump(out, Reply::Stderr)?;
        let mut command = Command::new(OsStr::from_bytes(&run.argv[0]));
        command.args(run.argv[1..].iter().map(|part| OsStr::from_bytes(part)));
        command.current_dir(cwd).stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
        for variable in &run.env {
            let mut parts = variable.splitn(2, |byte| *byte == b'=');
            let name = parts.next().unwrap_or_default();
            command
                .env(OsStr::from_bytes(name), OsStr::from_bytes(parts.next().unwrap_or_default()));
        }
        let child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::PermissionDenied => Obstacle::NoProgram,
            _ => system(&error),
        })?;
        // Where it fails, the kernel chooses among all processes, and the largest goes.
        let _ = std::fs::write(format!("/proc/{}/oom_score_adj", child.id()), FIRST_TO_GO);
        ([Some(out_pump), Some(err_pump), feeder], child.id())
    };
    let status = reap(pid);
    // With the last process the pipes are closed.
    pumps.into_iter().flatten().for_each(|thread| drop(thread.join()));
    Ok(match (status.and_then(|it| it.code()), status.and_then(|it| it.signal())) {
        (Some(code), _) => Reply::Exited(code),
        (None, signal) => Reply::Signalled(signal.unwrap_or_default()),
    })
}

/// Waits until the command has ended, ends what it left behind, and waits for that too.
fn reap(command: u32) -> Option<ExitStatus> {
    let mut found = None;
    while let Ok((pid, status)) = sys::wait_any() {
        if pid == command {
            found = Some(status);
        }
        if found.is_some() {
            sys::kill_all();
        }
    }
    found
}

/// Returns the input of a command, and the thread that writes it.
fn feed(input: Vec<u8>) -> Result<(Stdio, Option<JoinHandle<()>>), Obstacle> {
    if input.is_empty() {
        return Ok((Stdio::null(), None));
    }
    let (reader, mut writer) = pipe()?;
    let feeder = thread::Builder::new().spawn(move || {
        // A command need not read its input.
        let _ = writer.write_all(&input);
    });
    Ok((reader.into(), Some(feeder.map_err(|error| system(&error))?)))
}

/// Returns an output of a command, and the thread that sends it on.
fn pump(out: &Out, reply: fn(Vec<u8>) -> Reply) -> Result<(PipeWriter, JoinHandle<()>), Obstacle> {
    let (mut reader, writer) = pipe()?;
    let out = out.clone();
    let pump = thread::Builder::new().spawn(move || {
        let mut buffer = vec![0; MAX_REPLY];
        loop {
            match reader.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(length) => {
                    if send(&out, &reply(buffer[..length].to_vec())).is_err() {
                        break;
                    }
                }
            }
        }
    });
    Ok((writer, pump.map_err(|error| system(&error))?))
}

fn pipe() -> Result<(PipeReader, PipeWriter), Obstacle> {
    io::pipe().map_err(|error| system(&error))
}

fn system(error: &io::Error) -> Obstacle {
    Obstacle::System(error.raw_os_error().unwrap_or_default())
}
