//! Signals: heard by everybody who listens, and never missed between the registration and the await. Every test has a signal of its own.
#![cfg(target_os = "linux")]

mod common;

use blitz_io::signal::ctrl_c;
use blitz_io::signal::unix::{Signal, SignalKind, signal};
use blitz_io::{Builder, Runtime, spawn};
use common::{run, run_on, runtime, soon};
use futures_core::Stream;
use std::future::{Future, poll_fn};
use std::io::ErrorKind;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};

/// A signal that nobody else uses.
fn spare(number: i32) -> SignalKind {
    SignalKind::from_raw(libc::SIGRTMIN() + number)
}

/// Sends a signal to this thread; the handler is through when this returns.
fn raise(kind: SignalKind) {
    // SAFETY: somebody listens, so it does no harm.
    assert_eq!(unsafe { libc::raise(kind.as_raw_value()) }, 0);
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn is_silent(signal: &mut Signal) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    signal.poll_recv(&mut cx).is_pending()
}

#[test]
fn a_signal_between_registration_and_await_is_heard() {
    for make in [current_thread, || runtime(2)] {
        run_on(make, || async {
            let mut listener = signal(spare(0)).unwrap();
            assert!(is_silent(&mut listener));
            raise(spare(0));
            assert_eq!(soon(listener.recv()).await, Some(()));
            assert!(is_silent(&mut listener), "heard once");
            let late = signal(spare(0)).unwrap();
            assert!(is_silent(&mut { late }), "before its registration");
        });
    }
}

#[test]
fn a_signal_that_comes_while_nobody_listens_is_heard_by_the_next_one_unless_the_runtime_has_had_time_to_see_it()
 {
    run_on(current_thread, || async {
        drop(signal(spare(10)).unwrap());
        raise(spare(10));
        let mut next = signal(spare(10)).unwrap();
        assert_eq!(soon(next.recv()).await, Some(()));
        drop(next);
        raise(spare(10));
        blitz_io::time::sleep(std::time::Duration::from_millis(1)).await;
        assert!(is_silent(&mut signal(spare(10)).unwrap()), "long ago");
    });
}

#[test]
fn a_runtime_that_has_had_listeners_gives_its_descriptors_back() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    for _ in 0..300 {
        current_thread().block_on(async { drop(signal(spare(11)).unwrap()) });
    }
    // Other tests open some meanwhile.
    assert!(open() < before + 200);
}

#[test]
fn several_signals_before_a_look_are_heard_as_one() {
    run(|| async {
        let mut listener = signal(spare(1)).unwrap();
        (0..3).for_each(|_| raise(spare(1)));
        soon(listener.recv()).await.unwrap();
        assert!(is_silent(&mut listener));
        raise(spare(1));
        let next = poll_fn(|cx| Pin::new(&mut listener).poll_next(cx));
        assert_eq!(soon(next).await, Some(()), "also as a stream");
    });
}

#[test]
fn all_listeners_of_all_runtimes_hear() {
    let runtimes = [runtime(1), runtime(2), runtime(2)];
    let (ready, listening) = mpsc::channel();
    let tasks: Vec<_> = runtimes
        .iter()
        .flat_map(|runtime| (0..3).map(move |_| runtime))
        .map(|runtime| {
            let ready = ready.clone();
            runtime.spawn(async move {
                let mut listener = signal(spare(2)).unwrap();
                for _ in 0..100 {
                    ready.send(()).unwrap();
                    soon(listener.recv()).await.unwrap();
                }
            })
        })
        .collect();
    for _ in 0..100 {
        // All of them are about to await, or do.
        tasks.iter().for_each(|_| listening.recv().unwrap());
        raise(spare(2));
    }
    runtimes[0].block_on(async {
        for task in tasks {
            soon(task).await.unwrap();
        }
    });
}

#[test]
fn a_runtime_that_nobody_drives_hears_when_it_is_driven_again() {
    let runtime = current_thread();
    let mut listener = {
        let _entered = runtime.enter();
        signal(spare(3)).unwrap()
    };
    for _ in 0..3 {
        raise(spare(3));
        runtime.block_on(async { soon(listener.recv()).await.unwrap() });
        // And while it waits, from another thread.
        let other = std::thread::spawn(|| raise(spare(3)));
        runtime.block_on(async { soon(listener.recv()).await.unwrap() });
        other.join().unwrap();
    }
}

#[test]
fn a_pipe_that_is_full_loses_nothing_and_blocks_nobody() {
    let runtime = current_thread();
    let _entered = runtime.enter();
    let mut listener = signal(spare(4)).unwrap();
    let mut second = signal(spare(5)).unwrap();
    // More than the pipe holds, while nobody looks.
    (0..70_000).for_each(|_| raise(spare(4)));
    raise(spare(5));
    runtime.block_on(async {
        soon(second.recv()).await.unwrap();
        soon(listener.recv()).await.unwrap();
        assert!(is_silent(&mut listener) && is_silent(&mut second));
        raise(spare(4));
        soon(listener.recv()).await.unwrap();
        assert!(is_silent(&mut second), "another signal");
    });
}

#[test]
fn a_runtime_that_ends_tells_its_listeners_and_leaves_the_others_alone() {
    let (first, second) = (runtime(1), runtime(1));
    let [mut of_first, mut of_second] = [&first, &second].map(|runtime| {
        let _entered = runtime.enter();
        signal(spare(6)).unwrap()
    });
    let waiting = second.spawn(async move { soon(of_first.recv()).await });
    drop(first);
    second.block_on(async {
        assert_eq!(soon(waiting).await.unwrap(), None);
        raise(spare(6));
        assert_eq!(soon(of_second.recv()).await, Some(()));
    });
}

#[test]
fn ctrl_c_is_heard_and_does_not_end_the_process() {
    run(|| async {
        let mut waiting = pin!(ctrl_c());
        let first = poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx))).await;
        assert!(first.is_pending());
        // SAFETY: the process listens.
        unsafe { libc::kill(libc::getpid(), libc::SIGINT) };
        soon(waiting).await.unwrap();
    });
}

#[test]
fn signals_that_nobody_can_listen_to_are_errors_that_say_why() {
    run(|| async {
        for number in [libc::SIGKILL, libc::SIGSTOP, libc::SIGSEGV, 0, -1, 1000] {
            let error = signal(SignalKind::from_raw(number)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Other);
            assert!(error.to_string().contains(&number.to_string()), "{error}");
        }
    });
    assert_eq!(i32::from(SignalKind::hangup()), libc::SIGHUP);
}

#[test]
fn a_handler_that_was_there_before_is_called_too_and_errno_stays() {
    static CALLED: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn former(signal: i32) {
        assert_eq!(signal, spare(7).as_raw_value());
        CALLED.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: the handler only counts.
    unsafe {
        let handler = former as extern "C" fn(i32) as usize;
        libc::signal(spare(7).as_raw_value(), handler);
    }
    run(|| async {
        let mut listener = signal(spare(7)).unwrap();
        // SAFETY: this thread's own number. Writing to a full pipe would change it.
        unsafe { *libc::__errno_location() = 77 };
        raise(spare(7));
        // SAFETY: as above.
        assert_eq!(unsafe { *libc::__errno_location() }, 77);
        soon(listener.recv()).await.unwrap();
    });
    assert_eq!(CALLED.load(Ordering::Relaxed), 1);
}

#[test]
fn listeners_come_and_go_while_signals_come() {
    let stop = Arc::new(AtomicBool::new(false));
    {
        // The handler has to be there before the first one.
        let runtime = current_thread();
        let _entered = runtime.enter();
        let _listener = signal(spare(8)).unwrap();
    }
    let sender = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(Ordering::Relaxed) {
                raise(spare(8));
                std::thread::yield_now();
            }
        }
    });
    for _ in 0..3 {
        run(|| async {
            let tasks: Vec<_> = (0..8)
                .map(|_| {
                    spawn(async {
                        for round in 0..50 {
                            let mut listener = signal(spare(8)).unwrap();
                            soon(listener.recv()).await.unwrap();
                            if round % 2 == 0 {
                                soon(listener.recv()).await.unwrap();
                            }
                            // Dropped with its waker in place, now and then.
                            is_silent(&mut listener);
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
    stop.store(true, Ordering::Relaxed);
    sender.join().unwrap();
}

#[test]
fn the_handler_runs_on_the_alternate_stack_if_there_is_one() {
    run(|| async {
        let _listener = signal(SignalKind::user_defined2()).unwrap();
        // SAFETY: all zeros are a value of this type, and the kernel fills it in.
        let flags = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let asked = libc::sigaction(libc::SIGUSR2, std::ptr::null(), &mut action);
            assert_eq!(asked, 0);
            action.sa_flags
        };
        assert_ne!(flags & libc::SA_ONSTACK, 0);
    });
}

#[test]
fn many_signals_at_once_find_room_on_the_alternate_stack() {
    fn kinds() -> impl Iterator<Item = SignalKind> {
        (16..28).map(spare)
    }
    run(|| async {
        let mut listeners: Vec<_> = kinds().map(|kind| signal(kind).unwrap()).collect();
        // All of them are pending when the first handler begins: each may interrupt the one before, and each leaves a frame on that stack then.
        // SAFETY: sets to be filled, of signals that somebody listens to; the thread's mask is as it was afterwards.
        unsafe {
            let (mut ours, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&mut ours);
            for kind in kinds() {
                libc::sigaddset(&mut ours, kind.as_raw_value());
            }
            let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, &ours, &mut before);
            assert_eq!(blocked, 0);
            kinds().for_each(raise);
            let restored = libc::pthread_sigmask(libc::SIG_SETMASK, &before, &mut ours);
            assert_eq!(restored, 0);
        }
        for listener in &mut listeners {
            listener.recv().await;
        }
    });
}
