//! A call that fails changes nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use serde_json::{Value, json};
use tempfile::TempDir;
use wink_agent::file_index::Follower;
use wink_agent::session::{
    FilesChanged, Session, SessionError, Slice, ToolInvoked, View, VirtualFileSystem, reducers,
};
use wink_agent::{Effect, Tool, ToolCall, ToolContext, ToolError, ToolResult, Toolset};
use wink_fs::{
    ErrorKind, HostBackend, MemoryBackend, Store, Workspace, WorkspaceBuilder, WriteMode,
    WriteOptions, ops,
};

use crate::engine::scene::{hash, on_each_backend};
use crate::host_paths;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Writes a file, removes another, and then does as it is told.
fn changing(
    end: impl Fn() -> Result<ToolResult, ToolError> + Send + Sync + 'static,
) -> impl Fn(&ToolCall<'_>, Nothing) -> Result<ToolResult, ToolError> + Send + Sync + 'static {
    move |call, Nothing {}| {
        let (new, old) = (call.path("new/file.txt")?, call.path("kept.txt")?);
        call.change(|fs| {
            ops::write(fs, &new, "new", &WriteOptions::default())?;
            fs.remove(&old, wink_fs::Recursion::OnlyEmpty)?;
            end()
        })
    }
}

fn assert_changes_nothing(tool: &Tool, code: &str) {
    for (builder, _place) in builders() {
        let session = Session::new();
        session.register(reducers::append_all::<Fact>).unwrap();
        let (files, follower) = Follower::begin(&session, builder).unwrap();
        files.write("kept.txt", "kept").unwrap();
        files.write(".gitignore", "*").unwrap();
        follower.update().unwrap();
        let (before, known) = (hash(&files), state(&session));
        let context = ToolContext::over(&files).session(&session).follower(Arc::new(follower));
        let result = tool.call(&context, json!({}));
        assert_eq!(result.code(), Some(code), "{}", result.message);
        assert_eq!(hash(&files), before);
        assert_eq!(state(&session), known);
        // The next call is none the worse for it.
        assert!(wink_agent::call(&context, "write_file", json!({"path": "a", "content": ""})).ok());
    }
}

/// Begins a workspace on each backend.
fn builders() -> [(WorkspaceBuilder, Option<TempDir>); 2] {
    let place = tempfile::tempdir().unwrap();
    let (root, store) = (place.path().join("root"), place.path().join("store"));
    std::fs::create_dir(&root).unwrap();
    let host = Workspace::host_builder(&root, Store::create_ambient(&store).unwrap()).unwrap();
    [(Workspace::builder(MemoryBackend::new()), None), (host, Some(place))]
}

/// Returns all that a session knows, and no more than how many calls it had.
fn state(session: &Session) -> (VirtualFileSystem, usize) {
    let listing = session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    ((*listing).clone(), session.query::<Fact>().unwrap().len())
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Fact(u64);

impl Slice for Fact {
    const NAME: &'static str = "fact";
}

#[test]
fn a_tool_that_refuses_after_it_wrote_is_rolled_back() {
    let refuse = || Err(ToolError::new(ErrorKind::InvalidArgument, "No."));
    let tool = Tool::new("half", "", Effect::Writes, changing(refuse));
    assert_changes_nothing(&tool, "invalid_argument");
}

#[test]
fn a_tool_that_panics_after_it_wrote_is_rolled_back() {
    let tool = Tool::new("half", "", Effect::Writes, changing(|| panic!("a bug")));
    assert_changes_nothing(&tool, "io");
}

/// Makes two changes, lets another writer work, and then ends as it is told.
fn changing_twice(
    meanwhile: impl Fn() + Send + Sync + 'static,
    end: impl Fn() -> Result<ToolResult, ToolError> + Send + Sync + 'static,
) -> Tool {
    let run = move |call: &ToolCall<'_>, Nothing {}| {
        for (content, mode) in [("one", WriteMode::Create), ("two", WriteMode::Append)] {
            let (new, options) = (call.path("new/file.txt")?, WriteOptions::default().mode(mode));
            call.change(|fs| ops::write(fs, &new, content, &options))?;
        }
        let old = call.path("kept.txt")?;
        call.change(|fs| fs.remove(&old, wink_fs::Recursion::OnlyEmpty))?;
        meanwhile();
        end()
    };
    Tool::new("twice", "", Effect::Writes, run)
}

/// The changes before the last one stayed.
#[test]
fn a_tool_that_fails_after_several_changes_is_rolled_back_entirely() {
    let refuse = || Err(ToolError::new(ErrorKind::InvalidArgument, "No."));
    assert_changes_nothing(&changing_twice(|| {}, refuse), "invalid_argument");
    assert_changes_nothing(&changing_twice(|| {}, || panic!("a bug")), "io");
    let failed = || Ok(ToolResult::from(ToolError::new(ErrorKind::Unavailable, "Not there.")));
    assert_changes_nothing(&changing_twice(|| {}, failed), "unavailable");
}

#[test]
fn a_call_that_was_rolled_back_can_neither_be_undone_nor_done_again() {
    on_each_backend(|files| {
        files.write("kept.txt", "one").unwrap();
        files.write("kept.txt", "two").unwrap();
        let refuse = || Err(ToolError::new(ErrorKind::InvalidArgument, "No."));
        changing_twice(|| {}, refuse).call(&ToolContext::over(files), json!({}));
        assert_eq!(files.operations().unwrap().len(), 2);
        assert_eq!(files.redo().unwrap_err().kind(), ErrorKind::NotFound);
        files.undo().unwrap();
        assert_eq!(files.read("kept.txt").unwrap().content, "one");
    });
}

#[test]
fn an_external_change_survives_the_rollback_and_is_named() {
    on_each_backend(|files| {
        files.write("kept.txt", "kept").unwrap();
        let other = files.clone();
        let meanwhile = move || drop(other.write("kept.txt", "theirs").unwrap());
        let refuse = || Err(ToolError::new(ErrorKind::InvalidArgument, "No."));
        let result = changing_twice(meanwhile, refuse).call(&ToolContext::over(files), json!({}));
        assert!(
            result.message.ends_with("other programs changed since:\nkept.txt"),
            "{}",
            result.message
        );
        assert_eq!(files.read("kept.txt").unwrap().content, "theirs");
        assert!(!files.exists("new"), "all else is as it was");
    });
}

#[test]
fn a_rollback_does_not_show_in_the_listing_of_the_session() {
    let host = Workspace::builder(HostBackend::temporary().unwrap());
    let host = host.store(Store::temporary().unwrap());
    for builder in [Workspace::builder(MemoryBackend::new()), host] {
        let session = Session::new();
        let (files, follower) = Follower::begin(&session, builder).unwrap();
        files.write("kept.txt", "kept").unwrap();
        follower.update().unwrap();
        let context = ToolContext::over(&files).session(&session).follower(Arc::new(follower));
        let refuse = || Err(ToolError::new(ErrorKind::InvalidArgument, "No."));
        assert!(!changing_twice(|| {}, refuse).call(&context, json!({})).ok());
        let listing = session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
        let files: Vec<_> = listing.files().map(|it| (it.path.to_string(), it.version)).collect();
        assert_eq!(files, [("kept.txt".to_owned(), 1)]);
    }
}

/// It was said that nothing was changed, and the changes had stayed.
#[test]
fn without_a_history_a_call_that_fails_does_not_say_that_nothing_was_changed() {
    let refuse = || Err(ToolError::new(ErrorKind::InvalidArgument, "No."));
    let give_up = Arc::new(AtomicBool::new(false));
    let giving_up = give_up.clone();
    let cancel = move || {
        giving_up.store(true, Ordering::Relaxed);
        Ok(ToolResult::success(String::new(), Value::Null))
    };
    let tools = [
        Tool::new("half", "", Effect::Writes, changing(refuse)),
        Tool::new("half", "", Effect::Writes, changing(|| panic!("a bug"))),
        Tool::new("half", "", Effect::Writes, changing(cancel)),
        changing_twice(|| {}, refuse),
    ];
    for tool in tools {
        let place = tempfile::tempdir().unwrap();
        let files = Workspace::host(place.path()).unwrap();
        files.write("kept.txt", "kept").unwrap();
        give_up.store(false, Ordering::Relaxed);
        let context = ToolContext::over(&files).cancelled(give_up.clone());
        let message = tool.call(&context, json!({})).message;
        assert!(!message.contains("othing was changed"), "{message}");
        assert!(message.ends_with("may not be rolled back; look at the files."), "{message}");
    }
}

#[test]
fn without_a_history_our_own_tools_that_refuse_have_changed_nothing_and_say_no_more_than_with_one()
{
    let place = tempfile::tempdir().unwrap();
    let files = Workspace::host(place.path()).unwrap();
    files.write("kept.txt", "kept").unwrap();
    let before = hash(&files);
    let patch = "--- a/kept.txt\n+++ b/kept.txt\n@@ -1 +1 @@\n-other\n+x\n";
    for (tool, arguments) in [
        ("write_file", json!({"path": "kept.txt", "content": "x"})),
        ("edit_file", json!({"path": "kept.txt", "old_string": "a", "new_string": "b"})),
        ("apply_patch", json!({ "patch": patch })),
    ] {
        let result = wink_agent::call(&ToolContext::over(&files), tool, arguments);
        assert!(!result.ok() && !result.message.contains("history"), "{}", result.message);
        assert_eq!(hash(&files), before);
    }
}

/// Once, another call that ended meanwhile told the session of changes that were then rolled back, and a file
/// that no call had changed was at version 3.
#[test]
fn a_change_that_is_not_done_does_not_show_when_another_call_ends() {
    for (fails, version) in [(true, 1), (false, 2)] {
        for (builder, _place) in builders() {
            let session = Session::new();
            let (files, follower) = Follower::begin(&session, builder).unwrap();
            files.write("kept.txt", "kept").unwrap();
            follower.update().unwrap();
            let context = ToolContext::over(&files).session(&session).follower(Arc::new(follower));
            let told = Arc::new(AtomicUsize::new(0));
            let count = told.clone();
            let _told = session.subscribe(move |_: &FilesChanged| {
                count.fetch_add(1, Ordering::Relaxed);
            });
            let both = Arc::new(Barrier::new(2));
            let tool = held_inside(both.clone(), fails);
            std::thread::scope(|scope| {
                let held = scope.spawn(|| tool.call(&context, json!({})));
                both.wait();
                let looked = wink_agent::call(&context, "ls", json!({}));
                let meanwhile = versions(&session);
                both.wait();
                assert_eq!(held.join().unwrap().ok(), !fails);
                assert!(looked.ok(), "{}", looked.message);
                assert_eq!(meanwhile, [("kept.txt".to_owned(), 1)]);
            });
            assert_eq!(versions(&session), [("kept.txt".to_owned(), version)]);
            assert_eq!(told.load(Ordering::Relaxed), usize::from(!fails));
        }
    }
}

/// A tool may look by another tool while it changes something, whose end told the session of it.
#[test]
fn a_change_that_is_not_done_does_not_show_when_a_call_within_it_ends() {
    let looking = |call: &ToolCall<'_>, Nothing {}| {
        let path = call.path("kept.txt")?;
        call.change(|fs| {
            ops::write(fs, &path, "changed", &WriteOptions::default())?;
            assert!(wink_agent::call(call.context(), "ls", json!({})).ok());
            Err::<ToolResult, _>(ToolError::new(ErrorKind::InvalidArgument, "No."))
        })
    };
    assert_changes_nothing(&Tool::new("look", "", Effect::Writes, looking), "invalid_argument");
}

/// Writes a file, waits twice before the change is done, and then fails or not.
fn held_inside(both: Arc<Barrier>, fails: bool) -> Tool {
    Tool::new("held", "", Effect::Writes, move |call: &ToolCall<'_>, Nothing {}| {
        let path = call.path("kept.txt")?;
        call.change(|fs| {
            ops::write(fs, &path, "changed", &WriteOptions::default())?;
            both.wait();
            both.wait();
            if fails {
                Err(ToolError::new(ErrorKind::InvalidArgument, "No."))
            } else {
                Ok(ToolResult::success(String::new(), Value::Null))
            }
        })
    })
}

fn versions(session: &Session) -> Vec<(String, u64)> {
    let listing = session.query::<VirtualFileSystem>().unwrap().latest().unwrap();
    listing.files().map(|file| (file.path.to_string(), file.version)).collect()
}

#[test]
fn a_tool_that_says_it_only_looks_cannot_write() {
    let done = || Ok(ToolResult::success(String::new(), Value::Null));
    let tool = Tool::new("liar", "", Effect::Reads, changing(done));
    assert_changes_nothing(&tool, "unsupported");
}

/// Tells the session something, and then does as it is told.
fn telling(end: impl Fn() -> Result<ToolResult, ToolError> + Send + Sync + 'static) -> Tool {
    Tool::new("tell", "", Effect::Writes, move |call: &ToolCall<'_>, Nothing {}| {
        let new = call.path("new.txt")?;
        call.change(|fs| ops::write(fs, &new, "new", &WriteOptions::default()))?;
        call.dispatch(Fact(1));
        end()
    })
}

#[test]
fn what_a_failing_tool_had_to_tell_the_session_is_forgotten() {
    let refuse = || Err(ToolError::new(ErrorKind::InvalidArgument, "No."));
    assert_changes_nothing(&telling(refuse), "invalid_argument");
    assert_changes_nothing(&telling(|| panic!("a bug")), "io");
    let failed = || Ok(ToolResult::from(ToolError::new(ErrorKind::Unavailable, "Not there.")));
    assert_changes_nothing(&telling(failed), "unavailable");
}

/// The session stayed changed where the call failed afterwards.
#[test]
fn a_tool_cannot_change_its_session_past_the_call() {
    let tool = Tool::new("past", "", Effect::Reads, |call: &ToolCall<'_>, Nothing {}| {
        let session = call.context().session.as_ref().unwrap();
        let refused = [
            session.dispatch(Fact(1)).map(drop),
            session.seed([Fact(1)]),
            session.clear::<VirtualFileSystem>(),
            session.rollback("before").map(drop),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(SessionError::DuringCall)), "{refused:?}");
        }
        // Another session is none of the call's business.
        session.child().dispatch(Fact(1)).unwrap();
        Err(ToolError::new(ErrorKind::InvalidArgument, "No."))
    });
    assert_changes_nothing(&tool, "invalid_argument");
    let reset = Tool::new("reset", "", Effect::Reads, |call: &ToolCall<'_>, Nothing {}| {
        call.context().session.as_ref().unwrap().reset();
        Ok(ToolResult::success(String::new(), Value::Null))
    });
    assert_changes_nothing(&reset, "io");
}

#[test]
fn events_whose_reducer_panics_fail_the_call_and_all_of_it_is_taken_back() {
    struct Broken;
    let tool = Tool::new("broken", "", Effect::Writes, |call: &ToolCall<'_>, Nothing {}| {
        let new = call.path("new.txt")?;
        call.change(|fs| ops::write(fs, &new, "new", &WriteOptions::default()))?;
        call.dispatch(Fact(1));
        call.dispatch(Broken);
        Ok(ToolResult::success(String::new(), Value::Null))
    });
    on_each_backend(|files| {
        let (session, before) = (Session::new(), hash(files));
        session.register(reducers::append_all::<Fact>).unwrap();
        session.register(|_: &View<'_, Fact>, _: &Arc<Broken>| panic!("a bug")).unwrap();
        let result = tool.call(&ToolContext::over(files).session(&session), json!({}));
        assert_eq!(result.code(), Some("io"), "{}", result.message);
        assert_eq!((hash(files), session.query::<Fact>().unwrap().len()), (before, 0));
    });
}

#[test]
fn calls_at_the_same_time_keep_their_events_where_one_of_them_fails() {
    on_each_backend(|files| {
        let (session, both) = (Session::new(), Arc::new(Barrier::new(2)));
        session.register(reducers::append_all::<Fact>).unwrap();
        let meeting = |number, end: fn() -> Result<ToolResult, ToolError>| {
            let both = both.clone();
            Tool::new("meet", "", Effect::Reads, move |call: &ToolCall<'_>, Nothing {}| {
                call.dispatch(Fact(number));
                both.wait();
                end()
            })
        };
        let good = meeting(1, || Ok(ToolResult::success(String::new(), Value::Null)));
        let bad = meeting(2, || Err(ToolError::new(ErrorKind::InvalidArgument, "No.")));
        let context = ToolContext::over(files).session(&session);
        std::thread::scope(|scope| {
            scope.spawn(|| good.call(&context, json!({})));
            scope.spawn(|| bad.call(&context, json!({})));
        });
        let facts: Vec<_> = session.query::<Fact>().unwrap().all().map(|fact| fact.0).collect();
        assert_eq!(facts, [1]);
        assert_eq!(session.query::<ToolInvoked>().unwrap().len(), 2);
    });
}

/// Arguments no tool can make sense of.
fn nonsense() -> Vec<Value> {
    let huge = "x".repeat(100_000);
    vec![
        json!(null),
        json!([]),
        json!("text"),
        json!({"path": 7}),
        json!({"path": -1, "offset": -1}),
        json!({"path": "a", "nosuch": true}),
        json!({"path": "../../etc/passwd", "content": "x", "old_string": "a", "new_string": "b"}),
        json!({"path": "kept.txt", "content": huge}),
        json!({"path": "kept.txt", "limit": "many", "offset": 1e300}),
        json!({"from": "../a", "to": "b"}),
        json!({"patch": "--- a\n+++ ../b\n@@ -1 +1 @@\n-a\n+b\n"}),
        json!({"path": "k\u{0}t", "content": ""}),
        json!({"path": "kept.txt", "content": "not base64!", "encoding": "base64"}),
        json!({"path": "kept.txt", "content": "", "encoding": "utf-16"}),
    ]
}

#[test]
fn nonsense_given_to_any_writing_tool_changes_nothing_and_shows_no_path_of_the_host() {
    on_each_backend(|files| {
        files.write("kept.txt", "kept").unwrap();
        let (before, context) = (hash(files), ToolContext::over(files));
        for tool in Toolset::FILES.tools().filter(|tool| tool.effect != Effect::Reads) {
            for arguments in nonsense() {
                // An export, and a directory that is to be made, need nothing.
                if ["export", "mkdir", "import"].contains(&tool.name) {
                    continue;
                }
                let result = tool.call(&context, arguments.clone());
                assert!(!result.ok(), "{} took {arguments}", tool.name);
                host_paths::assert_none(files, &result);
                assert!(result.message.len() < 2_000, "{}", result.message);
                assert_eq!(hash(files), before, "{} {arguments}", tool.name);
            }
        }
    });
}

#[test]
fn nonsense_given_to_any_tool_that_looks_is_refused_in_one_short_sentence() {
    on_each_backend(|files| {
        files.write("kept.txt", "kept").unwrap();
        files.write_bytes("binary", &b"\xff\xff"[..]).unwrap();
        files.write("empty", "").unwrap();
        let context = ToolContext::over(files);
        let huge = "x".repeat(100_000);
        for (tool, arguments, code) in [
            ("ls", json!({"path": 7}), "invalid_argument"),
            ("ls", json!({"depth": 0}), "invalid_argument"),
            ("ls", json!({"depth": -1}), "invalid_argument"),
            ("ls", json!({"depth": 101}), "invalid_argument"),
            ("ls", json!({"offset": -1}), "invalid_argument"),
            ("ls", json!({"offset": u64::MAX}), "invalid_argument"),
            ("ls", json!({"nosuch": 1}), "invalid_argument"),
            ("ls", json!({ "path": huge }), "invalid_path"),
            ("ls", json!({"path": "../.."}), "permission_denied"),
            ("ls", json!({"path": "kept.txt"}), "not_a_directory"),
            ("ls", json!({"path": "missing", "depth": 3}), "not_found"),
            ("read_file", json!({}), "invalid_argument"),
            ("read_file", json!({"path": ["kept.txt"]}), "invalid_argument"),
            ("read_file", json!({"path": "kept.txt", "column": -1}), "invalid_argument"),
            ("read_file", json!({"path": "kept.txt", "column": "NaN"}), "invalid_argument"),
            ("read_file", json!({"path": "kept.txt", "encoding": "hex"}), "invalid_argument"),
            ("read_file", json!({"path": "kept.txt", "encoding": 64}), "invalid_argument"),
            ("read_file", json!({"path": "kept.txt", "collumn": 1}), "invalid_argument"),
            ("read_file", json!({"path": "binary"}), "not_text"),
            ("read_file", json!({"path": "binary", "column": 1}), "not_text"),
            ("read_file", json!({"path": "../x", "encoding": "base64"}), "permission_denied"),
            ("read_file", json!({"path": ".", "encoding": "base64"}), "is_a_directory"),
            ("read_file", json!({"path": "missing", "column": 1}), "not_found"),
        ] {
            let result = wink_agent::call(&context, tool, arguments.clone());
            let shown: String = arguments.to_string().chars().take(80).collect();
            assert_eq!(result.code(), Some(code), "{tool} {shown}: {}", result.message);
            host_paths::assert_none(files, &result);
            assert!(result.message.len() < 600, "{tool} {shown}");
        }
    });
}
