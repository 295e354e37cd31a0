//! The system starts no more threads: whoever needs one is told so.
#![cfg(target_os = "linux")]

mod common;

use blitz_io::{Builder, Handle};
use common::line_of_child;
use std::pin::Pin;

/// In a process of its own: it writes to the standard error, and has no memory for the threads of other tests.
const CHILD: &str = "BLITZ_TEST_NO_THREADS";

#[test]
fn a_file_that_no_thread_can_read_is_an_error() {
    let mut builder = Builder::new_current_thread();
    // There is no room for such a stack; for a gigabyte there is, also where addresses have 32 bits.
    let too_large = usize::MAX / 4 * 3;
    let runtime = builder.thread_stack_size(too_large).build();
    let read = runtime.unwrap().block_on(blitz_io::fs::read("Cargo.toml"));
    let error = read.unwrap_err().to_string();
    assert!(error.contains("no thread can be started"), "{error}");
}

#[test]
fn tasks_that_nobody_can_run_are_told_of() {
    if std::env::var_os(CHILD).is_some() {
        return wait_for_tasks_that_nobody_runs();
    }
    let test = "tasks_that_nobody_can_run_are_told_of";
    let told = line_of_child(test, CHILD, "no thread can be started");
    assert!(told.expect("it says so").starts_with("Blitz: "));
}

fn wait_for_tasks_that_nobody_runs() {
    // A child that says nothing ends all the same.
    // SAFETY: no handler is installed for the signal.
    unsafe { libc::alarm(30) };
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { blitz_io::spawn(async {}).await.unwrap() });
    allow_no_more_memory_than(512 << 10);
    // More than there can be threads by now: one or two may have been started beside the workers.
    runtime.block_on(wait_for_tasks(20));
}

/// A task that waits for another one, which waits for another one.
fn wait_for_tasks(depth: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if depth > 0 {
            let next = blitz_io::spawn(wait_for_tasks(depth - 1));
            // The runtime is told, and has no thread for what is waited for.
            Handle::current().block_on(next).unwrap();
        }
    })
}

/// A quarter of a stack.
fn allow_no_more_memory_than(bytes: u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    // SAFETY: both only read and write plain numbers.
    let answer = unsafe {
        let size = pages * libc::sysconf(libc::_SC_PAGESIZE) as u64 + bytes;
        let limit = libc::rlimit {
            rlim_cur: size as libc::rlim_t,
            rlim_max: size as libc::rlim_t,
        };
        libc::setrlimit(libc::RLIMIT_AS, &limit)
    };
    assert_eq!(answer, 0);
}
