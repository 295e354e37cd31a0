//! What the child of a `fork` can do with pools: everything, as long as nothing was unfinished.
//!
//! One test: a harness that runs several starts and ends threads, and no fork may come at such a moment (see `docs/internals/guests.md`). So does no test here: what it starts
//! has begun before it forks, and ends after that.
#![cfg(all(unix, not(loom)))]

use blitz_core::{ThreadPoolBuilder, join, scope, spawn, spawn_handle};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn forks() {
    let tests: [(&str, fn()); 9] = [
        ("idle", a_child_of_an_idle_process_computes),
        ("again", a_child_of_a_child_computes),
        ("own", a_pool_of_ones_own_is_made_anew_with_its_settings),
        ("busy", a_child_of_a_busy_process_computes_or_says_why_not),
        (
            "middle",
            a_fork_in_the_middle_of_a_computation_leaves_a_child_that_computes,
        ),
        ("return", a_child_that_returns_into_its_parents_pool_ends),
        ("wait", what_only_the_parent_could_finish_is_not_waited_for),
        (
            "come and go",
            a_child_starts_threads_although_those_of_its_parent_come_and_go,
        ),
        (
            "thread-locals",
            a_thread_that_waits_for_the_forking_one_as_it_ends_does_not_keep_it,
        ),
    ];
    for (name, test) in tests {
        println!("{name}");
        test();
    }
}

/// How a child ended that has called `work`.
#[derive(Debug, PartialEq, Eq)]
enum End {
    True,
    False,
    /// By a signal: SIGALRM if it hung.
    Signal(i32),
}

/// Forks, and calls `work` in the child.
fn in_child(work: impl FnOnce() -> bool) -> End {
    // SAFETY: the child uses what this test is about, and ends without running anything of its parent's.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "{}", std::io::Error::last_os_error());
        if child == 0 {
            libc::alarm(20);
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            libc::_exit(i32::from(!result.unwrap_or(false)));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        if libc::WIFSIGNALED(status) {
            return End::Signal(libc::WTERMSIG(status));
        }
        match libc::WEXITSTATUS(status) {
            0 => End::True,
            _ => End::False,
        }
    }
}

fn sum(from: u64, to: u64) -> u64 {
    if to - from < 10 {
        return (from..to).sum();
    }
    let middle = from + (to - from) / 2;
    let (a, b) = join(|| sum(from, middle), || sum(middle, to));
    a + b
}

fn joins() -> bool {
    sum(0, 10_000) == 49_995_000
}

fn scopes() -> bool {
    let count = AtomicU32::new(0);
    scope(|s| {
        for _ in 0..100 {
            s.spawn(|_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    count.into_inner() == 100
}

fn spawns() -> bool {
    let (sender, receiver) = mpsc::channel();
    spawn(move || sender.send(()).unwrap());
    receiver.recv_timeout(Duration::from_secs(30)).is_ok()
        && spawn_handle(|| 42).join().is_ok_and(|answer| answer == 42)
}

fn broadcasts() -> bool {
    let indices = blitz_core::broadcast(|thread| thread.index());
    indices.into_iter().eq(0..blitz_core::current_num_threads())
}

fn everything() -> bool {
    joins() && scopes() && spawns() && broadcasts()
}

fn a_child_of_an_idle_process_computes() {
    assert!(everything());
    for work in [joins, scopes, spawns, broadcasts, everything] {
        assert_eq!(in_child(work), End::True);
    }
    // And so does its parent.
    assert!(everything());
}

fn a_child_of_a_child_computes() {
    assert!(everything());
    assert_eq!(
        in_child(|| everything() && in_child(everything) == End::True && everything()),
        End::True
    );
}

fn a_pool_of_ones_own_is_made_anew_with_its_settings() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(3)
        .thread_name(|index| format!("own-{index}"))
        .start_handler(|_| READY.set(true))
        .build()
        .unwrap();
    thread_local! { static READY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) } }
    let look = || {
        let name = thread::current().name().map(str::to_owned);
        let named = name.is_some_and(|name| name.starts_with("own-"));
        named && READY.get() && blitz_core::current_num_threads() == 3 && joins() && scopes()
    };
    assert!(pool.install(look));
    assert_eq!(in_child(|| pool.install(look)), End::True);
    let dropped = in_child(|| {
        drop(pool);
        true
    });
    assert_eq!(dropped, End::True);
}

fn a_child_of_a_busy_process_computes_or_says_why_not() {
    // The pool's threads are in the middle of something all the time, and so is this thread, at times.
    let stop = Arc::new(AtomicBool::new(false));
    let busy = stop.clone();
    let (begins, begun) = mpsc::channel();
    let outside = thread::spawn(move || {
        begins.send(()).unwrap();
        while !busy.load(Ordering::Relaxed) {
            everything();
        }
    });
    begun.recv().unwrap();
    for _ in 0..20 {
        assert_eq!(in_child(everything), End::True);
    }
    stop.store(true, Ordering::Relaxed);
    outside.join().unwrap();
}

fn a_fork_in_the_middle_of_a_computation_leaves_a_child_that_computes() {
    let (left, _) = join(
        || in_child(everything),
        || thread::sleep(Duration::from_millis(1)),
    );
    assert_eq!(left, End::True);
    let mut ends = Vec::new();
    scope(|s| {
        s.spawn(|_| thread::sleep(Duration::from_millis(1)));
        ends.push(in_child(everything));
    });
    let (sender, receiver) = mpsc::channel();
    spawn(move || sender.send(in_child(everything)).unwrap());
    ends.push(receiver.recv().unwrap());
    assert_eq!(ends, [End::True, End::True]);
}

fn a_child_that_returns_into_its_parents_pool_ends() {
    let (sender, receiver) = mpsc::channel();
    // SAFETY: as above; the child goes back to where it came from.
    spawn(move || unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::alarm(20);
        } else {
            sender.send(child).unwrap();
        }
    });
    let child = receiver.recv().unwrap();
    let mut status = 0;
    // SAFETY: waits for a child of ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT);
}

fn what_only_the_parent_could_finish_is_not_waited_for() {
    let (go, wait) = mpsc::channel::<()>();
    let handle = spawn_handle(move || wait.recv().ok());
    // The panic's message goes to standard error; what counts is that there is an end.
    let mut handle = Some(handle);
    let end = in_child(|| handle.take().unwrap().join().is_ok());
    assert_ne!(end, End::Signal(libc::SIGALRM));
    assert_ne!(end, End::True);
    drop(go);
}

/// Makes the moments long in which a thread is in the standard library's hands: that allocates and frees memory, then, under its lock.
mod slow_start_and_end {
    use super::*;
    use std::alloc::{GlobalAlloc, Layout, System};

    pub static ENABLED: AtomicBool = AtomicBool::new(false);

    thread_local! { pub static IN_USE: Cell<bool> = const { Cell::new(false) } }

    struct Slow;

    #[global_allocator]
    static SLOW: Slow = Slow;

    fn linger() {
        if ENABLED.load(Ordering::Relaxed) && !IN_USE.get() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    // SAFETY: the system's allocator, perhaps later.
    unsafe impl GlobalAlloc for Slow {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            linger();
            // SAFETY: passed on.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            linger();
            // SAFETY: passed on.
            unsafe { System.dealloc(memory, layout) }
        }
    }
}

fn a_child_starts_threads_although_those_of_its_parent_come_and_go() {
    use slow_start_and_end::{ENABLED, IN_USE};
    let pool = |threads| {
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        // A name is one of the things that are freed at the end.
        let builder = builder.thread_name(|index| format!("slow-{index}"));
        let builder = builder.start_handler(|_| IN_USE.set(true));
        builder.exit_handler(|_| IN_USE.set(false)).build().unwrap()
    };
    let starts_threads = || pool(2).install(joins);
    IN_USE.set(true);
    ENABLED.store(true, Ordering::Relaxed);
    for pause in 0..10 {
        let pool = pool(4);
        assert_eq!(in_child(starts_threads), End::True);
        drop(pool);
        // Somewhere between the moment in which they are told and that in which they are gone.
        thread::sleep(Duration::from_micros(300 * pause));
        assert_eq!(in_child(starts_threads), End::True);
    }
    ENABLED.store(false, Ordering::Relaxed);
}

fn a_thread_that_waits_for_the_forking_one_as_it_ends_does_not_keep_it() {
    struct WaitsAtTheEnd(Option<(mpsc::Sender<()>, Arc<Mutex<()>>)>);
    impl Drop for WaitsAtTheEnd {
        fn drop(&mut self) {
            let Some((ends, lock)) = &self.0 else { return };
            ends.send(()).unwrap();
            drop(lock.lock().unwrap());
        }
    }
    thread_local! { static LOCAL: RefCell<WaitsAtTheEnd> = const { RefCell::new(WaitsAtTheEnd(None)) } }
    let lock = Arc::new(Mutex::new(()));
    let locked = lock.lock().unwrap();
    let (sender, ends) = mpsc::channel();
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| LOCAL.set(WaitsAtTheEnd(Some((sender, lock.clone())))));
    drop(pool);
    ends.recv().unwrap();
    // SAFETY: nothing is called.
    unsafe { libc::alarm(20) };
    assert_eq!(in_child(joins), End::True);
    // SAFETY: as above.
    unsafe { libc::alarm(0) };
    drop(locked);
}
