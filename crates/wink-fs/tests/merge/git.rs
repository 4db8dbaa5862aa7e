//! The lines of a merge, against those of `git merge-file`.

use std::path::Path;
use std::process::Command;

use wink_fs::Workspace;

use crate::common::size::size;
use crate::common::trees::Random;

const CASES: u64 = 1_000;

/// Where one of several equal lines in a row goes, no diff can tell which: git takes the last and sees
/// it touch the other side's change, we take the first.
const OTHERS: [u64; 3] = [196, 822, 875];

fn text(random: &mut Random) -> Vec<String> {
    (0..random.below(24)).map(|_| format!("line {}\n", random.below(12))).collect()
}

/// Changes a few lines: some go, some come, some are others.
fn changed(base: &[String], random: &mut Random) -> Vec<String> {
    let mut lines = base.to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(lines.len() + 1);
        let new = format!("new {}\n", random.below(6));
        match random.below(3) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = new,
            _ => lines.insert(at, new),
        }
    }
    if random.below(8) == 0 && !lines.is_empty() {
        let last = lines.len() - 1;
        lines[last] = lines[last].trim_end().to_owned();
    }
    lines
}

/// Returns git's merge, where it is clean.
fn by_git(directory: &Path, texts: [&str; 3]) -> Option<String> {
    for (name, text) in ["base", "ours", "theirs"].iter().zip(texts) {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let mut git = Command::new("git");
    git.args(["merge-file", "-p", "ours", "base", "theirs"]).current_dir(directory);
    let done = git.output().expect("git is needed");
    done.status.success().then(|| String::from_utf8(done.stdout).unwrap())
}

fn by_us([base, ours, theirs]: [&str; 3]) -> Option<String> {
    let files = Workspace::memory();
    files.write("a", base).unwrap();
    let fork = files.fork(wink_fs::StateRef::Live).unwrap();
    files.write("a", ours).unwrap();
    fork.write("a", theirs).unwrap();
    let merged = files.merge(&fork).unwrap();
    merged.applied.then(|| files.read("a").unwrap().content)
}

#[test]
fn lines_are_merged_as_git_merges_them() {
    let directory = tempfile::tempdir().unwrap();
    let (mut clean, mut others) = (0, Vec::new());
    let cases = size(300, CASES);
    for seed in 0..cases {
        let random = &mut Random(seed);
        let base = text(random);
        let (ours, theirs) = (changed(&base, random), changed(&base, random));
        let texts = [base.concat(), ours.concat(), theirs.concat()];
        let texts = [&*texts[0], &*texts[1], &*texts[2]];
        let (git, us) = (by_git(directory.path(), texts), by_us(texts));
        clean += usize::from(git.is_some());
        if git != us {
            others.push((seed, texts.map(str::to_owned), git, us));
        }
    }
    assert!(clean as u64 > cases / 10, "only {clean} were clean");
    let seeds: Vec<u64> = others.iter().map(|(seed, ..)| *seed).collect();
    let expected: Vec<u64> = OTHERS.into_iter().filter(|seed| *seed < cases).collect();
    assert_eq!(seeds, expected, "{others:#?}");
}
