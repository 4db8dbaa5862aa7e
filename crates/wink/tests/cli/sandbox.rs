//! What a program in the sandbox of `wink run` tries, to get out.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::cli::scene::{Scene, mode_of, stderr, stdout};

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("inside.txt", "inside\n");
    std::fs::write(scene.path("home/secret.txt"), "SECRET\n").unwrap();
    scene.ok(&["snapshot"]);
    scene
}

/// Runs a script for the shell in the sandbox.
fn shell(scene: &Scene, script: &str) -> Output {
    scene.run(&["run", "--", "sh", "-c", script])
}

/// Runs a script in Python in the sandbox; it prints what it got out of an attempt, or the error.
fn python(scene: &Scene, options: &[&str], script: &str) -> String {
    let script = format!(
        "import ctypes, os, socket, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n{script}"
    );
    let output = scene.run(&[&["run", "-q"], options, &["--", "python3", "-c", &script]].concat());
    stdout(&output) + &stderr(&output)
}

/// A process outside of the sandbox, with a secret in its environment.
struct Outsider(Child);

impl Outsider {
    fn start() -> Self {
        let mut sleep = Command::new("sleep");
        Self(sleep.arg("600").env("SECRET", "SECRET").stdin(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Outsider {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn it_writes_to_the_workspace_and_its_temporary_directory_only() {
    let scene = scene();
    let home = scene.path("home");
    let script = format!(
        "echo 1 > made.txt && echo 2 > $TMPDIR/temporary && chmod 600 inside.txt && mkdir d && ln inside.txt d/l || exit 9
         for file in {0}/new.txt {0}/secret.txt /tmp/wink-escaped /etc/wink-escaped /dev/shm/../../tmp/wink-escaped; do
             echo x > $file && echo \"WROTE $file\"
         done; true",
        home.display()
    );
    let output = shell(&scene, &script);
    assert!(output.status.success() && stdout(&output).is_empty(), "{output:?}");
    assert!(scene.read("made.txt") == "1\n" && !home.join("new.txt").exists());
    assert!(!Path::new("/tmp/wink-escaped").exists() && !Path::new("/etc/wink-escaped").exists());
}

#[test]
fn it_never_changes_the_history() {
    let scene = scene();
    let history = scene.history();
    let script = format!(
        "rm -rf {0}; echo x > {0}/workspace.json; chmod 777 {0}; mv {0} .; ln {0}/workspace.json own; cat {0}/workspace.json; \
         ls {0}; touch {0}/new",
        history.display()
    );
    let output = shell(&scene, &script);
    assert_eq!(stdout(&output), "", "nothing of it is shown either");
    assert_eq!(mode_of(&history), 0o700);
    assert!(!scene.project("own").exists() && !history.join("new").exists());
    scene.ok(&["verify", "--data"]);
}

#[test]
fn a_sandbox_that_reaches_the_history_is_refused() {
    let scene = scene();
    for path in
        [scene.path(""), scene.path("data/wink"), scene.history(), scene.history().join("store")]
    {
        let (code, said) =
            scene.fails(&["run", "--write", path.to_str().unwrap(), "--", "touch", "made"]);
        assert!(code == 125 && said.contains("could change"), "{said}");
        assert!(!scene.project("made").exists());
    }
}

#[test]
fn it_reads_no_file_of_the_user_but_those_it_is_given() {
    let scene = scene();
    let secret = scene.path("home/secret.txt");
    symlink(&secret, scene.project("link")).unwrap();
    let script = format!(
        "cat {} link; ls {}; cat inside.txt",
        secret.display(),
        scene.path("home").display()
    );
    assert_eq!(stdout(&shell(&scene, &script)), "inside\n");
    let output = scene.run(&["run", "--read", secret.to_str().unwrap(), "--", "cat", "link"]);
    assert_eq!(stdout(&output), "SECRET\n");
}

#[test]
fn it_writes_through_no_link_to_the_outside() {
    let scene = scene();
    symlink(scene.path("home"), scene.project("out")).unwrap();
    symlink(scene.path("home/secret.txt"), scene.project("link")).unwrap();
    let output = shell(
        &scene,
        "echo x > link; echo x > out/new.txt; chmod 777 link; rm out/secret.txt; true",
    );
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read_to_string(scene.path("home/secret.txt")).unwrap(), "SECRET\n");
    assert!(
        mode_of(&scene.path("home/secret.txt")) != 0o777 && !scene.path("home/new.txt").exists()
    );
}

/// Landlock alone does not cover modes, owners and times.
#[test]
fn it_changes_no_mode_owner_or_time_outside() {
    let scene = scene();
    let secret = scene.path("home/secret.txt");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o640)).unwrap();
    let before = std::fs::metadata(&secret).unwrap().modified().unwrap();
    let file = secret.display();
    let script = format!(
        "chmod 777 {file}; chown 12345 {file}; touch -d '2001-01-01' {file}; chmod 777 /etc; true"
    );
    shell(&scene, &script);
    assert_eq!(mode_of(&secret), 0o640);
    assert_eq!(std::fs::metadata(&secret).unwrap().modified().unwrap(), before);
    assert_eq!(mode_of(Path::new("/etc")), 0o755);
}

#[test]
#[ignore = "needs Python"]
fn it_connects_to_nothing_without_a_network() {
    let scene = scene();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let (tcp, udp) =
        (listener.local_addr().unwrap().port(), datagrams.local_addr().unwrap().port());
    let script = format!(
        "for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, 40):
    try: socket.socket(family, socket.SOCK_STREAM); print('SOCKET', family)
    except PermissionError: pass
try: socket.create_connection(('127.0.0.1', {tcp})); print('CONNECTED')
except PermissionError: pass
try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp})); print('SENT')
except PermissionError: print('refused')"
    );
    assert_eq!(python(&scene, &[], &script), "refused\n");
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(datagrams.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    let script = format!("socket.create_connection(('127.0.0.1', {tcp})); print('connected')");
    assert_eq!(python(&scene, &["--net"], &script), "connected\n");
    let script = "
for family, kind, protocol in ((socket.AF_PACKET, socket.SOCK_RAW, 3), (socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_UNIX, socket.SOCK_STREAM, 0)):
    try: socket.socket(family, kind, protocol); print('SOCKET', family)
    except PermissionError: pass
print('refused')";
    assert_eq!(python(&scene, &["--net"], script), "refused\n");
}

#[test]
#[ignore = "needs Python"]
fn it_reaches_no_unix_socket_by_path_or_abstract_name() {
    let scene = scene();
    let path = scene.project("service.sock");
    let name = format!("wink-test-{}", std::process::id());
    let services = [
        UnixListener::bind(&path).unwrap(),
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(),
    ];
    services.iter().for_each(|service| service.set_nonblocking(true).unwrap());
    let script = format!(
        "for address in ('service.sock', '\\0{name}'):
    try: socket.socket(socket.AF_UNIX).connect(address); print('CONNECTED', address)
    except PermissionError: pass
try: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print('DATAGRAMS')
except PermissionError: pass
one, other = socket.socketpair(); one.send(b'pairs work'); print(other.recv(99).decode())
try: one.connect('service.sock'); print('CONNECTED')
except PermissionError: pass"
    );
    for options in [&[][..], &["--net"]] {
        let script = if options.is_empty() {
            script.clone()
        } else {
            script.replace(
                "try: one.connect",
                "try: other = socket.socket(socket.AF_UNIX); other.connect",
            )
        };
        assert_eq!(python(&scene, options, &script), "pairs work\n");
    }
    assert!(services.iter().all(|it| it.accept().unwrap_err().kind() == ErrorKind::WouldBlock));
}

#[test]
fn it_signals_no_process_outside() {
    let scene = scene();
    let mut outsider = Outsider::start();
    let script = format!(
        "kill -9 {0} && echo KILLED; kill -0 {0} && echo SEEN; kill -9 $PPID && echo KILLED; kill -9 -1; true",
        outsider.pid()
    );
    let output = shell(&scene, &script);
    assert_eq!(stdout(&output), "");
    assert!(outsider.is_alive());
}

#[test]
#[ignore = "needs Python"]
fn it_looks_into_no_process_outside() {
    let scene = scene();
    let mut outsider = Outsider::start();
    let pid = outsider.pid();
    let script = format!(
        "for name in ('root/etc/hostname', 'environ', 'mem', 'maps', 'cwd/.', 'fd/0', 'exe'):
    try: open('/proc/{pid}/' + name, 'rb').read(9) if name != 'cwd/.' else os.listdir('/proc/{pid}/' + name); print('READ', name)
    except (PermissionError, FileNotFoundError): pass
for number, name in ((101, 'ptrace'), (310, 'process_vm_readv'), (438, 'pidfd_getfd'), (312, 'kcmp')):
    result = libc.syscall(number, 16, {pid}, 0, 0, 0, 0)
    if result != -1 or ctypes.get_errno() != 1: print(name, result, ctypes.get_errno())
print(open('/proc/self/status').read().count('NoNewPrivs:\\t1'))"
    );
    if cfg!(target_arch = "x86_64") {
        assert_eq!(python(&scene, &[], &script), "1\n");
    }
    assert!(outsider.is_alive());
}

#[test]
#[ignore = "needs Python"]
fn it_makes_no_namespaces_mounts_or_rings() {
    let scene = scene();
    let script = "
flags = dict(newns=0x20000, newcgroup=0x2000000, newuts=0x4000000, newipc=0x8000000, newuser=0x10000000, newpid=0x20000000, newnet=0x40000000)
for name, flag in flags.items():
    if libc.unshare(flag) == 0: print('UNSHARED', name)
    pid = libc.syscall(56, flag | 17, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    if pid > 0: print('CLONED', name)
if libc.mount(b'tmpfs', b'.', b'tmpfs', 0, None) == 0: print('MOUNTED')
if libc.mount(None, b'/', None, 0x1000 | 0x20, None) == 0: print('REMOUNTED')
if libc.umount2(b'/dev/shm', 2) == 0: print('UNMOUNTED')
if libc.chroot(b'.') == 0: print('CHROOTED')
for number in (425, 426, 427, 435):
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 38: print('CALLED', number, ctypes.get_errno())
for number in (304, 298, 323, 272 | 0x40000000, 41 | 0x40000000, 101 | 0x40000000):
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (1, 38): print('CALLED', number, ctypes.get_errno())
print('done')";
    if cfg!(target_arch = "x86_64") {
        assert_eq!(python(&scene, &[], script), "done\n");
    }
}

#[test]
#[ignore = "needs Python"]
fn it_types_nothing_into_the_terminal() {
    let scene = scene();
    let script = "
import fcntl, termios
for request in (termios.TIOCSTI, 0x541C, termios.TIOCSTI | 0x700000000):
    if libc.ioctl(0, ctypes.c_ulong(request), b'x') != -1 or ctypes.get_errno() != 1: print('TYPED', request, ctypes.get_errno())
print('done')";
    assert_eq!(python(&scene, &[], script), "done\n");
}

#[test]
fn it_inherits_no_open_file() {
    let scene = scene();
    let wink = env!("CARGO_BIN_EXE_wink");
    let script = format!(
        "exec 7<{secret} 8>>{secret} 9<{home}
         {wink} run -q -- sh -c 'ls /proc/self/fd | wc -l; cat <&7; cat /proc/self/fd/7; echo x >&8; ls /proc/self/fd/9/; true'",
        secret = scene.path("home/secret.txt").display(),
        home = scene.path("home").display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(scene.path("project")).env_clear();
    command.env("HOME", scene.path("home")).env("XDG_DATA_HOME", scene.path("data"));
    let output = command.output().unwrap();
    // The three streams, and the directory that `ls` reads.
    assert_eq!(stdout(&output), "4\n", "{output:?}");
    assert_eq!(std::fs::read_to_string(scene.path("home/secret.txt")).unwrap(), "SECRET\n");
}

#[test]
fn it_gets_no_secret_of_the_environment_unless_named() {
    let scene = scene();
    let get = |options: &[&str]| {
        let args = [
            &["run", "-q"],
            options,
            &["--", "sh", "-c", "echo ${API_KEY:-none} ${LD_PRELOAD:-none} ${LANG:-none}"],
        ]
        .concat();
        let mut command = scene.wink_in(&scene.path("project"), &args);
        command.env("API_KEY", "SECRET").env("LANG", "C.UTF-8");
        stdout(&command.output().unwrap())
    };
    assert_eq!(get(&[]), "none none C.UTF-8\n");
    assert_eq!(get(&["--env", "API_KEY"]), "SECRET none C.UTF-8\n");
}

#[test]
fn it_makes_no_devices_and_dumps_no_core() {
    let scene = scene();
    let output =
        shell(&scene, "mknod disk b 8 0 && echo MADE; mknod null c 1 3 && echo MADE; ulimit -c");
    assert_eq!(stdout(&output), "0\n");
}

/// As it is for most people: not root, in a namespace of users.
#[test]
#[ignore = "needs root"]
fn a_setuid_program_gives_a_user_no_rights() {
    let scene = scene();
    let wink = scene.path("wink");
    std::fs::copy(env!("CARGO_BIN_EXE_wink"), &wink).unwrap();
    let id = scene.project("id");
    std::fs::copy("/usr/bin/id", &id).unwrap();
    std::fs::set_permissions(&id, std::fs::Permissions::from_mode(0o4755)).unwrap();
    std::fs::set_permissions(scene.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(scene.path("project"), Some(65_534), Some(65_534)).unwrap();
    let as_user = |program: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).args(program);
        command
            .current_dir(scene.path("project"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent");
        command.output().unwrap()
    };
    let outside = as_user(&["./id", "-u"]);
    assert_eq!(stdout(&outside), "0\n", "it works without the sandbox");
    let wink = wink.to_str().unwrap();
    let inside = as_user(&[
        wink,
        "run",
        "--no-snapshot",
        "--",
        "sh",
        "-c",
        "./id -u; id -g; touch made; chmod 777 /tmp/. || echo no",
    ]);
    assert_eq!(stdout(&inside), "65534\n65534\nno\n", "{inside:?}");
    assert!(scene.project("made").exists());
}

/// Where the kernel allows no namespaces, nothing can be made read-only by a mount: the calls themselves are refused.
#[test]
fn without_namespaces_modes_and_owners_stay_as_they_are() {
    let scene = scene();
    let project = scene.path("project");
    // In a sandbox, there are no further namespaces.
    let wink = env!("CARGO_BIN_EXE_wink");
    let read = Path::new(wink).parent().unwrap().to_str().unwrap();
    let inner = format!(
        "{wink} sandbox-launcher --write {} --read /usr --read /etc --read /proc -- \
         sh -c 'echo 1 > made; chmod 777 inside.txt; chown 12345 inside.txt; cat made'",
        project.display()
    );
    let output = scene.run(&["run", "-q", "--read", read, "--", "sh", "-c", &inner]);
    assert_eq!(stdout(&output), "1\n", "{output:?}");
    assert_ne!(mode_of(&scene.project("inside.txt")), 0o777);
    assert!(
        stderr(&output).contains("chmod: ") && stderr(&output).contains("Operation not permitted"),
        "{output:?}"
    );
}

#[test]
fn nothing_that_it_started_outlives_it() {
    let scene = scene();
    let script = "for n in 1 2 3 4 5 6 7 8; do
                      setsid sh -c 'trap \"\" TERM HUP INT; (setsid sleep 600 & echo $! >> pids); sleep 600' </dev/null >/dev/null 2>&1 &
                      echo $! >> pids
                  done
                  while [ $(wc -l < pids) -lt 16 ]; do sleep 0.01; done";
    let output = shell(&scene, script);
    assert!(output.status.success(), "{output:?}");
    let pids = scene.read("pids");
    assert_eq!(pids.lines().count(), 16);
    for pid in pids.lines() {
        assert!(!Path::new("/proc").join(pid).exists(), "{pid} is still there");
    }
}

#[test]
fn when_wink_is_killed_it_ends_too() {
    let scene = scene();
    let script = "setsid sleep 600 & echo $! > pid.new; mv pid.new pid; sleep 600";
    let args = ["run", "-q", "--", "sh", "-c", script];
    let mut child = scene.wink_in(&scene.path("project"), &args).spawn().unwrap();
    wait_until(|| scene.project("pid").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let process = Path::new("/proc").join(scene.read("pid").trim());
    wait_until(|| !process.exists());
    // The next command records what it did.
    scene.ok(&["undo"]);
    assert!(!scene.project("pid").exists());
}

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
