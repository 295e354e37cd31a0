//! What programs written for tokio rely on without saying so.

use blitz_io::runtime::{self, Builder, Handle, LocalRuntime, Runtime};
use blitz_io::task::{self, JoinSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use std::time::Duration;

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn workers(count: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(count).enable_all().build().unwrap()
}

#[test]
fn tasks_of_one_thread_begin_in_the_order_in_which_they_were_spawned() {
    current_thread().block_on(async {
        let begun = Arc::new(std::sync::Mutex::new(Vec::new()));
        let spawn = |number| {
            let begun = Arc::clone(&begun);
            blitz_io::spawn(async move { begun.lock().unwrap().push(number) })
        };
        for task in (0..5).map(spawn).collect::<Vec<_>>() {
            task.await.unwrap();
        }
        assert_eq!(*begun.lock().unwrap(), [0, 1, 2, 3, 4]);
    });
}

#[test]
fn the_main_future_goes_before_tasks_that_were_spawned_outside() {
    let runtime = current_thread();
    let begun = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&begun);
    runtime.spawn(async move { begins.store(true, Ordering::Relaxed) });
    assert!(!runtime.block_on(async { begun.load(Ordering::Relaxed) }));
    assert!(!begun.load(Ordering::Relaxed), "nothing was waited for");
    runtime.block_on(task::yield_now());
    assert!(begun.load(Ordering::Relaxed));
}

#[test]
fn a_main_future_that_has_yielded_once_knows_of_its_sockets() {
    current_thread().block_on(async {
        let socket = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        task::yield_now().await;
        assert_eq!(socket.try_send_to(&[1], address).unwrap(), 1);
    });
}

#[test]
fn tasks_of_one_thread_go_on_in_the_order_in_which_they_were_woken() {
    current_thread().block_on(async {
        let bell = Arc::new(blitz_io::sync::Notify::new());
        let woken = Arc::new(std::sync::Mutex::new(Vec::new()));
        let spawn = |number| {
            let (bell, woken) = (Arc::clone(&bell), Arc::clone(&woken));
            blitz_io::spawn(async move {
                bell.notified().await;
                woken.lock().unwrap().push(number);
            })
        };
        let tasks = (0..5).map(spawn).collect::<Vec<_>>();
        task::yield_now().await;
        bell.notify_waiters();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*woken.lock().unwrap(), [0, 1, 2, 3, 4]);
    });
}

#[test]
fn threads_that_begin_are_in_their_runtime() {
    for _ in 0..20 {
        let (sender, found) = mpsc::channel();
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .on_thread_start(move || sender.send(Handle::try_current().is_ok()).unwrap())
            .build()
            .unwrap();
        drop(runtime);
        assert_eq!(found.iter().collect::<Vec<_>>(), [true, true]);
    }
}

/// Runs this test in a process of its own, with that in its environment.
fn again_with(test: &str, value: &str) -> std::process::Output {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("TOKIO_WORKER_THREADS", value)
        .output()
        .unwrap()
}

#[test]
fn the_environment_may_say_how_many_workers_there_are() {
    if std::env::var_os("TOKIO_WORKER_THREADS").is_some() {
        assert_eq!(current_thread().metrics().num_workers(), 1);
        assert_eq!(workers(2).metrics().num_workers(), 2);
        assert_eq!(Runtime::new().unwrap().metrics().num_workers(), 3);
        return;
    }
    let test = "the_environment_may_say_how_many_workers_there_are";
    assert!(again_with(test, "3").status.success());
    for (wrong, complaint) in [("0", "cannot be set to 0"), ("many", "value: many")] {
        let output = again_with(test, wrong);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(complaint),
            "{said}"
        );
    }
}

#[test]
fn a_task_that_yields_until_something_happens_finds_out_soon() {
    current_thread().block_on(async {
        let yielded = blitz_io::spawn(async {
            let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await;
            let listener = listener.unwrap();
            let address = listener.local_addr().unwrap();
            let accepted = AtomicBool::new(false);
            let yields = async {
                let _client = std::net::TcpStream::connect(address).unwrap();
                let mut yields = 0;
                while !accepted.load(Ordering::Relaxed) && yields < 1000 {
                    task::yield_now().await;
                    yields += 1;
                }
                yields
            };
            let accepts = async {
                listener.accept().await.unwrap();
                accepted.store(true, Ordering::Relaxed);
            };
            blitz_io::join!(yields, accepts).0
        });
        let yielded = yielded.await.unwrap();
        assert!(yielded <= 16, "{yielded}");
    });
}

#[test]
fn a_task_that_always_goes_on_and_the_main_future_take_turns() {
    current_thread().block_on(async {
        let turns = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&turns);
        blitz_io::spawn(async move {
            loop {
                counter.fetch_add(1, Ordering::Relaxed);
                task::yield_now().await;
            }
        });
        for _ in 0..100 {
            task::yield_now().await;
        }
        let turns = turns.load(Ordering::Relaxed);
        assert!((99..=101).contains(&turns), "{turns}");
    });
}

#[test]
fn a_task_that_wakes_the_main_future_and_yields_lets_it_go_on() {
    current_thread().block_on(async {
        let (sender, mut receiver) = blitz_io::sync::watch::channel(0);
        blitz_io::spawn(async move {
            for number in 1..=20 {
                sender.send(number).unwrap();
                task::yield_now().await;
                task::yield_now().await;
            }
        });
        let mut seen = Vec::new();
        while receiver.changed().await.is_ok() {
            seen.push(*receiver.borrow_and_update());
        }
        assert_eq!(seen, (1..=20).collect::<Vec<_>>());
    });
}

#[test]
fn a_closure_whose_thread_is_on_its_way_is_run_although_the_runtime_ends() {
    for _ in 0..100 {
        let runtime = current_thread();
        let answer = runtime.spawn_blocking(|| 42);
        runtime.shutdown_timeout(Duration::from_secs(100));
        assert_eq!(current_thread().block_on(answer).unwrap(), 42);
    }
}

#[test]
fn a_runtime_that_ends_runs_the_closures_that_still_wait_for_a_thread() {
    let ends: [fn(Runtime); 2] = [drop, |runtime| {
        runtime.shutdown_timeout(Duration::from_secs(100));
    }];
    for end in ends {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.max_blocking_threads(1).build().unwrap();
        let (release, released) = mpsc::channel::<()>();
        runtime.spawn_blocking(move || released.recv());
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..5 {
            let done = Arc::clone(&done);
            runtime.spawn_blocking(move || done.fetch_add(1, Ordering::Relaxed));
        }
        let handle = runtime.handle().clone();
        let releases = std::thread::spawn(move || {
            // The only thread is busy: what comes is at once at its end only if it is refused, when the runtime ends.
            while !handle.spawn_blocking(|| ()).is_finished() {
                std::thread::yield_now();
            }
            drop(release);
        });
        end(runtime);
        assert_eq!(done.load(Ordering::Relaxed), 5);
        releases.join().unwrap();
    }
}

#[test]
fn closures_that_still_wait_for_a_thread_when_the_time_is_up_are_cancelled() {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.max_blocking_threads(1).build().unwrap();
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    let runs = runtime.spawn_blocking(move || {
        begin.send(()).unwrap();
        released.recv()
    });
    begun.recv().unwrap();
    let waits = runtime.spawn_blocking(|| ());
    runtime.shutdown_timeout(Duration::from_millis(1));
    drop(release);
    let elsewhere = current_thread();
    assert!(elsewhere.block_on(waits).unwrap_err().is_cancelled());
    assert!(elsewhere.block_on(runs).unwrap().is_err());
}

#[test]
fn every_thread_is_heard_of_however_soon_the_runtime_ends() {
    for _ in 0..100 {
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (begins, ends) = (Arc::clone(&begun), Arc::clone(&ended));
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .on_thread_start(move || {
                begins.fetch_add(1, Ordering::Relaxed);
            })
            .on_thread_stop(move || {
                ends.fetch_add(1, Ordering::Relaxed);
            })
            .build()
            .unwrap();
        runtime.spawn(std::future::pending::<()>());
        drop(runtime);
        let begun = begun.load(Ordering::Relaxed);
        assert!(begun >= 2, "{begun}");
        assert_eq!(ended.load(Ordering::Relaxed), begun);
    }
}

#[test]
fn all_workers_of_an_idle_runtime_are_known_to_sleep() {
    for _ in 0..20 {
        let runtime = workers(3);
        let metrics = runtime.metrics();
        let asleep = |worker| metrics.worker_park_unpark_count(worker) % 2 == 1;
        while !(0..3).all(asleep) {
            std::thread::yield_now();
        }
        drop(runtime);
        assert!(!(0..3).any(asleep));
        assert!((0..3).all(|worker| metrics.worker_total_busy_duration(worker) > Duration::ZERO));
    }
}

#[test]
fn what_is_done_before_a_sleep_is_noticed() {
    let notify = Arc::new(blitz_io::sync::Notify::new());
    let theirs = Arc::clone(&notify);
    let runtime = Builder::new_current_thread()
        .on_thread_park(move || {
            let notify = Arc::clone(&theirs);
            blitz_io::spawn(async move { notify.notify_one() });
        })
        .build()
        .unwrap();
    // Nobody else would ever wake this.
    runtime.block_on(notify.notified());
}

#[test]
fn what_a_future_holds_is_dropped_while_it_panics() {
    struct Panics(mpsc::Sender<bool>);
    impl Future for Panics {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            panic!("as it should");
        }
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.send(std::thread::panicking()).unwrap();
            // Twice is not the end of the process.
            panic!("as it should, again");
        }
    }
    let (sent, received) = mpsc::channel();
    let runtime = current_thread();
    let joined = runtime.block_on(runtime.spawn(Panics(sent)));
    assert!(joined.unwrap_err().is_panic());
    assert_eq!(received.iter().collect::<Vec<_>>(), [true]);
}

#[test]
fn a_local_runtime_takes_local_tasks_from_whatever_is_in_it_on_its_thread() {
    let runtime = LocalRuntime::new().unwrap();
    let by_guard = {
        let _guard = runtime.enter();
        task::spawn_local(async { 1 })
    };
    let by_task = runtime.handle().spawn(async {
        let inner = task::spawn_local(async { *std::rc::Rc::new(2) });
        inner.await.unwrap()
    });
    assert_eq!(runtime.metrics().num_alive_tasks(), 2);
    let sum = runtime.block_on(async { by_guard.await.unwrap() + by_task.await.unwrap() });
    assert_eq!(sum, 3);

    let handle = runtime.handle().clone();
    let elsewhere = std::thread::spawn(move || {
        let _guard = handle.enter();
        drop(task::spawn_local(async {}));
    });
    let panic = elsewhere.join().unwrap_err();
    let message = panic.downcast::<&str>().unwrap();
    assert!(message.contains("from the thread"), "{message}");
}

#[test]
fn tasks_have_names_and_their_ends_tell_them() {
    let runtime = workers(2);
    runtime.block_on(async {
        assert_eq!(task::try_id(), None);
        let mut set = JoinSet::new();
        let first = set.spawn(async { task::id() });
        let second = set.spawn(async { panic!("as it should") });
        let third = set.spawn(std::future::pending());
        third.abort();
        let mut seen = 0;
        while let Some(joined) = set.join_next_with_id().await {
            seen += 1;
            match joined {
                Ok((id, inside)) => assert_eq!((id, inside), (first.id(), first.id())),
                Err(error) if error.is_panic() => {
                    assert_eq!(error.id(), second.id());
                    let said = format!(
                        "task {} panicked with message \"as it should\"",
                        second.id()
                    );
                    assert_eq!(error.to_string(), said);
                }
                Err(error) => {
                    assert_eq!(error.id(), third.id());
                    assert_eq!(
                        error.to_string(),
                        format!("task {} was cancelled", third.id())
                    );
                }
            }
        }
        assert_eq!(seen, 3);
    });
}

#[test]
fn a_set_that_has_let_its_tasks_go_hears_nothing_of_them() {
    let runtime = current_thread();
    runtime.block_on(async {
        let mut set = JoinSet::new();
        let (go, may_go) = blitz_io::sync::oneshot::channel();
        set.spawn(async move { may_go.await.unwrap() });
        set.detach_all();
        assert!(set.join_next().await.is_none());
        // In the place of the one that is gone.
        let waits = set.spawn(std::future::pending());
        go.send(()).unwrap();
        for _ in 0..10 {
            task::yield_now().await;
        }
        assert!(set.try_join_next().is_none());
        waits.abort();
        assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    });
}

#[test]
fn runtimes_have_numbers_kinds_and_perhaps_names() {
    let named = Builder::new_current_thread().name("tiny").build().unwrap();
    let other = workers(1);
    assert_eq!(named.handle().name(), Some("tiny"));
    assert_eq!(other.handle().name(), None);
    assert_ne!(named.handle().id(), other.handle().id());
    let flavor = |runtime: &Runtime| runtime.handle().runtime_flavor();
    assert_eq!(flavor(&named), runtime::RuntimeFlavor::CurrentThread);
    assert_eq!(flavor(&other), runtime::RuntimeFlavor::MultiThread);
    assert_eq!(named.block_on(async { runtime::worker_index() }), Some(0));
    assert_eq!(other.block_on(async { runtime::worker_index() }), None);
    // As long as the worker is still starting, another thread may stand in for it.
    let index = || other.block_on(other.spawn(async { runtime::worker_index() }));
    let index = std::iter::repeat_with(index).find_map(Result::unwrap);
    assert_eq!(index, Some(0));
    assert!(Handle::try_current().unwrap_err().is_missing_context());
}

#[test]
fn a_socket_of_a_runtime_that_has_ended_says_so() {
    let gone = current_thread();
    let listener = gone.block_on(blitz_io::net::TcpListener::bind("127.0.0.1:0"));
    let listener = listener.unwrap();
    drop(gone);
    let error = current_thread().block_on(listener.accept()).unwrap_err();
    assert!(runtime::is_rt_shutdown_err(&error), "{error}");
}

#[test]
fn a_file_operation_after_the_end_of_the_runtime_fails_in_tokios_words() {
    for runtime in [current_thread(), workers(2), Runtime::new().unwrap()] {
        let _entered = runtime.enter();
        runtime.shutdown_timeout(Duration::from_secs(60));
        let read = Handle::current().block_on(blitz_io::fs::read_to_string("Cargo.toml"));
        let error = read.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Other);
        assert_eq!(
            error.get_ref().unwrap().to_string(),
            "background task failed"
        );
    }
}

#[test]
fn streams_fail_in_tokios_words() {
    use blitz_io::io::AsyncReadExt;
    use blitz_io::net::{TcpListener, TcpStream};
    current_thread().block_on(async {
        let error = (&b"abc"[..]).read_exact(&mut [0; 4]).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
        assert_eq!(error.to_string(), "early eof");
        let error = (&b"abc"[..]).read_u32().await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
        assert_eq!(error.to_string(), "unexpected end of file");
        let nowhere: &[std::net::SocketAddr] = &[];
        let error = TcpStream::connect(nowhere).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert_eq!(error.to_string(), "could not resolve to any address");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let [one, other] = [(); 2].map(|()| TcpStream::connect(address));
        let (reader, _writer) = one.await.unwrap().into_split();
        let (_reader, writer) = other.await.unwrap().into_split();
        let error = reader.reunite(writer).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tried to reunite halves that are not from the same socket"
        );
    });
}

#[test]
#[cfg(target_pointer_width = "64")]
fn what_macros_await_is_small() {
    let one = async {
        blitz_io::select! { _ = std::future::ready(0_i32) => {} }
    };
    assert!(size_of_val(&one) <= 32, "{}", size_of_val(&one));
    let (first, second) = (std::future::ready(0_i32), std::future::ready(0_i32));
    let either = async move {
        blitz_io::select! { _ = first => {}, _ = second => {} }
    };
    assert!(size_of_val(&either) <= 56, "{}", size_of_val(&either));
    let either = async {
        let (first, second) = (std::future::ready(0_i32), std::future::ready(0_i32));
        blitz_io::select! { _ = first => {}, _ = second => {} }
    };
    assert!(size_of_val(&either) <= 40, "{}", size_of_val(&either));
    let two = async { blitz_io::join!(std::future::ready(0_i32), std::future::ready(0_i32)) };
    assert!(size_of_val(&two) <= 48, "{}", size_of_val(&two));
}

/// About 600 KB, and its poll takes more; a thread of 2 MB, a worker's or a test's, has room for little else.
async fn large() -> usize {
    let bytes = [1u8; 200 << 10];
    task::yield_now().await;
    let larger = async move {
        let more = [2u8; 200 << 10];
        task::yield_now().await;
        usize::from(bytes[1] + more[1])
    };
    blitz_io::spawn(larger).await.unwrap()
}

#[test]
fn tasks_may_be_large_compared_to_the_stacks_of_workers() {
    let runtime = workers(1);
    assert_eq!(runtime.block_on(runtime.spawn(large())).unwrap(), 3);
}

#[test]
fn tasks_of_a_set_may_be_large_compared_to_the_stack() {
    let local = task::LocalSet::new();
    let in_set = local.spawn_local(large());
    let runtime = current_thread();
    assert_eq!(local.block_on(&runtime, in_set).unwrap(), 3);
}

#[test]
fn a_spawn_outside_of_a_runtime_panics_where_it_was_called() {
    use std::panic;
    use std::sync::{Arc, Mutex};
    let file = Arc::new(Mutex::new(None));
    let told = Arc::clone(&file);
    let before = panic::take_hook();
    let mine = std::thread::current().id();
    panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == mine {
            *told.lock().unwrap() = info.location().map(|place| place.file().to_string());
        }
    }));
    let spawned = panic::catch_unwind(|| drop(blitz_io::spawn(async {})));
    panic::set_hook(before);
    assert!(spawned.is_err());
    assert_eq!(file.lock().unwrap().as_deref(), Some(file!()));
}
