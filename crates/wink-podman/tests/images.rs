//! Podman as the tests use it, and its images.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An image with static busybox and nothing else.
pub(crate) const BUSYBOX: &str = "localhost/wink-test-busybox:1";

/// An image with Debian's Python.
pub(crate) const PYTHON: &str = "localhost/wink-test-python:1";

/// What lets Podman work in a virtual machine or container with old cgroups and low limits.
const CONFIG: &str = r#"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"#;

/// Commands of busybox that the tests use.
const APPLETS: &str = "sh cat ls sleep true false echo id touch mkdir rm rmdir mv ln chmod kill ps head tail dd \
    setsid nohup seq wc mkfifo mknod env pwd sort yes grep find stat nc wget awk tr cp mount unshare hostname";

/// A program that is Podman with the configuration of the tests.
pub(crate) fn podman_in(place: &Path) -> PathBuf {
    let config = place.join("containers.conf");
    fs::write(&config, CONFIG).unwrap();
    let text = format!("CONTAINERS_CONF='{}' exec podman \"$@\"", config.display());
    script(place, "real-podman", &text)
}

/// Writes a shell script.
pub(crate) fn script(place: &Path, name: &str, text: &str) -> PathBuf {
    let path = place.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Runs Podman and returns what it printed.
pub(crate) fn podman(program: &Path, args: &[&str]) -> String {
    let done = Command::new(program).args(args).output().unwrap();
    assert!(done.status.success(), "podman {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Makes an image, unless it is there from an earlier run.
pub(crate) fn make_image(program: &Path, image: &str) {
    // Tests are processes of their own: one of them makes it, the others wait.
    let lock = fs::File::create(std::env::temp_dir().join("wink-test-images.lock")).unwrap();
    lock.lock().unwrap();
    let is_there = Command::new(program).args(["image", "exists", image]).status().unwrap();
    if is_there.success() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    fill(root.path(), image == PYTHON);
    let mut tar = Command::new("tar");
    tar.arg("-C")
        .arg(root.path())
        .args(["--owner=0", "--group=0", "-cf", "-", "."])
        .stdout(Stdio::piped());
    let mut tar = tar.spawn().unwrap();
    let mut import = Command::new(program);
    let import = import.args(["import", "-", image]).stdin(tar.stdout.take().unwrap());
    let imported = import.output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    assert!(tar.wait().unwrap().success());
}

/// Makes the root filesystem of an image from what Debian's packages installed here.
fn fill(root: &Path, with_python: bool) {
    for directory in ["bin", "etc", "tmp", "usr/bin"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::copy("/bin/busybox", root.join("bin/busybox")).unwrap();
    for applet in APPLETS.split_whitespace() {
        symlink("busybox", root.join("bin").join(applet)).unwrap();
    }
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/tmp:/bin/sh\n").unwrap();
    if with_python {
        let copied =
            Command::new("sh").arg("-c").arg(COPY_PYTHON).arg("sh").arg(root).output().unwrap();
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    }
}

/// Copies Python, its library and the C libraries that it is linked with.
const COPY_PYTHON: &str = r#"
set -e
python=$(readlink -f /usr/bin/python3)
version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
mkdir -p "$1/usr/lib"
cp "$python" "$1/usr/bin/python3"
cp -a "/usr/lib/$version" "$1/usr/lib/"
rm -rf "$1/usr/lib/$version/test" "$1/usr/lib/$version/config-"*
for library in $(ldd "$python" "/usr/lib/$version"/lib-dynload/*.so | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
    case $library in *lib-dynload*) continue ;; esac
    mkdir -p "$1${library%/*}"
    cp -L "$library" "$1$library"
done
"#;
