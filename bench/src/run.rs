//! One run: the chosen cases, one after the other, and what became of them.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::args::Args;
use crate::case::Case;
use crate::cases;
use crate::context::Context;
use crate::machine;
use crate::report::{self, Row};

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let context = Context::new(args)?;
    print_facts(context.scratch())?;
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    for case in chosen(args) {
        eprintln!("{} …", case.name);
        match case.measure(&context) {
            Ok(outcome) => rows.push(Row { case, outcome }),
            Err(error) => failures.push(format!("{}: {error:#}", case.name)),
        }
    }
    print!("{}", report::markdown(&rows));
    let complaints = complaints(args.check, &rows, failures);
    for complaint in &complaints {
        eprintln!("error: {complaint}");
    }
    write_json(&args.json, &rows)?;
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn chosen(args: &Args) -> impl Iterator<Item = &'static Case> {
    cases::ALL
        .iter()
        .filter(|case| args.only.is_empty() || args.only.iter().any(|o| o == case.name))
}

fn print_facts(scratch: &Path) -> Result<()> {
    for (name, value) in machine::facts(scratch)? {
        println!("- {name}: {value}");
    }
    println!();
    Ok(())
}

fn write_json(path: &Path, rows: &[Row]) -> Result<()> {
    let written = || -> Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(fs::write(path, report::json(rows)?)?)
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}

/// Returns why the run fails: errors, and missed targets where they are to be checked.
fn complaints(check: bool, rows: &[Row], failures: Vec<String>) -> Vec<String> {
    let missed = rows.iter().filter(|row| check && !row.meets_target());
    let missed = missed.map(|row| format!("{}: below what is wanted", row.case.name));
    failures.into_iter().chain(missed).collect()
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;
    use crate::case::{Outcome, Peer};
    use crate::stats::Samples;

    static SLOW: Case = Case::new("slow", "", 1.0, |_| bail!("not run"));

    fn missed() -> [Row; 1] {
        let outcome = Outcome {
            peer: Peer::Budget(1.0),
            ours: Samples::new(vec![2.0]).unwrap(),
            unit: "ms",
            place: String::new(),
            note: String::new(),
        };
        [Row { case: &SLOW, outcome }]
    }

    #[test]
    fn a_missed_target_fails_only_where_targets_are_checked() {
        assert!(complaints(false, &missed(), Vec::new()).is_empty());
        assert_eq!(complaints(true, &missed(), Vec::new()), ["slow: below what is wanted"]);
    }

    #[test]
    fn an_error_always_fails() {
        assert_eq!(complaints(false, &[], vec!["a: b".into()]), ["a: b"]);
    }
}
