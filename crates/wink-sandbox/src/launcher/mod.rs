//! The process between the caller and the program: it applies the rules, runs the program, and ends all that is left.
//!
//! Landlock, seccomp and capabilities belong to a thread. The launcher applies them to a thread of its own and starts the
//! program from there, which inherits them; its main thread stays free to end the program and its descendants.

mod capabilities;
mod descendants;
pub(crate) mod landlock;
mod limits;
mod namespace;
mod seccomp;

use std::convert::Infallible;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::{Command, exit};
use std::thread;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use self::namespace::Isolation;
use crate::error::SandboxError;

/// The exit code of the launcher when a rule cannot be applied; no program was run.
pub const FAILED: i32 = 125;

/// The exit code of the launcher when the program exists and cannot be run.
pub const CANNOT_INVOKE: i32 = 126;

/// The exit code of the launcher when there is no such program.
pub const NOT_FOUND: i32 = 127;

/// The first argument of a process that is a launcher.
pub(crate) const NAME: &str = "sandbox-launcher";

pub(crate) const WRITE: &str = "--write";
pub(crate) const READ: &str = "--read";
pub(crate) const NETWORK: &str = "--net";
pub(crate) const PROGRAM: &str = "--";

/// What the arguments of a launcher say.
#[derive(Debug, Default)]
struct Rules {
    writable: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    has_network: bool,
    program: Vec<OsString>,
}

/// Becomes the launcher if this process was started as one, and then does not return.
///
/// To be called first in `main`, before there are other threads.
pub fn launch() {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != NAME) {
        return;
    }
    let Err((code, why)) =
        Rules::parse(arguments).map_err(failed).and_then(|rules| supervise(&rules));
    let _ = writeln!(io::stderr(), "error: {why}");
    exit(code)
}

impl Rules {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, SandboxError> {
        let mut rules = Self::default();
        while let Some(flag) = arguments.next() {
            match flag.to_str() {
                Some(WRITE) => rules.writable.extend(arguments.next().map(PathBuf::from)),
                Some(READ) => rules.readable.extend(arguments.next().map(PathBuf::from)),
                Some(NETWORK) => rules.has_network = true,
                Some(PROGRAM) => {
                    rules.program = arguments.collect();
                    break;
                }
                _ => return Err(malformed()),
            }
        }
        if rules.writable.is_empty() || rules.program.is_empty() {
            Err(malformed())
        } else {
            Ok(rules)
        }
    }
}

fn malformed() -> SandboxError {
    SandboxError::failed(
        "start the sandbox: its launcher is not for direct use",
        io::Error::from(ErrorKind::InvalidInput),
    )
}

type Failure = (i32, String);

fn failed(error: SandboxError) -> Failure {
    (FAILED, format!("the program was not run: {error}"))
}

/// Runs the program and ends this process as the program ended.
fn supervise(rules: &Rules) -> Result<Infallible, Failure> {
    // Before the program starts, so that no signal is missed.
    let mut signals = Signals::new([SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT])
        .map_err(|error| failed(SandboxError::failed("listen for signals", error)))?;
    prepare().map_err(failed)?;
    let isolation = namespace::enter(&rules.writable, &rules.readable).map_err(failed)?;
    let program = start(rules, isolation)?;
    let status = wait(program, &mut signals);
    // No descendant outlives the program, also one that left its session.
    descendants::end_all();
    end_as(status)
}

/// What concerns the whole process, and what the program inherits from it.
fn prepare() -> Result<(), SandboxError> {
    let die_with_parent = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
    die_with_parent.map_err(|error| SandboxError::failed("follow the caller's end", error))?;
    rustix::process::set_child_subreaper(
        rustix::process::getppid().map(|_| rustix::process::getpid()),
    )
    .map_err(|error| SandboxError::failed("adopt the program's descendants", error))?;
    // The caller's own descriptors may lead anywhere; the standard streams are meant for the program.
    close_fds::set_fds_cloexec(3, &[]);
    limits::apply()
}

fn start(rules: &Rules, isolation: Isolation) -> Result<Pid, Failure> {
    let started = thread::scope(|scope| {
        let confined = scope.spawn(|| {
            confine(rules, isolation).map_err(failed)?;
            run(&rules.program)
        });
        confined.join()
    });
    started.unwrap_or_else(|_| {
        Err((FAILED, "the program was not run: its launcher failed".to_owned()))
    })
}

/// Applies the rules to this thread; they cannot be taken off again.
fn confine(rules: &Rules, isolation: Isolation) -> Result<(), SandboxError> {
    capabilities::drop()?;
    landlock::restrict(&rules.writable, &rules.readable, rules.has_network)?;
    seccomp::apply(rules.has_network, isolation)
}

fn run(program: &[OsString]) -> Result<Pid, Failure> {
    let (name, arguments) = program.split_first().ok_or_else(|| failed(malformed()))?;
    let mut command = Command::new(name);
    command.args(arguments);
    match env::current_dir() {
        // Again by its path: the old handle is outside of the new mounts.
        Ok(directory) => command.current_dir(directory),
        Err(error) => {
            return Err(failed(SandboxError::failed("find the working directory", error)));
        }
    };
    let child = command.spawn().map_err(|error| not_run(name, &error))?;
    Ok(Pid::from_child(&child))
}

fn not_run(name: &OsStr, error: &io::Error) -> Failure {
    let name = name.to_string_lossy();
    match error.kind() {
        ErrorKind::NotFound => {
            (NOT_FOUND, format!("cannot run `{name}`: there is no such program"))
        }
        ErrorKind::PermissionDenied => (
            CANNOT_INVOKE,
            format!(
                "cannot run `{name}`: permission denied; if the sandbox hides it, let it be read with --read"
            ),
        ),
        _ => (CANNOT_INVOKE, format!("cannot run `{name}`: {error}")),
    }
}

/// Waits until the program has ended; ends it when this process is told to end.
fn wait(program: Pid, signals: &mut Signals) -> WaitStatus {
    loop {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == program {
                return status;
            }
        }
        for signal in signals.wait() {
            // The terminal sends the others to the program too, which decides by itself.
            if matches!(signal, SIGTERM | SIGHUP) {
                descendants::kill_all();
            }
        }
    }
}

/// Ends this process as the program ended, also by the same signal.
fn end_as(status: WaitStatus) -> ! {
    if let Some(signal) = status.terminating_signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        exit(128 + signal);
    }
    exit(status.exit_status().unwrap_or(FAILED))
}
