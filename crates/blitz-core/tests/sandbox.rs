//! A process that gives up `membarrier` after the pool has started.
#![cfg(target_os = "linux")]

use std::panic::catch_unwind;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CHILD: &str = "BLITZ_TEST_SANDBOXED";

static RUNNING: AtomicBool = AtomicBool::new(false);

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// `false`: this kernel has no seccomp.
fn forbid_membarrier() -> bool {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let op = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut filter = [
        op(LOAD, 0, 0, 0), // the number of the system call
        op(JUMP_IF_EQUAL, 0, 1, libc::SYS_membarrier as u32),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program is well-formed and outlives the call.
    unsafe {
        let mode = libc::SECCOMP_SET_MODE_FILTER;
        let all_threads = libc::SECCOMP_FILTER_FLAG_TSYNC;
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(libc::SYS_seccomp, mode, all_threads, &raw const program) == 0
    }
}

/// The right half has private forks of its own, which whoever waits for it asks for.
fn nested() {
    let long = || {
        RUNNING.store(true, Ordering::SeqCst);
        spin(Duration::from_millis(20));
        RUNNING.store(false, Ordering::SeqCst);
    };
    blitz_core::join(
        || spin(Duration::from_millis(2)),
        || blitz_core::join(|| blitz_core::join(long, || ()), || ()),
    );
}

fn sandboxed() {
    let short = || spin(Duration::from_millis(1));
    blitz_core::join(short, short);
    if !forbid_membarrier() {
        return;
    }
    for _ in 0..5 {
        let unwound = catch_unwind(nested).is_err();
        assert!(
            !unwound && !RUNNING.load(Ordering::SeqCst),
            "`join` has left its other half behind"
        );
    }
}

#[test]
fn a_join_in_a_process_without_membarrier_waits_for_both_halves() {
    if std::env::var_os(CHILD).is_some() {
        return sandboxed();
    }
    let again = std::env::current_exe().unwrap();
    let child = Command::new(again).env(CHILD, "1").output().unwrap();
    assert!(child.status.success(), "{child:?}");
}
