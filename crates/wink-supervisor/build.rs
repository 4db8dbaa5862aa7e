//! Compiles the supervisor as a static program, which the library embeds.
//!
//! Cargo cannot make one package's program a part of another's library on the stable toolchain, and the program
//! must run in any image: so it is compiled here, with the standard library as its only dependency.

#![allow(clippy::disallowed_methods, reason = "it writes into cargo's own directory")]

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?).join("supervisor");
    let rustc = env::var_os("RUSTC").ok_or("cargo sets RUSTC")?;
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if !is_linux || !compile(&rustc, &out) {
        // Programs are then run in a container each; `wink doctor` says so.
        std::fs::write(&out, [])?;
    }
    Ok(())
}

fn compile(rustc: &OsStr, out: &Path) -> bool {
    let mut rustc = Command::new(rustc);
    rustc.args(["--edition", "2024", "--crate-type", "bin", "--crate-name", "supervisor"]);
    rustc.args(["-C", "opt-level=s", "-C", "panic=abort", "-C", "strip=symbols"]);
    rustc
        .args(["-C", "target-feature=+crt-static", "--target"])
        .arg(env::var_os("TARGET").unwrap_or_default());
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={}", linker.display()));
    }
    rustc.arg("-o").arg(out).arg("src/main.rs");
    match rustc.output() {
        Ok(done) if done.status.success() => true,
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            let first = said.lines().next().unwrap_or("no message");
            println!(
                "cargo::warning=the supervisor cannot be linked statically ({first}); install the static C library"
            );
            false
        }
        Err(error) => {
            println!("cargo::warning=the supervisor cannot be compiled: {error}");
            false
        }
    }
}
