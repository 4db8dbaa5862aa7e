//! Which system calls a program may not make.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter, sock_filter,
};

use super::namespace::Isolation;
use crate::error::SandboxError;

/// Calls that reach into other processes, the kernel, or namespaces.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[libc::SYS_ioperm, libc::SYS_iopl];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// Calls that programs try before others: the answer is that the kernel does not know them. What `clone3` asks for, a
/// filter cannot see.
const UNKNOWN: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
];

/// Calls that change modes, owners and extended attributes, which Landlock does not cover.
const ATTRIBUTES: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

#[cfg(target_arch = "x86_64")]
const ATTRIBUTES_HERE: &[libc::c_long] = &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
const ATTRIBUTES_HERE: &[libc::c_long] = &[];

// Newer than the libc crate; the numbers are the same on all architectures.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Calls that only programs with a network need.
const NETWORK: &[libc::c_long] = &[
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_listen,
    libc::SYS_socket,
];

/// Numbers from here on are those of the x32 interface, which has each call a second time.
const X32: u32 = 0x4000_0000;

const NEW_NAMESPACES: libc::c_int = libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Applies the filters to this thread, and to what it starts.
pub(super) fn apply(has_network: bool, isolation: Isolation) -> Result<(), SandboxError> {
    let refused = refused(has_network, isolation).map_err(unsupported)?;
    let unknown = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    let filters = [
        numbers(),
        compiled(refused, libc::EPERM).map_err(unsupported)?,
        compiled(unknown, libc::ENOSYS).map_err(unsupported)?,
    ];
    // The first one is in force while the others are added.
    filters
        .iter()
        .try_for_each(|filter| apply_filter(filter).map_err(|error| unsupported(error.into())))
}

type Refusal = Box<dyn std::error::Error>;

fn unsupported(error: Refusal) -> SandboxError {
    SandboxError::unsupported(format!("seccomp filters ({error})"))
}

fn compiled(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, Refusal> {
    let arch = TargetArch::try_from(ARCH)?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno.cast_unsigned()),
        arch,
    )?;
    Ok(filter.try_into()?)
}

/// Refuses the numbers of x32, which would be a way around all other rules.
fn numbers() -> BpfProgram {
    let statement = |code: u32, k: u32| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let is_x32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
    vec![
        // The number is the first field of what a filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        sock_filter { code: is_x32 as u16, jt: 0, jf: 1, k: X32 },
        statement(
            libc::BPF_RET | libc::BPF_K,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned(),
        ),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ]
}

#[allow(clippy::unnecessary_cast, reason = "the C libraries differ in the type of requests")]
fn refused(has_network: bool, isolation: Isolation) -> Result<Rules, Refusal> {
    let always = REFUSED.iter().chain(REFUSED_HERE).chain(&[OPEN_TREE_ATTR]);
    let mut rules: Rules = always.map(|call| (*call, Vec::new())).collect();
    if isolation == Isolation::SystemCalls {
        rules.extend(ATTRIBUTES.iter().chain(ATTRIBUTES_HERE).map(|call| (*call, Vec::new())));
    }
    let flags = (0..i32::BITS).map(|bit| 1 << bit).filter(|flag| NEW_NAMESPACES & flag != 0);
    rules.insert(
        libc::SYS_clone,
        flags.map(|flag| rule(vec![masked(0, flag, flag)?])).collect::<Result<_, _>>()?,
    );
    // Input for the terminal, as if the user had typed it after the program has ended.
    let typed = [libc::TIOCSTI, libc::TIOCLINUX]
        .map(|request| rule(vec![number(1, Op::Eq, request as u64)?]));
    rules.insert(libc::SYS_ioctl, typed.into_iter().collect::<Result<_, _>>()?);
    rules.extend(sockets(has_network)?);
    Ok(rules)
}

/// Unix sockets lead to services outside (containers, the session's bus, agents of keys), and Landlock does not see which.
/// Unnamed pairs of connected ends lead nowhere else; datagrams of a pair can be sent to any address.
fn sockets(has_network: bool) -> Result<Rules, Refusal> {
    let datagrams =
        [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| rule(vec![masked(1, 0xf, kind)?]));
    let mut rules =
        Rules::from([(libc::SYS_socketpair, datagrams.into_iter().collect::<Result<_, _>>()?)]);
    if !has_network {
        rules.extend(NETWORK.iter().map(|call| (*call, Vec::new())));
        rules.insert(
            libc::SYS_sendto,
            vec![rule(vec![SeccompCondition::new(4, Length::Qword, Op::Ne, 0)?])?],
        );
        return Ok(rules);
    }
    let family = |op, family: libc::c_int| number(0, op, family as u64);
    let others =
        [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(|known| family(Op::Ne, known));
    let others = rule(others.into_iter().collect::<Result<_, _>>()?)?;
    let routes = libc::NETLINK_ROUTE as u64;
    let netlink = rule(vec![family(Op::Eq, libc::AF_NETLINK)?, number(2, Op::Ne, routes)?])?;
    rules.insert(libc::SYS_socket, vec![others, netlink]);
    Ok(rules)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, Refusal> {
    Ok(SeccompRule::new(conditions)?)
}

fn number(argument: u8, op: Op, value: u64) -> Result<SeccompCondition, Refusal> {
    Ok(SeccompCondition::new(argument, Length::Dword, op, value)?)
}

fn masked(
    argument: u8,
    mask: libc::c_int,
    value: libc::c_int,
) -> Result<SeccompCondition, Refusal> {
    number(
        argument,
        Op::MaskedEq(u64::from(mask.cast_unsigned())),
        u64::from(value.cast_unsigned()),
    )
}
