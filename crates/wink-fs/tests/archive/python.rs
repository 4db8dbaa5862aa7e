//! Whatever is wrong with an archive: where we and Python's `zipfile` both read it, we read the same.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use wink_fs::{Kind, Tree, TreePath};

use crate::archive::support::{Random, export, open, plant_small};
use crate::archive::zip::{Item, archive};

/// Reads archives by their length from stdin and answers, for each, what is in it.
const SCRIPT: &str = r#"
import io, struct, sys, zipfile, zlib

def contents(data):
    found = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            if not info.filename.endswith("/"):
                charset = "utf-8" if info.flag_bits & 0x800 else "cp437"
                name = info.filename.encode(charset, "surrogateescape").hex()
                found.append((name, zlib.crc32(archive.read(info)), info.file_size))
    return found

while header := sys.stdin.buffer.read(4):
    data = sys.stdin.buffer.read(struct.unpack("<I", header)[0])
    try:
        lines = [f"{name} {crc} {size}" for name, crc, size in contents(data)]
        print("ok", *lines, sep="|")
    except Exception as error:
        print("refused", type(error).__name__, sep="|")
"#;

fn mutations() -> usize {
    if std::env::var_os("WINK_LONG_TESTS").is_some() { 50_000 } else { 2_000 }
}

/// Changes some bytes, mostly where the headers are, or cuts the archive.
fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut mutated = bytes.to_vec();
    match random.below(10) {
        0 => mutated.truncate(random.below(bytes.len())),
        1 => drop(mutated.drain(..random.below(40))),
        2 => {
            let (at, len) = (random.below(bytes.len()), random.below(40));
            let copy = bytes[at..(at + len).min(bytes.len())].to_vec();
            let to = random.below(bytes.len());
            mutated.splice(to..to, copy);
        }
        _ => {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                mutated[at] = match random.below(4) {
                    0 => random.next() as u8,
                    1 => 0,
                    2 => 0xff,
                    _ => mutated[at] ^ 1 << random.below(8),
                };
            }
        }
    }
    mutated
}

/// What we read: the name of each entry, its checksum and its size.
fn ours(bytes: &[u8]) -> Option<BTreeMap<String, (u32, usize)>> {
    let tree = open(bytes).ok()?;
    let mut found = BTreeMap::new();
    collect(&tree, &TreePath::root(), &mut found);
    Some(found)
}

fn collect(tree: &dyn Tree, at: &TreePath, found: &mut BTreeMap<String, (u32, usize)>) {
    for entry in tree.list(at).unwrap() {
        let path = at.join(&entry.name).unwrap();
        let content = match entry.kind {
            Kind::Directory => {
                collect(tree, &path, found);
                continue;
            }
            Kind::Symlink => tree.read_link(&path).unwrap(),
            _ => tree.open(&path).unwrap().read_all().unwrap().to_vec(),
        };
        found.insert(format!("files/{path}"), (crc32fast::hash(&content), content.len()));
    }
}

/// What Python answered, in the same form; the manifest is not part of a tree.
fn theirs(line: &str) -> Option<BTreeMap<String, (u32, usize)>> {
    let entries = line.strip_prefix("ok")?.split('|').filter(|entry| !entry.is_empty());
    let parse = |entry: &str| {
        let mut parts = entry.split(' ');
        let hex = parts.next().unwrap();
        let name: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
        let crc = parts.next().unwrap().parse().unwrap();
        let size = parts.next().unwrap().parse().unwrap();
        (String::from_utf8(name).unwrap(), (crc, size))
    };
    Some(entries.map(parse).filter(|(name, _)| name != "manifest.json").collect())
}

fn ask_python(archives: &[Vec<u8>]) -> Vec<String> {
    let python = std::env::var_os("WINK_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for archive in archives {
                stdin.write_all(&(archive.len() as u32).to_le_bytes()).unwrap();
                stdin.write_all(archive).unwrap();
            }
        });
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
    })
}

#[test]
#[ignore = "needs Python"]
fn where_both_read_a_changed_archive_both_read_the_same() {
    let mut files = wink_fs::MemoryBackend::new();
    plant_small(&mut files);
    let by_hand = archive([
        Item::deflated("files/a", "aaaaaaaaaaaaaaaaaaaaaaaa"),
        Item::stored("files/b/c", "PK\x05\x06"),
        Item::directory("files/d/"),
    ]);
    let seeds = [export(&files), by_hand];
    let mut random = Random(2026);
    let mut archives = seeds.to_vec();
    archives.extend((0..mutations()).map(|n| mutate(&seeds[n % 2], &mut random)));
    let answers = ask_python(&archives);
    assert_eq!(answers.len(), archives.len());
    let (mut both, mut only_us) = (0, 0);
    for (number, (archive, answer)) in archives.iter().zip(&answers).enumerate() {
        match (ours(archive), theirs(answer)) {
            (Some(ours), Some(theirs)) => {
                assert_eq!(ours, theirs, "archive {number}");
                both += 1;
            }
            (Some(_), None) => only_us += 1,
            (None, _) => {}
        }
    }
    println!("{both} read by both, {only_us} only by us, of {}", archives.len());
    assert!(both >= 2 && only_us <= archives.len() / 50);
}
