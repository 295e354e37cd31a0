//! Shows that the sanitizer sees what it should, before its silence about the tests is believed.
//!
//! `racy quiet` hands data from thread to thread in every way that the standard library has, none of which may be reported;
//! `racy plain` writes without any order, `racy relaxed` publishes by a flag that orders nothing, and `racy fence` drops what others
//! used without the fence that an `Arc` has. Each of these must be reported.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, mpsc};
use std::thread;
use std::time::Duration;

/// A number that anybody may write without asking.
#[derive(Default)]
struct Bare(UnsafeCell<u64>);

// SAFETY: it is not; that is what the sanitizer is there to say.
unsafe impl Sync for Bare {}

impl Bare {
    fn add(&self) {
        // SAFETY: as above; the kinds of order that are tested here make it true, or not.
        unsafe { *self.0.get() += 1 };
    }
}

const THREADS: u64 = 4;
const ROUNDS: u64 = 500;

fn locks() {
    let all: Arc<(Mutex<u64>, Condvar, Bare, RwLock<()>, Bare)> = Arc::default();
    let threads = (0..THREADS).map(|_| {
        let all = Arc::clone(&all);
        thread::spawn(move || {
            for round in 0..ROUNDS {
                let mut guard = all.0.lock().unwrap();
                all.2.add();
                if round % 16 == 0 {
                    all.1.notify_all();
                    let patience = Duration::from_micros(50);
                    guard = all.1.wait_timeout(guard, patience).unwrap().0;
                    all.2.add();
                }
                drop(guard);
                let _writing = all.3.write().unwrap();
                all.4.add();
            }
        })
    });
    // Nobody is joined: the last one drops it all.
    drop(threads.collect::<Vec<_>>());
}

fn messages() {
    let (sender, receiver) = mpsc::sync_channel(3);
    let (reply, replies) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || (0..ROUNDS).for_each(|n| sender.send(Box::new(n)).unwrap()));
        scope.spawn(move || receiver.iter().for_each(|n| reply.send(n).unwrap()));
        assert_eq!(
            replies.iter().map(|n| *n).sum::<u64>(),
            ROUNDS * (ROUNDS - 1) / 2
        );
    });
}

fn meetings() {
    let (barrier, once) = (Barrier::new(2), Once::new());
    let (turns, first, scoped) = (Bare::default(), Bare::default(), Bare::default());
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            for round in 0..ROUNDS {
                barrier.wait();
                if round % 2 == 0 {
                    turns.add();
                }
            }
            once.call_once(|| first.add());
        });
        for round in 0..ROUNDS {
            barrier.wait();
            if round % 2 == 1 {
                turns.add();
            }
        }
        once.call_once(|| first.add());
        first.add();
        other.join().unwrap();
        scope.spawn(|| scoped.add());
    });
    scoped.add();
    first.add();
    turns.add();
}

/// Two threads, one after the other in time, by a flag with the given orders.
fn published(release: Ordering, acquire: Ordering) {
    let shared: Arc<(Bare, AtomicUsize)> = Arc::default();
    let theirs = Arc::clone(&shared);
    let writer = thread::spawn(move || {
        theirs.0.add();
        theirs.1.store(1, release);
    });
    while shared.1.load(acquire) == 0 {
        thread::yield_now();
    }
    shared.0.add();
    writer.join().unwrap();
}

/// Threads that use something and give it up; the last one uses it again, as a destructor would.
fn given_up(last: impl Fn() + Send + Sync) {
    let (bare, left) = ([const { Bare(UnsafeCell::new(0)) }; 2], AtomicUsize::new(2));
    thread::scope(|scope| {
        for mine in &bare {
            let (bare, left, last) = (&bare, &left, &last);
            scope.spawn(move || {
                mine.add();
                if left.fetch_sub(1, Ordering::Release) == 1 {
                    last();
                    bare.iter().for_each(Bare::add);
                }
            });
        }
    });
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("quiet") => {
            locks();
            messages();
            meetings();
            published(Ordering::Release, Ordering::Acquire);
            (0..100).for_each(|_| given_up(|| fence(Ordering::Acquire)));
        }
        Some("plain") => {
            let bare = Bare::default();
            let add = || {
                for _ in 0..ROUNDS {
                    bare.add();
                    thread::yield_now();
                }
            };
            thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(add))));
        }
        Some("relaxed") => published(Ordering::Relaxed, Ordering::Relaxed),
        Some("fence") => (0..100).for_each(|_| given_up(|| ())),
        other => panic!("quiet, plain, relaxed or fence? not {other:?}"),
    }
    thread::sleep(Duration::from_millis(100));
}
