#!/usr/bin/env bash
# Tests scripts/check-threats against made-up test listings.
set -euo pipefail

check=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/check-threats
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
list=$scratch/threats.txt
failures=0

# expect NAME STATUS [WORDS]: runs the check on the listing at stdin.
expect() {
    local name=$1 status=$2 words=${3:-} output actual=0
    output=$("$check" --list "$list" --listing - 2>&1) || actual=$?
    if [[ $actual == "$status" && $output == *"$words"* ]]; then
        return
    fi
    echo "FAILED: $name: status $actual, wanted $status with '$words'; output:"
    echo "$output"
    failures=$((failures + 1))
}

printf '%s\n' '# a comment' a1_08 a1_15 >"$list"

expect 'the output of cargo test is read' 0 'all 2 threats and faults' <<'LISTING'
threats::memory::a1_08_symlink_to_outside: test
threats::host::a1_08_symlink_to_outside: test
memory::a1_15_hard_link: test
host::a1_15_hard_link: test

4 tests, 0 benchmarks
LISTING

expect 'the output of nextest is read' 0 'all 2 threats and faults' <<'LISTING'
wink-fs::threats:
    host::a1_08_symlink_to_outside
    host::links::a1_15_hard_link
    memory::a1_08_symlink_to_outside
    memory::links::a1_15_hard_link
LISTING

expect 'a number without a test on one backend is named' 1 'no test: host::a1_15_' <<'LISTING'
memory::a1_08_symlink: test
host::a1_08_symlink: test
memory::a1_15_hard_link: test
LISTING

expect 'a backend in the name of the function does not count' 1 'no test: host::a1_15_' <<'LISTING'
memory::a1_08_symlink: test
host::a1_08_symlink: test
memory::a1_15_hard_link: test
memory::a1_15_hard_link_to_host: test
ghost::a1_15_hard_link: test
LISTING

expect 'another number with the same beginning does not count' 1 'no test: memory::a1_08_' <<'LISTING'
memory::a1_080_other: test
memory::a11_08_other: test
memory::not_a1_08_symlink: test
host::a1_08_symlink: test
memory::a1_15_hard_link: test
host::a1_15_hard_link: test
LISTING

expect 'a module named after a number is no test of it' 1 'no test: memory::a1_08_' <<'LISTING'
memory::a1_08_symlink::helper: test
host::a1_08_symlink: test
memory::a1_15_hard_link: test
host::a1_15_hard_link: test
LISTING

expect 'an empty listing fails' 1 '4 tests of 2' </dev/null

printf '%s\n' 'a1_30 host' fault_07 >"$list"

expect 'a fault, and what only a host knows, need one test anywhere' 0 'all 2 threats and faults' <<'LISTING'
faults::a1_30_chmod: test
fault_07_reordered: test
LISTING

expect 'a fault without a test is named' 1 'no test: anywhere::fault_07_' <<'LISTING'
faults::a1_30_chmod: test
not_fault_07_reordered: test
fault_070_other: test
LISTING

expect 'what only a host knows is named without a test' 1 'no test: anywhere::a1_30_' <<'LISTING'
fault_07_reordered: test
LISTING

printf 'a1-08\n' >"$list"
expect 'a malformed number is refused' 2 'not a threat number: a1-08' </dev/null

printf 'a1_08 memory\n' >"$list"
expect 'only the host can be the only one' 2 'not a threat number: a1_08 memory' </dev/null

printf '# nothing\n' >"$list"
expect 'an empty list is refused' 2 'names no threat' </dev/null

if "$check" --no-such-flag >/dev/null 2>&1; then
    echo 'FAILED: an unknown flag is refused'
    failures=$((failures + 1))
fi

if ((failures)); then
    echo "check-threats.sh: $failures failed"
    exit 1
fi
echo 'check-threats.sh: ok'
