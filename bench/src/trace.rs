//! What commands ask of the kernel, counted by strace and kept beside the results.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::context::{Context, output_of};

/// The system calls that make something durable.
const SYNCING: [&str; 6] = ["fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync"];

/// Runs commands once more under `strace -c`, keeps its tables, and returns how many calls sync.
pub(crate) fn syncs(
    context: &Context,
    case: &str,
    side: &str,
    commands: Vec<Command>,
) -> Result<u64> {
    let directory = context.fresh_dir()?;
    let table = directory.path().join("table");
    let (mut kept, mut count) = (String::new(), 0);
    for command in commands {
        writeln!(kept, "$ {}", shown(&command))?;
        let mut traced = Command::new("strace");
        traced.args(["-f", "-c", "-o"]).arg(&table);
        output_of(&mut moved(command, traced))?;
        let counted = fs::read_to_string(&table)?;
        count += syncs_in(&counted);
        kept += &counted;
    }
    let place = context.traces();
    fs::create_dir_all(place).with_context(|| format!("cannot make {}", place.display()))?;
    fs::write(place.join(format!("{case}.{side}.txt")), kept)?;
    Ok(count)
}

/// Gives a command to another one as its last arguments.
fn moved(command: Command, mut into: Command) -> Command {
    into.arg(command.get_program()).args(command.get_args());
    into.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(directory) = command.get_current_dir() {
        into.current_dir(directory);
    }
    into
}

fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Adds up the calls that sync in a table of strace.
fn syncs_in(table: &str) -> u64 {
    let calls = |line: &str| -> Option<u64> {
        let words: Vec<_> = line.split_whitespace().collect();
        let syncing = SYNCING.contains(words.last()?);
        words.get(3).filter(|_| syncing)?.parse().ok()
    };
    table.lines().filter_map(calls).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 61.20    0.005100          51       100         1 openat
 20.00    0.002000         500         4           fsync
 10.00    0.001000         500         2         1 fdatasync
------ ----------- ----------- --------- --------- ----------------
100.00    0.008100          76       106         2 total
";

    #[test]
    fn only_calls_that_sync_are_counted() {
        assert_eq!(syncs_in(TABLE), 6);
    }

    #[test]
    fn a_command_keeps_its_words_and_its_surroundings() {
        let mut command = Command::new("a");
        command.arg("b").env("C", "d").current_dir("/e");
        let moved = moved(command, Command::new("strace"));
        assert_eq!(shown(&moved), "strace a b");
        assert_eq!(moved.get_envs().count(), 1);
        assert_eq!(moved.get_current_dir(), Some("/e".as_ref()));
    }
}
