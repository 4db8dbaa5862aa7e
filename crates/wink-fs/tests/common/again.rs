//! Tests that run again in a process of their own, because a limit, a missing right or strace holds for a
//! whole process.

use std::env;
use std::ffi::OsString;
use std::process::Command;

/// This program, and the arguments that make it run one test only. `module` is the `module_path!` of the test.
///
/// A filter that matches no test succeeds, so the name is looked up first.
pub(crate) fn only(module: &str, test: &str) -> [OsString; 4] {
    let program = env::current_exe().unwrap();
    let (_, module) = module.split_once("::").unwrap();
    let name = format!("{module}::{test}");
    let listed = Command::new(&program).args(["--list", "--exact", &name]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.starts_with(&format!("{name}: test\n")), "no test is called {name}");
    [program.into(), "--include-ignored".into(), "--exact".into(), name.into()]
}
