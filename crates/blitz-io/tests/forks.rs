//! After a `fork`, the child makes its own runtime, and is told so if it uses the parent's.

#![cfg(target_os = "linux")]

use blitz_io::time::sleep;
use blitz_io::{Builder, Handle, Runtime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Runs `child` in a child process. It must return `true`, and soon.
fn in_child(what: &str, child: impl FnOnce() -> bool) {
    // SAFETY: the child does what this test is about, and then ends at once.
    let id = unsafe { libc::fork() };
    assert!(id >= 0);
    if id == 0 {
        let passed = catch_unwind(AssertUnwindSafe(child)).unwrap_or(false);
        // SAFETY: no destructors: they are the parent's.
        unsafe { libc::_exit(i32::from(!passed)) };
    }
    let start = Instant::now();
    let mut status = 0;
    loop {
        // SAFETY: our child, and a place for its status.
        let ended = unsafe { libc::waitpid(id, &raw mut status, libc::WNOHANG) };
        if ended == id {
            break;
        }
        if start.elapsed() > Duration::from_secs(20) {
            // SAFETY: our child.
            unsafe { libc::kill(id, libc::SIGKILL) };
            panic!("{what}: the child hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(status, 0, "{what}: the child failed");
}

fn works(runtime: &Runtime) -> bool {
    let task = runtime.spawn(async {
        sleep(Duration::from_millis(1)).await;
        let sum = blitz_io::spawn_cpu(|| blitz_core::join(|| 1, || 2)).await;
        sum.unwrap() == (1, 2)
    });
    runtime.block_on(task).unwrap() && runtime.block_on(runtime.spawn_blocking(|| true)).unwrap()
}

fn says_make_a_new_one(use_it: impl FnOnce()) -> bool {
    let result = catch_unwind(AssertUnwindSafe(use_it));
    let Err(panic) = result else { return false };
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    message.is_some_and(|message| message.contains("make a new runtime"))
}

/// One test: a fork copies the one thread that calls it, and what others hold at that moment is held for ever in the child.
#[test]
fn forks() {
    a_child_makes_its_own_runtimes_and_is_told_not_to_use_the_parents();
    a_child_that_returns_into_its_parents_runtime_ends();
    a_child_starts_threads_although_blocking_ones_of_its_parent_come_and_go();
}

fn a_child_makes_its_own_runtimes_and_is_told_not_to_use_the_parents() {
    let make_default = || Runtime::new().unwrap();
    let make_own = || {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).build().unwrap()
    };
    let make_current = || Builder::new_current_thread().build().unwrap();
    let makers: [fn() -> Runtime; 3] = [make_default, make_own, make_current];
    // Before there is any pool.
    let alone = make_current();
    alone.block_on(async {});
    in_child("no pool", || {
        says_make_a_new_one(|| alone.block_on(async {})) && works(&make_current())
    });
    for make in makers {
        let runtime = make();
        assert!(works(&runtime));
        std::thread::sleep(Duration::from_millis(30));
        in_child("a new runtime", || makers.iter().all(|make| works(&make())));
        let handle = runtime.handle().clone();
        in_child("the parent's", || {
            says_make_a_new_one(|| handle.block_on(async {}))
                && says_make_a_new_one(|| drop(handle.spawn(async {})))
                && says_make_a_new_one(|| drop(handle.spawn_blocking(|| ())))
                && says_make_a_new_one(|| drop(handle.spawn_cpu(|| ())))
                && {
                    let _entered = handle.enter();
                    says_make_a_new_one(|| drop(blitz_io::spawn(async {})))
                        && says_make_a_new_one(|| drop(sleep(Duration::ZERO)))
                }
        });
        let entered = runtime.enter();
        in_child("entered", || {
            says_make_a_new_one(|| drop(blitz_io::spawn(async {})))
                && works(&make_default())
                && says_make_a_new_one(|| drop(Handle::current().spawn(async {})))
        });
        drop(entered);
        let mut runtime = Some(runtime);
        in_child("dropped", || {
            drop(runtime.take());
            works(&make_default())
        });
        // The parent has not noticed.
        assert!(works(runtime.as_ref().unwrap()));
    }
}

/// A fork whose child goes back to where it came from, and has so much time for that.
fn fork_and_return() -> libc::pid_t {
    // SAFETY: the child does what this test is about.
    unsafe {
        let id = libc::fork();
        assert!(id >= 0);
        if id == 0 {
            libc::alarm(20);
        }
        id
    }
}

fn is_aborted(child: libc::pid_t) -> bool {
    let mut status = 0;
    // SAFETY: our child, and a place for its status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT
}

fn a_child_that_returns_into_its_parents_runtime_ends() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).build().unwrap();
    let child = runtime.block_on(runtime.spawn_blocking(fork_and_return));
    assert!(is_aborted(child.unwrap()), "spawn_blocking");
    let child = runtime.block_on(runtime.spawn(async { fork_and_return() }));
    assert!(is_aborted(child.unwrap()), "a task");
    let child = runtime.block_on(runtime.handle().spawn_cpu(fork_and_return));
    assert!(is_aborted(child.unwrap()), "spawn_cpu");
    // The one worker computes: the relief thread runs the task.
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let (begin, begun) = std::sync::mpsc::channel();
    let computation = runtime.handle().spawn_cpu(move || {
        begin.send(()).unwrap();
        let _ = ended.recv();
    });
    begun.recv().unwrap();
    let child = runtime.block_on(runtime.spawn(async {
        let thread = std::thread::current();
        (fork_and_return(), thread.name() == Some("blitz-io relief"))
    }));
    let (child, by_relief) = child.unwrap();
    assert!(
        by_relief && is_aborted(child),
        "a task on the relief thread"
    );
    drop(end);
    runtime.block_on(computation).unwrap();
}

fn a_child_starts_threads_although_blocking_ones_of_its_parent_come_and_go() {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.thread_keep_alive(Duration::ZERO).build().unwrap();
    for _ in 0..100 {
        let job = runtime.spawn_blocking(|| ());
        runtime.block_on(job).unwrap();
        in_child("blocking threads", || {
            let runtime = Builder::new_current_thread().build().unwrap();
            runtime.block_on(runtime.spawn_blocking(|| true)).unwrap()
        });
    }
}
