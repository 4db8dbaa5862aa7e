//! A container: made, found again, removed.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use wink_fs::search::Stop;
use wink_supervisor::PROGRAM;
use wink_supervisor::protocol::Request;

use crate::cli::Podman;
use crate::conmon;
use crate::connection::Connection;
use crate::machine;
use crate::options::PodmanOptions;
use crate::place::{self, Place};
use crate::problem::Problem;
use crate::seccomp;

/// Where the workspace is in a container.
pub(crate) const MOUNT_POINT: &str = "/workspace";

/// Where the supervisor is in a container.
const INSIDE: &str = "/.wink";

/// The label of every container that wink made.
const LABEL: &str = "dev.wink.container";

/// How long Podman may take to start a container, and for everything else.
const TO_START: Duration = Duration::from_secs(60);
const TO_ANSWER: Duration = Duration::from_secs(20);

/// How often a container is removed until Podman says that it is.
const REMOVE_TRIES: usize = 3;

/// How long a supervisor may take to connect.
const TO_CONNECT: Duration = Duration::from_secs(10);

/// How long one may take that has been running for some time.
const TO_CONNECT_AGAIN: Duration = Duration::from_secs(1);

/// What containers are made of: the options and the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) podman: Podman,
    pub(crate) options: PodmanOptions,
}

impl Recipe {
    /// Returns the arguments that every container is started with: all that it may not do.
    pub(crate) fn restrictions(
        &self,
        place: &Place,
        root: &Path,
    ) -> Result<Vec<OsString>, Problem> {
        let options = &self.options;
        let (user, group) = machine::user_inside(root);
        place.write("seccomp.json", &seccomp::profile()?)?;
        let mut args: Vec<OsString> = [
            "--rm",
            "--pull=never",
            "--network=none",
            "--no-hosts",
            "--read-only",
            "--read-only-tmpfs=false",
            "--cap-drop=all",
            "--security-opt=no-new-privileges",
            "--http-proxy=false",
            "--image-volume=ignore",
            "--log-driver=none",
            "--no-healthcheck",
            "--hostname=wink",
            "--ipc=private",
            "--pid=private",
            "--uts=private",
            "--ulimit=core=0:0",
            "--workdir=/",
        ]
        .map(OsString::from)
        .into();
        let mut add = |name: &str, value: OsString| {
            let mut arg = OsString::from(name);
            arg.push(value);
            args.push(arg);
        };
        add("--user=", format!("{user}:{group}").into());
        add("--ulimit=nofile=", machine::both(machine::files(1024)));
        add(
            "--tmpfs=/tmp:",
            format!("rw,nosuid,nodev,mode=1777,size={}", options.tmp_bytes).into(),
        );
        if machine::can_limit() {
            add("--memory=", format!("{}b", options.memory_bytes).into());
            add("--memory-swap=", format!("{}b", options.memory_bytes).into());
            add("--pids-limit=", options.max_processes.to_string().into());
            add("--cpus=", format!("{:.3}", f64::from(options.millicpus) / 1000.0).into());
            add("--ulimit=nproc=", machine::both(machine::processes(4096)));
        } else if options.without_limits {
            add("--ulimit=nproc=", machine::both(machine::processes(options.max_processes.into())));
        } else {
            return Err(Problem::NoLimits);
        }
        add("--security-opt=seccomp=", place.path("seccomp.json").into());
        // A link, because a comma in a path would begin an option.
        add(
            "--mount=type=bind,nosuid,nodev,private,dst=/workspace,src=",
            place.link("workspace", root)?.into(),
        );
        add("--name=", place.name().into());
        add("--label=", format!("{LABEL}={}", place.name()).into());
        Ok(args)
    }

    /// Returns what two containers have in common that do the same.
    fn fingerprint(&self, root: &Path) -> Vec<u8> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?}", (&self.options, machine::user_inside(root))).as_bytes());
        hasher.update(root.as_os_str().as_bytes());
        hasher.update(PROGRAM);
        hasher.finalize().as_bytes().to_vec()
    }

    /// Removes a container with all its processes.
    pub(crate) fn remove(&self, name: &str) {
        let remove = ["rm", "--force", "--ignore", "--time=0", name];
        // If `conmon` is gone, the first try only stops it. It may be gone already, and with `--rm` it removes itself; the
        // next process looks again.
        for _ in 0..REMOVE_TRIES {
            match self.podman.run(&remove, TO_ANSWER) {
                Ok(_) | Err(Problem::Hangs(_)) => return,
                Err(_) => {}
            }
        }
    }

    /// Removes what a failed start may have left.
    fn remove_after(&self, problem: &Problem, place: Place) {
        match problem {
            Problem::Missing | Problem::CannotStart(_) => {}
            // It would hang again, and the caller waits.
            Problem::Hangs(_) => {
                let recipe = self.clone();
                // Without a thread, the next process does it.
                let _ = thread::Builder::new().spawn(move || recipe.remove_remains(&place));
            }
            _ => self.remove_remains(&place),
        }
    }

    /// Removes a container that may be half made.
    fn remove_remains(&self, place: &Place) {
        self.remove(place.name());
        conmon::end(place.name());
    }

    /// Removes the containers that belong to no living process.
    pub(crate) fn remove_leftovers(&self) {
        let filter = format!("--filter=label={LABEL}");
        let format = format!("--format={{{{index .Labels \"{LABEL}\"}}}}");
        let listed =
            self.podman.run(&["ps", "--all", &filter, &format], TO_ANSWER).unwrap_or_default();
        for name in String::from_utf8_lossy(&listed).lines().map(str::trim) {
            // Without its directory it has no owner; with one, the process that can lock it is the owner.
            let place = Place::take_over(name);
            if place::is_own_name(name) && (place.is_some() || !place::is_there(name)) {
                self.remove(name);
            }
        }
        // Of those that Podman does not know, a directory and processes may be left.
        Place::abandoned().iter().for_each(|place| conmon::end(place.name()));
    }
}

/// A container in which a supervisor waits for commands.
#[derive(Debug)]
pub(crate) struct Container {
    recipe: Recipe,
    pub(crate) connection: Connection,
    place: Place,
}

impl Container {
    /// Takes over the container of a process that died, or starts one.
    pub(crate) fn get(recipe: &Recipe, root: &Path, stop: &Stop) -> Result<Self, Problem> {
        let fingerprint = recipe.fingerprint(root);
        let mut found = None;
        for place in Place::abandoned() {
            let is_same = place.read("made-of").is_some_and(|it| it == fingerprint);
            if is_same && found.is_none() {
                found = Self::connect_again(recipe, place, stop);
            } else {
                // Those of other workspaces are removed once there is time.
                place.leave();
            }
        }
        found.map_or_else(|| Self::start(recipe, root, stop), Ok)
    }

    fn connect_again(recipe: &Recipe, place: Place, stop: &Stop) -> Option<Self> {
        let connected = place.listen().and_then(|listener| {
            Connection::accept(&listener, || pid_of(&place), TO_CONNECT_AGAIN, stop)
        });
        match connected {
            Ok(connection) => Some(Self { recipe: recipe.clone(), connection, place }),
            Err(_) => {
                recipe.remove(place.name());
                None
            }
        }
    }

    fn start(recipe: &Recipe, root: &Path, stop: &Stop) -> Result<Self, Problem> {
        if PROGRAM.is_empty() {
            return Err(Problem::NoSupervisor("it is not a part of this build".to_owned()));
        }
        let place = Place::create()?;
        let restrictions = recipe.restrictions(&place, root)?;
        place.write_program("supervisor", PROGRAM)?;
        place.write("made-of", &recipe.fingerprint(root))?;
        let listener = place.listen()?;
        let mut inside =
            OsString::from(format!("--mount=type=bind,ro,nosuid,nodev,private,dst={INSIDE},src="));
        inside.push(place.path("inside"));
        let mut pidfile = OsString::from("--pidfile=");
        pidfile.push(place.path("pid"));
        let entrypoint = format!("--entrypoint=[\"{INSIDE}/supervisor\"]");
        let mut args: Vec<OsString> = vec!["run".into(), "--detach".into()];
        args.extend(restrictions);
        args.extend([
            inside,
            pidfile,
            entrypoint.into(),
            recipe.options.chosen_image().as_str().into(),
        ]);
        args.push(format!("{INSIDE}/socket").into());
        let connected = started(recipe, &args, stop)
            .and_then(|()| Connection::accept(&listener, || pid_of(&place), TO_CONNECT, stop));
        match connected {
            Ok(connection) => Ok(Self { recipe: recipe.clone(), connection, place }),
            Err(problem) => {
                recipe.remove_after(&problem, place);
                Err(problem)
            }
        }
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        self.place.name()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.connection.send(&Request::Leave);
        self.recipe.remove(self.place.name());
    }
}

/// Starts a container and explains a failure.
fn started(recipe: &Recipe, args: &[OsString], stop: &Stop) -> Result<(), Problem> {
    let ran = recipe.podman.ask(args, TO_START, stop)?;
    let said = String::from_utf8_lossy(&ran.stderr);
    match ran.code {
        Some(0) if ran.stdout.trim_ascii().len() == 64 => Ok(()),
        Some(0) => Err(Problem::Garbage),
        Some(126 | 127) => {
            Err(Problem::NoSupervisor("the image or the disk does not let it".to_owned()))
        }
        code => {
            let known = code.and_then(|code| failed_to_run(recipe, code, &said));
            Err(known.unwrap_or_else(|| ran.problem()))
        }
    }
}

/// Explains what `podman run` said, if it was Podman that said it and not the program.
pub(crate) fn failed_to_run(recipe: &Recipe, code: i32, said: &str) -> Option<Problem> {
    let error = said.lines().rev().find(|line| line.starts_with("Error: "))?;
    let is_without_image = ["image not known", "no such image"].iter().any(|it| error.contains(it));
    if is_without_image {
        return Some(Problem::NoImage(recipe.options.chosen_image().to_string()));
    }
    (code == 125).then(|| Problem::failed(Some(code), error.as_bytes()))
}

/// Returns the process id of PID 1, which Podman writes down.
fn pid_of(place: &Place) -> Option<i32> {
    String::from_utf8(place.read("pid")?).ok()?.trim().parse().ok()
}
