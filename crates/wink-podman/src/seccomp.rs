//! The restrictions of system calls: those of Podman, and no file with another user's rights.

use std::path::Path;

use serde_json::{Value, json};

use crate::problem::Problem;

/// Where Podman looks for its own profile.
const PROFILES: [&str; 2] = ["/etc/containers/seccomp.json", "/usr/share/containers/seccomp.json"];

/// The bits of a mode that give a program the rights of its owner or group.
const SET_ID: u64 = 0o6000;

/// `O_CREAT` and the bit of `O_TMPFILE`: only with them `open` looks at the mode.
const CREATING: u64 = 0o20000100;

/// `CLONE_NEWUSER`: a user namespace of its own would give a process capabilities in it.
const NEW_USER: u64 = 0x1000_0000;

/// System calls that are allowed while the bits of an argument are not set: name, argument, bits.
const WITHOUT_BITS: [(&str, u32, u64); 12] = [
    ("chmod", 1, SET_ID),
    ("fchmod", 1, SET_ID),
    ("fchmodat", 2, SET_ID),
    ("mknod", 1, SET_ID),
    ("mknodat", 2, SET_ID),
    ("creat", 1, SET_ID),
    ("open", 2, SET_ID),
    ("open", 1, CREATING),
    ("openat", 3, SET_ID),
    ("openat", 2, CREATING),
    ("clone", 0, NEW_USER),
    ("fchmodat2", 2, SET_ID),
];

/// Of these a program is told that it may not.
const NOT_PERMITTED: [(&str, u32, u64); 6] = [
    ("chmod", 1, 0o4000),
    ("chmod", 1, 0o2000),
    ("fchmod", 1, 0o4000),
    ("fchmod", 1, 0o2000),
    ("fchmodat", 2, 0o4000),
    ("fchmodat", 2, 0o2000),
];

const EPERM: u32 = 1;

/// System calls that do the same through pointers, which a filter cannot see; programs fall back to the others.
const NEVER: [&str; 6] =
    ["openat2", "clone3", "unshare", "io_uring_setup", "io_uring_enter", "io_uring_register"];

/// Makes the profile of a container.
pub(crate) fn profile() -> Result<Vec<u8>, Problem> {
    let base = PROFILES.iter().find_map(|path| read(Path::new(path))).ok_or(Problem::NoSeccomp)?;
    restricted(&base).ok_or(Problem::NoSeccomp)
}

#[allow(clippy::disallowed_methods, reason = "Podman's configuration")]
fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

fn restricted(base: &[u8]) -> Option<Vec<u8>> {
    let mut profile: Value = serde_json::from_slice(base).ok()?;
    let is_strict = profile.get("defaultAction")? == "SCMP_ACT_ERRNO";
    let rules = profile.get_mut("syscalls")?.as_array_mut().filter(|_| is_strict)?;
    for rule in rules.iter_mut() {
        let names = rule.get_mut("names")?.as_array_mut()?;
        names.retain(|name| !name.as_str().is_some_and(is_restricted));
    }
    rules.retain(|rule| rule["names"].as_array().is_some_and(|names| !names.is_empty()));
    rules.extend(WITHOUT_BITS.map(|(name, index, bits)| allowed_where(name, index, bits, 0)));
    // Where nothing else is said, the answer is "no such call", which makes programs try another way.
    rules.extend(NOT_PERMITTED.map(|(name, index, bit)| {
        let mut rule = allowed_where(name, index, bit, bit);
        rule["action"] = json!("SCMP_ACT_ERRNO");
        rule["errnoRet"] = json!(EPERM);
        rule
    }));
    serde_json::to_vec(&profile).ok()
}

/// Allows a system call while some bits of an argument have a value.
fn allowed_where(name: &str, index: u32, bits: u64, value: u64) -> Value {
    let test =
        json!({"index": index, "value": bits, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"});
    json!({"names": [name], "action": "SCMP_ACT_ALLOW", "args": [test]})
}

fn is_restricted(name: &str) -> bool {
    NEVER.contains(&name) || WITHOUT_BITS.iter().any(|(restricted, _, _)| *restricted == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_profile_that_refuses_what_it_does_not_name_is_restricted_further() {
        let base = json!({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [
            {"names": ["read", "openat2", "chmod"], "action": "SCMP_ACT_ALLOW"},
            {"names": ["clone3"], "action": "SCMP_ACT_ALLOW"},
        ]});
        let made = restricted(&serde_json::to_vec(&base).unwrap()).unwrap();
        let made: Value = serde_json::from_slice(&made).unwrap();
        let rules = made["syscalls"].as_array().unwrap();
        assert_eq!(rules[0]["names"], json!(["read"]));
        let unconditional = |rule: &&Value| rule["args"].as_array().is_none_or(Vec::is_empty);
        assert_eq!(rules.iter().filter(unconditional).count(), 1, "{made}");
        assert!(rules.iter().all(|rule| rule["names"] != json!(["clone3"])), "{made}");
        let mut open = base;
        open["defaultAction"] = json!("SCMP_ACT_ALLOW");
        assert!(restricted(&serde_json::to_vec(&open).unwrap()).is_none());
        assert!(restricted(b"garbage").is_none());
    }
}
