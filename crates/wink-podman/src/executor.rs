//! Runs the commands of a workspace in its container.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wink_agent::ToolError;
use wink_agent::exec::{Command, Ended, Executed, Executor, OutputCollector, Outputs, Program};
use wink_fs::search::Stop;
use wink_fs::{Error, ErrorKind, ExecutionPlace, Kind, Operation};
use wink_supervisor::protocol::{Obstacle, Reply, Request, Run};

use crate::cli::Podman;
use crate::container::{Container, MOUNT_POINT, Recipe};
use crate::image::Image;
use crate::machine::Space;
use crate::options::PodmanOptions;
use crate::problem::Problem;

/// How often a running command is looked after.
const LOOK: Duration = Duration::from_millis(20);

/// How often a supervisor is told to end a command, and how long it has for that.
const TELL_AGAIN: Duration = Duration::from_millis(100);
const TO_END: Duration = Duration::from_secs(10);

/// What the result of a call begins with if the container was not there any more.
const STARTED_AGAIN: &str =
    "The container had ended and was started again; what was in its /tmp is gone.";

/// Runs programs in a container that reaches the files of its workspace and nothing else.
///
/// The container is started by the first call and kept for the next ones; the files are at `/workspace` in it.
/// There is no network, no capability, no way to new privileges; the image is read-only, and processes,
/// memory and processors are limited. One command runs at a time, and none of its processes stays.
///
/// The container is removed with the executor. If this process dies, the container ends by itself within a minute,
/// unless another process takes it over.
pub struct PodmanExecutor {
    recipe: Recipe,
    outputs: Outputs,
    state: Mutex<State>,
    /// The name of the container, which can be asked for while a command runs.
    name: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct State {
    container: Option<(PathBuf, Container)>,
    /// Whether there was one before.
    had_one: bool,
    /// Why each command gets a container of its own, if it does.
    single: Option<Problem>,
    /// The image of a snapshot, instead of the one that was chosen.
    image: Option<Image>,
}

/// Whether a container is kept, and if not, why.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RunningMode {
    /// A supervisor runs commands in a container that is kept.
    Supervisor,
    /// Each command has a container of its own.
    ContainerPerCommand(String),
}

impl PodmanExecutor {
    /// Creates an executor; the first command finds out whether Podman works.
    pub fn new(options: PodmanOptions) -> wink_fs::Result<Self> {
        let outputs =
            Outputs::temporary().map_err(|error| Error::system(Operation::Open, error))?;
        let podman = Podman::new(options.program.clone());
        let recipe = Recipe { podman, options };
        Ok(Self { recipe, outputs, state: Mutex::default(), name: Mutex::default() })
    }

    /// Returns the saved output of programs.
    pub fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    /// Starts the container if there is none, and returns how commands are run.
    pub fn start(&self, root: &Path) -> Result<RunningMode, Problem> {
        let mut state = self.state();
        self.ready(&mut state, root, &Stop::default())?;
        Ok(match &state.single {
            None => RunningMode::Supervisor,
            Some(why) => RunningMode::ContainerPerCommand(why.to_string()),
        })
    }

    /// Returns the name of the container, if there is one.
    pub fn container_name(&self) -> Option<String> {
        lock(&self.name).clone()
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Makes the next command start a container from this image.
    pub(crate) fn set_image(&self, image: Image) {
        let mut state = self.state();
        self.give_up(&mut state);
        state.image = Some(image);
    }

    /// Returns what the next container is made of.
    fn next_recipe(&self, state: &State) -> Recipe {
        let Recipe { podman, options } = self.recipe.clone();
        match &state.image {
            Some(image) => Recipe { podman, options: options.with_own_image(image.clone()) },
            None => Recipe { podman, options },
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Removes the container.
    fn give_up(&self, state: &mut State) {
        *lock(&self.name) = None;
        state.container = None;
    }

    /// Makes sure that there is a container, unless each command has its own; returns whether one had ended.
    fn ready(&self, state: &mut State, root: &Path, stop: &Stop) -> Result<bool, Problem> {
        if state.single.is_some() {
            return Ok(false);
        }
        if !self.recipe.options.supervisor {
            state.single = Some(Problem::NoSupervisor("it is switched off".to_owned()));
            return Ok(false);
        }
        let is_there = |(of, it): &(PathBuf, Container)| of == root && it.connection.is_idle();
        if state.container.as_ref().is_some_and(is_there) {
            return Ok(false);
        }
        let had_ended = state.container.is_some();
        self.give_up(state);
        match Container::get(&self.next_recipe(state), root, stop) {
            Ok(container) => {
                *lock(&self.name) = Some(container.name().to_owned());
                state.container = Some((root.to_owned(), container));
            }
            Err(problem @ Problem::NoSupervisor(_)) => state.single = Some(problem),
            Err(problem) => return Err(problem),
        }
        if !state.had_one {
            state.had_one = true;
            let recipe = self.recipe.clone();
            // It takes longer than a command; without a thread, the next process does it.
            let _ = thread::Builder::new().spawn(move || recipe.remove_leftovers());
        }
        Ok(had_ended)
    }

    /// Runs a command by the supervisor.
    fn supervised(
        &self,
        container: &mut Container,
        run: Run,
        root: &Path,
        stop: &Stop,
    ) -> Result<Executed, Failure> {
        let began = Instant::now();
        let space = Space::reserve(root, self.recipe.options.reserved_bytes);
        let connection = &mut container.connection;
        connection.send(&Request::Run(run))?;
        let mut stdout = OutputCollector::new(&self.outputs, "stdout");
        let mut stderr = OutputCollector::new(&self.outputs, "stderr");
        let mut ending = Ending::default();
        let ended = loop {
            match connection.reply(LOOK)? {
                Some(Reply::Stdout(bytes)) => stdout.take(&bytes),
                Some(Reply::Stderr(bytes)) => stderr.take(&bytes),
                Some(Reply::Exited(code)) => break Ended::Exit(code),
                Some(Reply::Signalled(signal)) => break Ended::Signal(signal),
                Some(Reply::NotStarted(obstacle)) => return Err(Failure::NotStarted(obstacle)),
                None => {}
                // A supervisor does not say this now.
                Some(_) => return Err(Problem::Died.into()),
            }
            if ending.is_due(stop, &space)? {
                connection.send(&Request::End)?;
            }
        };
        match ending.why {
            Some(ErrorKind::Deadline) | None => {}
            Some(why) => return Err(Failure::Ended(why)),
        }
        let executed = Executed::ended(ended).stdout(stdout.output()).stderr(stderr.output());
        Ok(executed.duration(began.elapsed()).timed_out(ending.why.is_some()))
    }
}

/// Whether a command is to be ended, and since when.
#[derive(Default)]
struct Ending {
    why: Option<ErrorKind>,
    first: Option<Instant>,
    last: Option<Instant>,
    looked: Option<Instant>,
}

impl Ending {
    /// Returns whether the supervisor is to be told now; an error if it was told for long enough.
    fn is_due(&mut self, stop: &Stop, space: &Space) -> Result<bool, Problem> {
        if self.why.is_none() {
            if self.looked.is_some_and(|last| last.elapsed() < LOOK) {
                return Ok(false);
            }
            self.looked = Some(Instant::now());
            let full = || space.is_used_up().then_some(ErrorKind::NoSpace);
            self.why = stop.reason().or_else(full);
        }
        if self.why.is_none() || self.last.is_some_and(|last| last.elapsed() < TELL_AGAIN) {
            return Ok(false);
        }
        self.last = Some(Instant::now());
        let first = *self.first.get_or_insert_with(Instant::now);
        // Told again, because the first time it may have been about to start the command.
        if first.elapsed() < TO_END { Ok(true) } else { Err(Problem::Died) }
    }
}

/// Why there is no result.
enum Failure {
    Problem(Problem),
    NotStarted(Obstacle),
    Ended(ErrorKind),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Executor for PodmanExecutor {
    fn run(
        &self,
        command: &Command,
        place: &mut ExecutionPlace<'_>,
        stop: &Stop,
    ) -> Result<Executed, ToolError> {
        let root = root(command, place)?;
        let state = &mut *self.state();
        let started_again = self.ready(state, &root, stop)?;
        let Some((_, container)) = &mut state.container else {
            return self.in_own_container(&self.next_recipe(state), command, &root, stop);
        };
        match self.supervised(container, request(command), &root, stop) {
            Ok(executed) if started_again => Ok(executed.note(STARTED_AGAIN)),
            Ok(executed) => Ok(executed),
            Err(Failure::NotStarted(obstacle)) => Err(not_started(obstacle, &command.program)),
            Err(Failure::Ended(why)) => Err(was_ended(why)),
            Err(Failure::Problem(problem)) => {
                // Whatever it still does ends with it, before the files are looked at.
                self.give_up(state);
                Err(died(&problem))
            }
        }
    }

    fn max_timeout(&self) -> Duration {
        self.recipe.options.max_timeout
    }

    /// Ends and removes the container; the next command starts another one.
    fn stop(&self) {
        match self.state.try_lock() {
            Ok(mut state) => self.give_up(&mut state),
            // A command runs; it ends with its container.
            Err(_) => {
                let name = self.container_name();
                name.iter().for_each(|name| self.recipe.remove(name));
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the directory of the workspace; a `cwd` that is none is refused.
fn root(command: &Command, place: &ExecutionPlace<'_>) -> Result<PathBuf, ToolError> {
    let root = place.directory.clone().ok_or_else(|| {
        ToolError::new(
            ErrorKind::Unsupported,
            "The files are in memory, where no program can be run; use the file tools.",
        )
    })?;
    if place.files.stat(&command.cwd)?.kind == Kind::Directory {
        return Ok(root);
    }
    Err(Error::new(Operation::Open, ErrorKind::NotADirectory)
        .with_path(&command.cwd)
        .with_detail("`cwd` must be a directory; name one that ls shows")
        .into())
}

/// Words a command for the supervisor.
fn request(command: &Command) -> Run {
    Run {
        argv: arguments(&command.program).map(Vec::from).into(),
        env: environment(command).collect(),
        cwd: [MOUNT_POINT.as_bytes(), b"/", command.cwd.as_bytes()].concat(),
        stdin: command.stdin.clone().into_bytes(),
    }
}

pub(crate) fn arguments(program: &Program) -> [&[u8]; 3] {
    match program {
        Program::Python(text) => [b"python3", b"-c", text.as_bytes()],
        Program::Shell(text) => [b"sh", b"-c", text.as_bytes()],
        // The command line of another kind of program is not known.
        _ => [b"sh", b"-c", b"exit 127"],
    }
}

/// Returns the variables beside those of the image, each `NAME=value`.
pub(crate) fn environment(command: &Command) -> impl Iterator<Item = Vec<u8>> {
    let usual = [("HOME", "/tmp"), ("LANG", "C.UTF-8"), ("PYTHONDONTWRITEBYTECODE", "1")];
    let own = command.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    usual.into_iter().chain(own).map(|(name, value)| format!("{name}={value}").into_bytes())
}

pub(crate) fn not_started(obstacle: Obstacle, program: &Program) -> ToolError {
    let (kind, message) = match (obstacle, program) {
        (Obstacle::NoDirectory, _) => (
            ErrorKind::NotFound,
            "`cwd` is not there in the container; name a directory that ls shows.".to_owned(),
        ),
        (Obstacle::NoProgram, Program::Python(_)) => (
            ErrorKind::Unsupported,
            "The image has no `python3`; use shell_execute, or ask for another image.".to_owned(),
        ),
        (Obstacle::NoProgram, _) => (
            ErrorKind::Unsupported,
            "The image has no `sh`; use evaluate_python, or ask for another image.".to_owned(),
        ),
        (Obstacle::System(number), _) => (
            ErrorKind::Io,
            format!(
                "The program could not be started ({}); make it or its input smaller.",
                std::io::Error::from_raw_os_error(number).kind()
            ),
        ),
        _ => (ErrorKind::Unavailable, "Another program is still running; try again.".to_owned()),
    };
    ToolError::new(kind, message)
}

pub(crate) fn was_ended(why: ErrorKind) -> ToolError {
    let message = match why {
        ErrorKind::NoSpace => {
            "The program was ended with all its processes, because it had almost filled the disk; its changes \
             were rolled back. Write less."
        }
        _ => "The call was cancelled, and nothing was changed.",
    };
    ToolError::new(why, message)
}

fn died(problem: &Problem) -> ToolError {
    match problem {
        Problem::Died => ToolError::new(
            ErrorKind::Unavailable,
            "The container ended while the program ran, and the program with it. The next call starts the container \
             again; what was in its /tmp is gone. Use less memory or fewer processes if that was the reason.",
        ),
        problem => problem.clone().into(),
    }
}

impl fmt::Debug for PodmanExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PodmanExecutor")
            .field("image", &self.recipe.options.chosen_image())
            .finish()
    }
}
