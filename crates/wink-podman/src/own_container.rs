//! A container for one command, where no supervisor can run.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command as SystemCommand;

use wink_agent::ToolError;
use wink_agent::exec::{Command, Ended, Executed, run_process};
use wink_fs::ErrorKind;
use wink_fs::search::Stop;
use wink_supervisor::protocol::Obstacle;

use crate::container::{MOUNT_POINT, Recipe, failed_to_run};
use crate::executor::{PodmanExecutor, arguments, environment, not_started, was_ended};
use crate::place::Place;
use crate::problem::Problem;

impl PodmanExecutor {
    /// Runs a command in a container of its own, with which every process of it ends.
    pub(crate) fn in_own_container(
        &self,
        recipe: &Recipe,
        command: &Command,
        root: &Path,
        stop: &Stop,
    ) -> Result<Executed, ToolError> {
        let place = Place::create()?;
        let prepared = prepared(recipe, &place, command, root)?;
        let executed = run_process(prepared, &command.stdin, self.outputs(), stop);
        // The client is dead or done, which says nothing of the container.
        recipe.remove(place.name());
        let executed = executed.map_err(|error| match error.kind() {
            ErrorKind::Cancelled => was_ended(ErrorKind::Cancelled),
            ErrorKind::Unsupported => Problem::Missing.into(),
            _ => error,
        })?;
        match executed.ended {
            Ended::Exit(code @ 125..=127) => {
                let said = executed.stderr.text();
                match failed_to_run(recipe, code, &said) {
                    Some(problem) => Err(problem.into()),
                    // The words of Podman, which the program was not there to print.
                    None if code != 125 && said.contains("OCI runtime") => {
                        Err(not_started(Obstacle::NoProgram, &command.program))
                    }
                    None => Ok(executed),
                }
            }
            _ => Ok(executed),
        }
    }
}

fn prepared(
    recipe: &Recipe,
    place: &Place,
    command: &Command,
    root: &Path,
) -> Result<SystemCommand, Problem> {
    let mut args: Vec<OsString> = vec!["run".into(), "--interactive".into()];
    args.extend(recipe.restrictions(place, root)?);
    let variables = environment(command).map(|variable| joined("--env=", &variable));
    args.extend(variables);
    let cwd = [MOUNT_POINT.as_bytes(), b"/", command.cwd.as_bytes()].concat();
    args.push(joined("--workdir=", &cwd));
    let [program, rest @ ..] = arguments(&command.program);
    args.push(joined("--entrypoint=", program));
    args.push(recipe.options.chosen_image().as_str().into());
    args.extend(rest.map(|part| OsStr::from_bytes(part).to_owned()));
    Ok(recipe.podman.command(&args))
}

fn joined(option: &str, value: &[u8]) -> OsString {
    let mut arg = OsString::from(option);
    arg.push(OsStr::from_bytes(value));
    arg
}
