//! What is left of a runtime that ends while others use it, or in the background, or inside of a guard; and of guards in any order.

mod common;

use blitz_io::time::sleep;
use blitz_io::{Builder, Handle, Runtime};
use common::{runtime, within_a_minute};
#[cfg(not(windows))]
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
#[cfg(not(windows))]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn default() -> Runtime {
    Runtime::new().unwrap()
}

/// A thread that waits for a timer in `block_on`, and has begun to. It gets out somehow: `Err` is a panic.
fn waits_for(handle: &Handle, time: Duration) -> thread::JoinHandle<Duration> {
    let (tell, begun) = mpsc::channel();
    let handle = handle.clone();
    let thread = thread::spawn(move || {
        let start = Instant::now();
        handle.block_on(async {
            let mut waiting = std::pin::pin!(sleep(time));
            std::future::poll_fn(|cx| {
                let polled = waiting.as_mut().poll(cx);
                let _ = tell.send(());
                polled
            })
            .await;
        });
        start.elapsed()
    });
    begun.recv().unwrap();
    thread
}

#[test]
fn whoever_blocks_on_a_timer_gets_out_when_the_runtime_ends_and_not_as_if_time_were_up() {
    within_a_minute(|| {
        let ends: [fn(Runtime); 4] = [
            drop,
            Runtime::shutdown_background,
            |runtime| {
                runtime.shutdown_timeout(ms(1));
            },
            |runtime| {
                let handle = runtime.handle().clone();
                handle.spawn(async move { runtime.shutdown_background() });
            },
        ];
        for end in ends {
            let runtime = runtime(2);
            let waiting = waits_for(runtime.handle(), Duration::from_secs(3600));
            end(runtime);
            assert!(waiting.join().is_err(), "an hour has not passed");
        }
    });
}

#[test]
fn timers_go_off_until_the_last_worker_has_left() {
    within_a_minute(|| {
        let runtime = runtime(2);
        let (release, released) = mpsc::channel::<()>();
        let (tell, begun) = mpsc::channel();
        runtime.spawn(async move {
            tell.send(()).unwrap();
            let _ = released.recv();
        });
        begun.recv().unwrap();
        let waiting = waits_for(runtime.handle(), ms(50));
        let too_long = waits_for(runtime.handle(), Duration::from_secs(3600));
        assert!(!runtime.shutdown_within(ms(1)));
        assert!(waiting.join().unwrap() >= ms(50));
        drop(release);
        assert!(too_long.join().is_err());
    });
}

#[test]
fn a_default_runtime_leaves_timers_as_they_are_when_it_ends() {
    within_a_minute(|| {
        let runtime = default();
        let waiting = waits_for(runtime.handle(), ms(30));
        drop(runtime);
        assert!(waiting.join().unwrap() >= ms(30));
    });
}

#[test]
fn a_sleep_in_a_runtime_that_has_ended_says_so() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    drop(runtime);
    let slept = catch_unwind(AssertUnwindSafe(|| {
        handle.block_on(async { sleep(Duration::from_secs(3600)).await });
    }));
    let message = *slept.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("the runtime"), "{message}");
    assert!(message.contains("has ended"), "{message}");
    handle.block_on(async { sleep(Duration::ZERO).await });
}

#[test]
fn a_current_thread_runtime_may_end_while_another_thread_is_in_it() {
    within_a_minute(|| {
        let runtime = current_thread();
        let waiting = waits_for(runtime.handle(), ms(200));
        #[cfg(unix)]
        let start = cpu_time();
        drop(runtime);
        assert!(waiting.join().unwrap() >= ms(200));
        // Waiting, or not waiting, takes no time of the CPU's.
        #[cfg(unix)]
        assert!(cpu_time() - start < ms(100));
    });
}

/// Of the calling thread.
#[cfg(unix)]
fn cpu_time() -> Duration {
    // SAFETY: a valid clock, and a place for its time.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
#[cfg(target_os = "linux")]
fn a_runtime_that_ends_in_the_background_gives_its_descriptors_back() {
    let epolls = || {
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
        let targets = descriptors.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
        targets
            .filter(|target| target.to_string_lossy().contains("timerfd"))
            .count()
    };
    within_a_minute(move || {
        for _ in 0..30 {
            let runtime = runtime(2);
            runtime.spawn(async { thread::sleep(ms(2)) });
            runtime.shutdown_background();
        }
        // Other tests have some.
        while epolls() > 20 {
            thread::sleep(ms(5));
        }
    });
}

#[test]
fn guards_may_be_dropped_in_any_order() {
    for make in [current_thread, default, || runtime(1)] {
        let runtimes = [make(), make(), make()];
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        for order in orders {
            let mut guards = runtimes.each_ref().map(|runtime| Some(runtime.enter()));
            for (count, index) in order.into_iter().enumerate() {
                guards[index] = None;
                let innermost = guards.iter().rposition(Option::is_some);
                assert_eq!(innermost.is_some(), count < 2);
                let current = Handle::try_current().ok();
                assert_eq!(current.is_some(), innermost.is_some(), "{order:?}");
                if let (Some(handle), Some(index)) = (current, innermost) {
                    let before = runtimes[index].handle().metrics().snapshot().spawned;
                    drop(handle.spawn(async {}));
                    assert_eq!(
                        runtimes[index].handle().metrics().snapshot().spawned,
                        before + 1
                    );
                }
            }
        }
        assert!(Handle::try_current().is_err());
    }
}

#[test]
fn a_guard_that_leaves_its_block_on_stays_and_then_goes() {
    let (outer, inner) = (runtime(1), runtime(1));
    let guard = outer.block_on(async { inner.enter() });
    drop(blitz_io::spawn(async {}));
    assert_eq!(inner.handle().metrics().snapshot().spawned, 1);
    drop(guard);
    assert!(Handle::try_current().is_err());
}

#[test]
fn computations_that_wait_for_a_thread_are_cancelled_with_their_runtime() {
    within_a_minute(|| {
        for make in [default, || runtime(1)] {
            let runtime = make();
            let workers = runtime.handle().metrics().snapshot().workers.len() - 1;
            let (release, released) = mpsc::channel::<()>();
            let released = Arc::new(std::sync::Mutex::new(released));
            let (tell, begun) = mpsc::channel();
            let blocked: Vec<_> = (0..workers)
                .map(|_| {
                    let (released, tell) = (released.clone(), tell.clone());
                    runtime.handle().spawn_cpu(move || {
                        tell.send(()).unwrap();
                        let _ = released.lock().unwrap().recv();
                    })
                })
                .collect();
            blocked.iter().for_each(|_| begun.recv().unwrap());
            let queued = runtime.handle().spawn_cpu(|| ());
            // Those that run are waited for, and not the other.
            let ending = thread::spawn(move || drop(runtime));
            let other = current_thread();
            assert!(other.block_on(queued).unwrap_err().is_cancelled());
            drop(release);
            ending.join().unwrap();
            assert!(blocked.iter().all(|job| job.is_finished()));
        }
    });
}

/// Counts itself when its thread is gone, and takes its time. On Windows nobody may wait for that.
#[cfg(not(windows))]
struct Leaves(Arc<AtomicUsize>);

#[cfg(not(windows))]
impl Drop for Leaves {
    fn drop(&mut self) {
        thread::sleep(ms(30));
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(not(windows))]
thread_local! {
    static LEAVES: RefCell<Option<Leaves>> = const { RefCell::new(None) };
}

/// A runtime, and how many of its threads have thread-locals, and how many of these are gone.
#[cfg(not(windows))]
fn with_thread_locals(builder: &mut Builder) -> (Runtime, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (begun, gone) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (begins, goes) = (begun.clone(), gone.clone());
    builder.on_thread_start(move || {
        begins.fetch_add(1, Ordering::SeqCst);
        LEAVES.set(Some(Leaves(goes.clone())));
    });
    (builder.build().unwrap(), begun, gone)
}

#[test]
#[cfg(not(windows))]
fn thread_locals_of_a_runtimes_own_threads_are_gone_when_it_is() {
    within_a_minute(|| {
        let ends: [fn(Runtime); 3] = [
            drop,
            |runtime| runtime.shutdown_timeout(ms(30_000)),
            // From one of the threads that are to go: all but that one.
            |runtime| {
                let handle = runtime.handle().clone();
                let ended = handle.spawn_blocking(move || drop(runtime));
                while !ended.is_finished() {
                    thread::yield_now();
                }
            },
        ];
        for (end, left) in ends.into_iter().zip([0, 0, 1]) {
            for workers in [0, 1, 3] {
                let mut builder = match workers {
                    0 => Builder::new_current_thread(),
                    _ => Builder::new_multi_thread(),
                };
                builder.worker_threads(workers.max(1));
                let (runtime, begun, gone) = with_thread_locals(&mut builder);
                runtime.block_on(async {
                    blitz_io::spawn_blocking(|| ()).await.unwrap();
                    let [one, other] = [(); 2].map(|()| blitz_io::spawn_blocking(|| ()));
                    one.await.unwrap();
                    other.await.unwrap();
                });
                end(runtime);
                let (begun, gone) = (begun.load(Ordering::SeqCst), gone.load(Ordering::SeqCst));
                // The one that ends the runtime may be through by now, too.
                assert!(begun > workers && gone + left >= begun, "{gone} of {begun}");
            }
        }
    });
}

#[test]
#[cfg(not(windows))]
fn a_blocking_thread_that_was_idle_for_long_is_gone_with_its_runtime_too() {
    within_a_minute(|| {
        let mut builder = Builder::new_current_thread();
        builder.thread_keep_alive(ms(1));
        let (runtime, begun, gone) = with_thread_locals(&mut builder);
        for count in 1..=3 {
            runtime.block_on(async { blitz_io::spawn_blocking(|| ()).await.unwrap() });
            // Its hook has been called, and it is about to go.
            while runtime.metrics().snapshot().blocking_threads > 0 {
                thread::yield_now();
            }
            assert_eq!(begun.load(Ordering::SeqCst), count);
        }
        drop(runtime);
        assert_eq!(gone.load(Ordering::SeqCst), 3);
    });
}
