//! Attacks by what runs in the container.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use wink_fs::tree_hash;
use wink_podman::{Image, PodmanExecutor, PodmanOptions};

use crate::common::{BUSYBOX, PYTHON, Scene, stdout};

/// Runs a Python program, which must be run.
fn python(scene: &Scene, code: &str) -> String {
    let result = scene.call("evaluate_python", json!({ "code": code }));
    assert!(result.ok(), "{}", result.message);
    result.message
}

#[test]
#[ignore = "needs Podman"]
fn a4_67_what_a_program_plants_in_the_workspace_is_never_followed() {
    let scene = Scene::new();
    let secret = scene.place.join("secret");
    fs::write(&secret, "top secret").unwrap();
    let plant = format!(
        "ln -s {secret} link; ln -s {place} dir; ln -s / slash; ln -s loop loop; mkfifo fifo; \
         touch \"$(printf 'new\\nline')\" \"$(printf 'bad\\377')\" -- -n; mkdir -p deep/deeper; ln -s ../.. deep/up",
        secret = secret.display(),
        place = scene.place.display()
    );
    scene.run(&plant);
    assert!(fs::symlink_metadata(scene.root.join("fifo")).unwrap().file_type().is_fifo());
    for path in ["link", "dir/secret", "slash/etc/passwd", "loop", "deep/up/secret"] {
        let result = scene.call("read_file", json!({ "path": path }));
        assert!(
            !result.ok() && !result.message.contains("top secret"),
            "{path}: {}",
            result.message
        );
        let result = scene.call("write_file", json!({"path": format!("{path}/x"), "content": ""}));
        assert!(!result.ok(), "{path}: {}", result.message);
    }
    let result = scene.call("read_file", json!({"path": "fifo"}));
    assert_eq!(result.code(), Some("special_file"), "{}", result.message);
    let found = scene.call("grep", json!({"pattern": "top secret"}));
    assert!(found.ok() && !found.message.contains("secret:"), "{}", found.message);
    scene.run("rm fifo");
    let before = tree_hash(&*scene.files.tree()).unwrap();
    let taken = scene.files.snapshot("planted").unwrap();
    scene.run("rm -rf ./* ; ls -A");
    scene.files.restore(&taken).unwrap();
    assert_eq!(tree_hash(&*scene.files.tree()).unwrap(), before);
    assert_eq!(fs::read_to_string(secret).unwrap(), "top secret");
}

/// Returns the entries below a directory that give the rights of their owner or group to a program.
fn with_set_id(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let metadata = fs::symlink_metadata(entry.path()).unwrap();
        if metadata.mode() & 0o6000 != 0 {
            found.push(entry.path());
        }
        if metadata.is_dir() {
            found.extend(with_set_id(&entry.path()));
        }
    }
    found
}

#[test]
#[ignore = "needs Podman"]
fn a4_69_no_program_makes_a_setuid_file() {
    let scene = Scene::with(PYTHON, |options| options);
    let code = r#"
import ctypes, os, stat
os.umask(0)
c = ctypes.CDLL(None, use_errno=True)
open('plain', 'w').write('x'); os.chmod('plain', 0o755)
def tried(name, act):
    try: print(name, act())
    except OSError as e: print(name, e.errno)
for bits in (0o4755, 0o2755, 0o6755):
    tried('chmod', lambda: os.chmod('plain', bits))
    tried('fchmod', lambda: os.fchmod(os.open('plain', os.O_RDWR), bits))
    tried('fchmodat', lambda: os.chmod('plain', bits, dir_fd=os.open('.', os.O_RDONLY)))
    tried('open', lambda: os.open('opened%o' % bits, os.O_CREAT | os.O_WRONLY, bits))
    tried('creat', lambda: c.creat(b'creat%o' % bits, bits))
    tried('mknod', lambda: os.mknod('mknod%o' % bits, stat.S_IFREG | bits))
    tried('mkdir', lambda: os.mkdir('mkdir%o' % bits, bits))
    tried('dir', lambda: os.chmod('mkdir%o' % bits, bits))
    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, bits, 0)
    tried('openat2', lambda: c.syscall(437, -100, b'openat2%o' % bits, how, 24))
    tried('fchmodat2', lambda: c.syscall(452, -100, b'plain', bits, 0))
    def nameless():
        fd = os.open('.', os.O_TMPFILE | os.O_RDWR, bits)
        os.link('/proc/self/fd/%d' % fd, 'nameless%o' % bits, follow_symlinks=True)
    tried('nameless', nameless)
tried('io_uring', lambda: (c.syscall(425, 8, ctypes.create_string_buffer(120)), ctypes.get_errno()))
tried('userns', lambda: (c.unshare(0x10000000), ctypes.get_errno()))
print(open('/proc/self/status').read())
"#;
    let message = python(&scene, code);
    assert_eq!(with_set_id(&scene.root), Vec::<PathBuf>::new(), "{message}");
    assert!(message.contains("chmod 1\n"), "not permitted: {message}");
    assert!(message.contains("io_uring (-1, 38)"), "{message}");
    assert!(message.contains("userns (-1,"), "{message}");
    assert!(message.contains("CapEff:\t0000000000000000"), "{message}");
    assert!(message.contains("CapBnd:\t0000000000000000"), "{message}");
    assert!(message.contains("NoNewPrivs:\t1"), "{message}");
    let mounts = python(&scene, "print(open('/proc/mounts').read())");
    let own = mounts.lines().find(|line| line.contains(" /workspace ")).unwrap();
    assert!(own.contains("nosuid") && own.contains("nodev"), "{own}");
    let root = mounts.lines().find(|line| line.contains(" / ")).unwrap();
    assert!(root.contains(" ro,"), "{root}");
}

#[test]
#[ignore = "needs Podman"]
fn a4_69_programs_have_the_rights_of_the_owner_of_the_workspace() {
    let scene = Scene::new();
    std::os::unix::fs::chown(&scene.root, Some(4321), Some(4322)).unwrap();
    let place = scene.place.join("owned");
    fs::create_dir(&place).unwrap();
    fs::rename(&scene.root, place.join("root")).unwrap();
    let scene = Scene::in_place(&place, BUSYBOX, |options| options);
    scene.files.write("src/by-wink.txt", "by wink").unwrap();
    let result = scene
        .run("id -u; id -g; echo more >> src/by-wink.txt; mkdir src/d; echo x > src/d/by-program");
    assert_eq!(stdout(&result), "4321\n4322");
    scene.files.write("src/d/by-program", "replaced").unwrap();
    let taken = scene.files.snapshot("all").unwrap();
    scene.files.delete_all("src").unwrap();
    scene.files.restore(&taken).unwrap();
    scene.files.copy("src/by-wink.txt", "copied").unwrap();
    scene.run("echo again >> src/by-wink.txt; rm -r src/d; echo x >> copied; rm copied");
    assert_eq!(scene.files.read("src/by-wink.txt").unwrap().content, "by winkmore\nagain\n");
}

#[test]
#[ignore = "needs Podman"]
fn a4_71_files_are_taken_out_without_following_what_a_program_swapped_in() {
    let scene = Scene::new();
    let secret = scene.place.join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("file"), "top secret").unwrap();
    let swap = format!(
        "mkdir real; echo inside > real/file; while true; do ln -sfn {} d; rm d; cp -r real d; rm -rf d; done",
        secret.display()
    );
    let ended = thread::scope(|scope| {
        let swapping =
            scope.spawn(|| scene.call("shell_execute", json!({"command": swap, "timeout": 3})));
        let (mut inside, began) = (0, Instant::now());
        while began.elapsed() < Duration::from_secs(2) {
            if let Ok(page) = scene.files.read("d/file") {
                assert!("inside\n".starts_with(&page.content), "{}", page.content);
                inside += 1;
            }
        }
        assert!(inside > 0, "the two never met");
        swapping.join().unwrap()
    });
    assert!(ended.message.starts_with("Timed out"), "{}", ended.message);
    let mut archive = std::io::Cursor::new(Vec::new());
    let _ = symlink(&secret, scene.root.join("planted"));
    let exported = scene.place.join("out.zip");
    scene.files.export_archive(&exported).unwrap();
    archive.get_mut().extend(fs::read(exported).unwrap());
    let has_secret = archive.get_ref().windows(10).any(|part| part == b"top secret");
    assert!(!has_secret);
}

#[test]
#[ignore = "needs Podman"]
fn a4_73_floods_and_programs_that_do_not_end_are_ended() {
    let scene = Scene::new();
    for command in ["yes", "yes >&2", "trap '' TERM INT; while true; do :; done", "exec sleep 1000"]
    {
        let began = Instant::now();
        let result = scene.call("shell_execute", json!({"command": command, "timeout": 1}));
        assert!(result.message.starts_with("Timed out"), "{command}: {}", result.message);
        assert!(result.message.len() < 100_000, "{}", result.message.len());
        assert!(began.elapsed() < Duration::from_secs(6), "{command}: {:?}", began.elapsed());
    }
    scene.run("for i in 1 2 3; do (setsid nohup sleep 1000 >/dev/null 2>&1 &); done");
    assert_eq!(scene.processes().len(), 1, "only the supervisor");
}

#[test]
#[ignore = "needs Podman"]
fn a4_74_fork_bombs_are_bounded_and_ended() {
    let scene = Scene::with(BUSYBOX, |options| options.max_processes(100));
    scene.run("true");
    let name = scene.executor.container_name().unwrap();
    let most = thread::scope(|scope| {
        let bomb = scope.spawn(|| {
            scene.call(
                "shell_execute",
                json!({"command": "b() { sleep 1000 & b & b & wait; }; b; sleep 1000", "timeout": 3}),
            )
        });
        let mut most = 0;
        while !bomb.is_finished() {
            let listed = Command::new(&scene.podman).args(["top", &name, "hpid"]).output().unwrap();
            most = most.max(listed.stdout.iter().filter(|byte| **byte == b'\n').count());
            // Readers do not wait for the program.
            assert!(scene.files.list("").unwrap().is_empty());
            thread::sleep(Duration::from_millis(200));
        }
        assert!(bomb.join().unwrap().message.starts_with("Timed out"));
        most
    });
    assert!((50..=102).contains(&most), "{most}");
    assert_eq!(stdout(&scene.run("echo works")), "works");
    assert_eq!(scene.processes().len(), 1, "only the supervisor");
}

#[test]
#[ignore = "needs Podman"]
fn a4_74_memory_hogs_are_ended_and_the_container_stays() {
    let scene = Scene::with(PYTHON, |options| options.memory_bytes(128 << 20).tmp_bytes(64 << 20));
    scene.run("echo kept > /tmp/note");
    let name = scene.executor.container_name();
    for hog in [
        "python3 -c 'x = bytearray(1 << 30); print(len(x))'",
        "for i in 1 2 3 4 5 6; do python3 -c 'x = bytearray(100 << 20); import time; time.sleep(9)' & done; wait; false",
        "dd if=/dev/zero of=/tmp/big bs=1M count=1000; s=$?; rm -f /tmp/big; exit $s",
    ] {
        let result = scene.call("shell_execute", json!({"command": hog, "timeout": 20}));
        assert!(result.ok(), "{}", result.message);
        assert!(!result.message.contains("1073741824"), "{}", result.message);
        assert!(!result.message.contains("exit code 0"), "{hog}: {}", result.message);
        assert_eq!(stdout(&scene.run("cat /tmp/note")), "kept", "{hog}");
    }
    assert_eq!(scene.executor.container_name(), name);
}

/// A small disk, unmounted with the value.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path, options: &str) -> Self {
        fs::create_dir_all(at).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).status();
        assert!(mounted.unwrap().success());
        Self(at.to_owned())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
#[ignore = "needs root and Podman"]
fn a4_74_a_program_that_fills_the_disk_is_ended_before_it_is_full() {
    for (options, fill) in [
        ("size=256m", "dd if=/dev/zero of=big bs=64k"),
        ("nr_inodes=4000", "i=0; while touch f$i; do i=$((i+1)); done; sleep 1000"),
    ] {
        let place = tempfile::tempdir().unwrap();
        let disk = Disk::mount(&place.path().join("root"), options);
        let scene = Scene::in_place(place.path(), BUSYBOX, |it| it.reserved_bytes(64 << 20));
        scene.files.write("a.txt", "before").unwrap();
        scene.run("true");
        let result = scene.call("shell_execute", json!({"command": fill, "timeout": 60}));
        assert_eq!(result.code(), Some("no_space"), "{options}: {}", result.message);
        assert_eq!(scene.files.list("").unwrap().len(), 1, "rolled back");
        scene.files.write("b.txt", "after").unwrap();
        assert_eq!(stdout(&scene.run("cat a.txt")), "before");
        drop((scene, disk));
    }
}

#[test]
#[ignore = "needs Podman"]
fn a4_76_no_program_changes_files_while_they_are_captured() {
    let scene = Scene::new();
    let writer = "i=0; while true; do i=$((i+1)); for f in a b c; do echo $i > $f; done; done";
    let command = format!(
        "(setsid sh -c '{writer}' >/dev/null 2>&1 &); (while true; do echo x > d; done &); sleep 0.3"
    );
    scene.run(&command);
    let first = scene.files.snapshot("first").unwrap();
    let second = scene.files.snapshot("second").unwrap();
    assert!(first.point_in_time && second.point_in_time);
    let hash = |of: &wink_fs::Snapshot| tree_hash(&*scene.files.tree_at(of).unwrap()).unwrap();
    assert_eq!(hash(&first), hash(&second), "no process is left that writes");
    assert_eq!(hash(&first), tree_hash(&*scene.files.tree()).unwrap());
}

#[test]
#[ignore = "needs Podman"]
fn a4_77_names_and_commands_are_taken_for_nothing_else() {
    let scene = Scene::new();
    for name in ["-n", "--privileged", "$(touch pwned)", "a;b", "`id`", "new line", "a,b:c"] {
        scene.files.mkdir(name).unwrap();
        let result =
            scene.call("shell_execute", json!({"command": "pwd; echo x > made", "cwd": name}));
        assert_eq!(stdout(&result), format!("/workspace/{name}"));
        assert_eq!(scene.files.read(&format!("{name}/made")).unwrap().content, "x\n");
    }
    assert!(!scene.files.exists("pwned"));
    for command in ["-c", "--help", "-", "\n\n", "#", "'"] {
        let result = scene.call("shell_execute", json!({ "command": command }));
        assert!(!result.message.contains("Podman"), "{command}: {}", result.message);
    }
    let result = scene.call("shell_execute", json!({"command": "echo a\necho b"}));
    assert_eq!(stdout(&result), "a\nb");
}

#[test]
#[ignore = "needs Podman"]
fn a4_78_no_parameter_reaches_the_command_line_of_podman() {
    for name in ["--privileged", "-v/:/h", "a b", "$(id)", "", "a\nb", "docker://x", "\u{e9}"] {
        assert!(Image::parse(name).is_err(), "{name}");
    }
    let options = PodmanOptions::default();
    let refused = options.image("docker.io/library/alpine:3").unwrap_err();
    assert_eq!(refused.kind(), wink_fs::ErrorKind::PermissionDenied);
    let scene = Scene::new();
    // The path of a workspace is a part of an argument, where a comma begins another option.
    let odd = scene.place.join("x,dst=,src=\n/etc:rw");
    let program = scene.podman.clone();
    let scene = Scene::in_place(&odd, BUSYBOX, |options| options.program(program));
    assert!(!stdout(&scene.run("ls -A /workspace; ls /; touch here")).contains("passwd"));
    assert!(odd.join("root/here").exists());
    for unknown in ["privileged", "image", "volume", "user", "network"] {
        let result = scene.call("shell_execute", json!({"command": "true", unknown: "x"}));
        assert_eq!(result.code(), Some("invalid_argument"), "{}", result.message);
    }
    let environment = [json!({"name": "A=B", "value": ""}), json!({"name": "--env", "value": ""})];
    for variable in environment {
        let result = scene.call("shell_execute", json!({"command": "true", "env": [variable]}));
        assert_eq!(result.code(), Some("invalid_argument"), "{}", result.message);
    }
}

#[test]
#[ignore = "needs Podman"]
fn a4_79_programs_reach_no_network_and_no_server_of_the_host() {
    let scene = Scene::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let port = server.local_addr().unwrap().port();
    let result = scene.run(&format!(
        "ls /sys/class/net; wget -T 1 -O - http://127.0.0.1:{port}/; nc -w 1 127.0.0.1 {port}"
    ));
    assert_eq!(stdout(&result), "lo");
    assert!(server.accept().is_err(), "no connection came");
    assert!(!result.message.contains("exit code 0"), "{}", result.message);
    let environment = scene.run("env");
    assert!(!environment.message.to_lowercase().contains("proxy"), "{}", environment.message);
}

#[test]
#[ignore = "needs Podman"]
fn a4_80_a_restore_while_a_program_moves_everything_is_whole() {
    let scene = Scene::new();
    for name in ["a/1", "a/2", "b/c/3", "d"] {
        scene.files.write(name, name).unwrap();
    }
    let taken = scene.files.snapshot("whole").unwrap();
    let before = tree_hash(&*scene.files.tree()).unwrap();
    let command = "i=0; while true; do i=$((i+1)); rm -rf a b; mkdir -p a b/c; echo $i > a/1; mv a x$i; rm -rf x*; done";
    thread::scope(|scope| {
        let moving =
            scope.spawn(|| scene.call("shell_execute", json!({"command": command, "timeout": 2})));
        thread::sleep(Duration::from_millis(700));
        // It waits for the program, of which no process is left then.
        scene.files.restore(&taken).unwrap();
        assert!(moving.join().unwrap().ok());
    });
    assert_eq!(tree_hash(&*scene.files.tree()).unwrap(), before);
}

#[test]
#[ignore = "needs Podman"]
fn the_supervisor_cannot_be_ended_traced_read_or_talked_to() {
    let scene = Scene::with(PYTHON, |options| options);
    let code = r#"
import ctypes, os, signal, socket
c = ctypes.CDLL(None, use_errno=True)
def tried(name, act):
    try: print(name, act())
    except Exception as e: print(name, type(e).__name__)
for number in (9, 15, 19, 2, 11): tried('kill', lambda: os.kill(1, number))
tried('all', lambda: os.kill(-1, 0))
tried('ptrace', lambda: (c.ptrace(16, 1, 0, 0), ctypes.get_errno()))
for name in ('mem', 'maps', 'fd/3', 'environ', 'cwd'):
    path = '/proc/1/' + name
    tried(name, lambda: open(path, 'rb+').read(1))
tried('pidfd_getfd', lambda: c.syscall(438, c.syscall(434, 1, 0), 3, 0))
s = socket.socket(socket.AF_UNIX)
tried('connect', lambda: s.connect('/.wink/socket'))
tried('unlink', lambda: os.unlink('/.wink/socket'))
tried('replace', lambda: open('/.wink/supervisor', 'wb'))
tried('sh', lambda: open('/bin/sh', 'wb'))
tried('mount', lambda: (c.mount(b'x', b'/tmp', b'tmpfs', 0, None), ctypes.get_errno()))
"#;
    let message = python(&scene, code);
    let name = scene.executor.container_name();
    assert!(message.contains("exit code 0"), "{message}");
    for said in [
        "ptrace (-1, 1)",
        "mem PermissionError",
        "maps PermissionError",
        "fd/3 PermissionError",
        "environ PermissionError",
        "connect ConnectionRefusedError",
        "unlink OSError",
        "replace OSError",
        "sh OSError",
        "mount (-1, 1)",
        "pidfd_getfd -1",
    ] {
        assert!(message.contains(said), "{said}: {message}");
    }
    assert_eq!(stdout(&scene.run("echo works")), "works");
    assert_eq!(scene.executor.container_name(), name, "the same container");
}

#[test]
#[ignore = "needs Podman"]
fn an_image_of_the_executor_is_the_one_that_was_allowed() {
    let scene = Scene::new();
    let executor = PodmanExecutor::new(PodmanOptions::default().program(&scene.podman)).unwrap();
    let message = executor.start(&scene.root).unwrap_err().to_string();
    assert!(message.contains("docker.io/library/python:3.12-slim"), "{message}");
}
