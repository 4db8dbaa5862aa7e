//! Random operations on every backend in step, compared with a plain map after each one.
//!
//! What a failure shrinks to becomes a test of its own at the end of this file.

mod history;
mod operation;
mod outside;
mod reference;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use wink_fs::testkit::dump;
use wink_fs::{Backend, Guard, HostBackend, Layered, Limits, MemoryBackend, WriteMode};

use operation::{Expected, Op, Write, any_operation};
use reference::Model;

/// Operations of one sequence on average; each starts with empty backends.
const SEQUENCE: usize = 100;

/// The limits for agents, but for names, which are odd here on purpose.
fn any_names() -> Limits {
    let mut limits = Limits::default();
    limits.plain_names = false;
    limits
}

/// Makes a fresh backend of every kind.
fn backends() -> Vec<(&'static str, Box<dyn Backend>)> {
    vec![
        ("memory", Box::new(MemoryBackend::new())),
        (
            "guard around memory",
            Box::new(Layered::new(MemoryBackend::new(), Guard::new(any_names()))),
        ),
        ("host", Box::new(HostBackend::temporary().unwrap())),
    ]
}

/// Does the operations on all backends and the model; says where one differs.
fn in_step(operations: Vec<Op>) -> Result<(), String> {
    let (mut model, mut backends) = (Model::default(), backends());
    for operation in operations {
        let (operation, expected) = operation.resolve(&model);
        let answer = operation.run_model(&mut model, expected);
        let lines = model.lines();
        for (name, backend) in &mut backends {
            let given = operation.run(&mut **backend, expected);
            if given != answer {
                return Err(format!("{name}: {operation:?}: {given:?}, and not {answer:?}"));
            }
            let dumped = dump(&**backend).map_err(|error| format!("{name}: {error}"))?;
            if dumped != lines {
                return Err(format!("{name}: {operation:?}: {dumped:#?}, and not {lines:#?}"));
            }
        }
    }
    Ok(())
}

/// The ordinary run is the same each time; the long one is another each time.
fn runner() -> TestRunner {
    runner_of(SEQUENCE)
}

fn runner_of(sequence: usize) -> TestRunner {
    let operations = if is_long() { 1_000_000 } else { 10_000 };
    runner_with(Config { cases: (operations / sequence) as u32, ..Config::default() })
}

fn is_long() -> bool {
    std::env::var_os("WINK_LONG_TESTS").is_some_and(|value| value == "1")
}

fn runner_with(config: Config) -> TestRunner {
    let config = Config { failure_persistence: None, ..config };
    if is_long() {
        return TestRunner::new(config);
    }
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn all_backends_do_what_a_plain_map_does() {
    let sequences = vec(any_operation(), 0..2 * SEQUENCE);
    let checked =
        runner().run(&sequences, |operations| in_step(operations).map_err(TestCaseError::fail));
    match checked {
        Err(TestError::Fail(why, operations)) => panic!("{why}\nby:\n{}", lines(&operations)),
        Err(error) => panic!("{error}"),
        Ok(()) => {}
    }
}

fn lines(operations: &[Op]) -> String {
    operations.iter().map(|operation| format!("{operation:?},\n")).collect()
}

/// Does operations that once made a difference.
#[track_caller]
fn regression<const N: usize>(operations: [Op; N]) {
    in_step(operations.into()).unwrap();
}

/// Overwriting said NotADirectory and appending Conflict, for the same path and the same hash.
#[test]
fn an_expected_file_below_what_became_a_file_is_a_conflict_in_every_mode() {
    let write = |path: &[&'static [u8]], mode, expected| {
        let path = path.iter().copied().map(Bytes::from_static).collect();
        let (content, parents, file_mode) = (Bytes::new(), true, None);
        Op::Write(Write { path, content, mode, parents, expected, file_mode })
    };
    regression([
        write(&[b"a"], WriteMode::Overwrite, Expected::Anything),
        write(&[b"a", b"b"], WriteMode::Overwrite, Expected::WhatIsThere),
        write(&[b"a", b"b"], WriteMode::Append, Expected::WhatIsThere),
    ]);
}
