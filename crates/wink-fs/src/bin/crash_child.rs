//! Does one thing to a workspace in a process of its own, which tests kill at every system call.

use std::process::ExitCode;

use wink_fs::{HostBackend, Result, Store, StrategyOptions, Workspace};

fn main() -> ExitCode {
    // One thread, so that the calls come in the same order each time.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match (pool.build_global(), &*arguments) {
        (Ok(()), [what, directory]) => match run(what, directory) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        _ => ExitCode::from(2),
    }
}

/// Works in the directory `root`, with the store `store` and the archive `archive.fs.zip` beside it.
fn run(what: &str, directory: &str) -> Result<()> {
    let place = std::path::Path::new(directory);
    if let Some(what) = what.strip_prefix("strategy-") {
        return run_strategy(what, place);
    }
    let store = Store::open_ambient(place.join("store"))?;
    let files = Workspace::host_with_store(place.join("root"), store)?;
    match what {
        "open" => Ok(()),
        "write" => files.write("d/file", "new content").map(drop),
        "write-new" => files.write("new/deep/file", "new content").map(drop),
        "delete" => files.delete_all("d").map(drop),
        "rename" => files.rename("d", "moved/d").map(drop),
        "snapshot" => files.snapshot("crash").map(drop),
        "restore" => files.restore("base").map(drop),
        "import" => files.import_archive(place.join("archive.fs.zip")).map(drop),
        "undo" => files.undo().map(drop),
        "redo" => files.redo().map(drop),
        _ => {
            Err(wink_fs::Error::new(wink_fs::Operation::Open, wink_fs::ErrorKind::InvalidArgument))
        }
    }
}

/// Works in the directory `root`, with what keeps the snapshots in `snapshots` beside it.
fn run_strategy(what: &str, place: &std::path::Path) -> Result<()> {
    let snapshots = StrategyOptions::new(place.join("snapshots")).open_ambient()?;
    let files = HostBackend::open_ambient(place.join("root"))?;
    let files = Workspace::builder(files).snapshots(snapshots).build();
    match what {
        "snapshot" => files.snapshot("crash").map(drop),
        _ => files.restore("crash").map(drop),
    }
}
