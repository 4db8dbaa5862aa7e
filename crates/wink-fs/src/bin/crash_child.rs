//! Does one thing to a workspace in a process of its own, which tests kill at every system call, or
//! uses a store for a while as others do.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use wink_fs::{
    ErrorKind, ExecutionPlace, Filesystem, HostBackend, MemoryBackend, NewSnapshot, PruneOptions,
    Recursion, Replacement, Result, Retention, Snapshot, SnapshotStore as _, Store, Strategy,
    StrategyOptions, TreePath, Workspace, WriteMode, WriteOptions, ops,
};

/// How long things are done that are done again and again.
const WHILE: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    // One thread, so that the calls come in the same order each time.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match (pool.build_global(), &*arguments) {
        (Ok(()), [what, directory]) => match run(what, directory) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "{}: {error}", error.kind());
                ExitCode::FAILURE
            }
        },
        _ => ExitCode::from(2),
    }
}

/// Does something again and again; where another process holds the store for long, that is tried again.
fn for_a_while(work: impl Fn(u64) -> Result<()>) -> Result<()> {
    let start = Instant::now();
    for round in (0..).take_while(|_| start.elapsed() < WHILE) {
        match work(round) {
            Err(error) if error.kind() == ErrorKind::Locked => {}
            done => done?,
        }
    }
    Ok(())
}

/// Keeps files of which some are new, some were in earlier snapshots, and some may have been pruned.
fn save(store: &Store, round: u64) -> Result<()> {
    let mut files = MemoryBackend::new();
    for number in 0..8 {
        let path = TreePath::parse(&format!("d{}/{number}", number % 3))?;
        let content = format!("{} ", (round * 7 + number * number) % 23).repeat(300);
        ops::write(&mut files, &path, &content, &WriteOptions::default())?;
    }
    let own = TreePath::parse(&format!("own/{}", std::process::id()))?;
    ops::write(&mut files, &own, &round.to_string(), &WriteOptions::default())?;
    let saved = store.save(&files, &NewSnapshot::new(SystemTime::now()))?;
    say("saved", &saved)
}

fn prune(store: &Store) -> Result<()> {
    let retention = Retention::default().max_count(5);
    let now = SystemTime::now();
    for gone in store.forget(&|all, pins| retention.expired(all, pins, now))? {
        say("forgot", &gone)?;
    }
    store.reclaim().map(drop)
}

fn say(what: &str, snapshot: &Snapshot) -> Result<()> {
    writeln!(std::io::stdout(), "{what} {}", snapshot.id)
        .map_err(|error| wink_fs::Error::system(wink_fs::Operation::Write, error))
}

/// Works in the directory `root`, with the store `store` and the archive `archive.fs.zip` beside it.
fn run(what: &str, directory: &str) -> Result<()> {
    let place = std::path::Path::new(directory);
    if let Some(what) = what.strip_prefix("strategy-") {
        return run_strategy(what, place);
    }
    #[cfg(target_os = "linux")]
    if what == "mount-overlay" {
        return wink_fs::OverlayMount::mount_ambient(place.join("base"), place.join("mount"))
            .map(drop);
    }
    let store = Store::open_ambient(place.join("store"))?;
    match what {
        "save-for-a-while" => return for_a_while(|round| save(&store, round)),
        "prune-for-a-while" => return for_a_while(|_| prune(&store)),
        _ => {}
    }
    let files = Workspace::host_with_store(place.join("root"), store)?;
    match what {
        "open" => Ok(()),
        "go-on" => go_on(&files),
        "execute" => files.as_executor("make", make).map(drop),
        "write" => files.write("d/file", "new content").map(drop),
        "write-new" => files.write("new/deep/file", "new content").map(drop),
        "append" => {
            let append = WriteOptions::default().mode(WriteMode::Append);
            files.write_with("d/file", " and more", &append).map(drop)
        }
        "mkdir" => files.mkdir("made/deep").map(drop),
        "symlink" => files.symlink("d/pointer", b"somewhere").map(drop),
        "copy" => files.copy("d", "copied").map(drop),
        "several" => files.as_agent("several", write_several),
        "delete" => files.delete_all("d").map(drop),
        "rename" => files.rename("d", "moved/d").map(drop),
        "snapshot" => files.snapshot("crash").map(drop),
        "restore" => files.restore("base").map(drop),
        "import" => files.import_archive(place.join("archive.fs.zip")).map(drop),
        "undo" => files.undo().map(drop),
        "redo" => files.redo().map(drop),
        "prune" => {
            let retention = Retention::default().max_count(1);
            files.prune(&PruneOptions::default().retention(retention)).map(drop)
        }
        "prune-path" => files.prune_path("d/file").map(drop),
        _ => {
            Err(wink_fs::Error::new(wink_fs::Operation::Open, wink_fs::ErrorKind::InvalidArgument))
        }
    }
}

/// Changes files as a program does that is run in them.
fn make(place: &mut ExecutionPlace<'_>) -> Result<()> {
    let options = WriteOptions::default();
    ops::write(place.files, &TreePath::parse("d/file")?, "made", &options)?;
    place.files.remove(&TreePath::parse("changed")?, Recursion::OnlyEmpty)?;
    ops::write(place.files, &TreePath::parse("made/by/it")?, "made", &options).map(drop)
}

/// Changes several files in one call.
fn write_several(fs: &mut dyn Filesystem) -> Result<()> {
    let options = WriteOptions::default();
    ops::write(fs, &TreePath::parse("d/file")?, "new content", &options)?;
    ops::write(fs, &TreePath::parse("new/deep/file")?, "new content", &options)?;
    fs.remove(&TreePath::parse("changed")?, Recursion::OnlyEmpty)?;
    fs.rename(&TreePath::parse("added")?, &TreePath::parse("moved")?, Replacement::Refuse)
}

/// Does several things one after another, and each once more if it fails.
fn go_on(files: &Workspace) -> Result<()> {
    let steps: [&dyn Fn() -> Result<()>; 7] = [
        &|| files.write("d/file", "new content").map(drop),
        &|| files.write("new/deep/file", "new content").map(drop),
        &|| files.rename("d/e", "moved/e").map(drop),
        &|| files.delete_all("d").map(drop),
        &|| files.undo().map(drop),
        &|| files.restore("base").map(drop),
        &|| files.write("changed", "3").map(drop),
    ];
    steps.iter().try_for_each(|step| step().or_else(|_| step()))
}

/// Works in the directory `root`, with what keeps the snapshots in `snapshots` beside it.
fn run_strategy(what: &str, place: &std::path::Path) -> Result<()> {
    let snapshots = StrategyOptions::new(place.join("snapshots"));
    let snapshots = snapshots.strategy(Strategy::Auto).open_ambient()?;
    let files = HostBackend::open_ambient(place.join("root"))?;
    let files = Workspace::builder(files).snapshots(snapshots).build();
    match what {
        "snapshot" => files.snapshot("crash").map(drop),
        "prune" => {
            let retention = Retention::default().max_count(1);
            files.prune(&PruneOptions::default().retention(retention)).map(drop)
        }
        _ => files.restore("crash").map(drop),
    }
}
