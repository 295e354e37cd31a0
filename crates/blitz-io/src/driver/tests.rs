//! The driver with a runtime of one thread: poll the future, then attend the driver.

use super::*;
use crate::context;
use crate::time::{self, Sleep};
use mio::net::{UnixDatagram, UnixStream};
use std::future::{Future, poll_fn};
use std::io::{Read, Write};
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Instant;

/// A waker that counts.
#[derive(Default)]
struct Count(AtomicUsize);

impl Count {
    fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// A runtime of one thread.
struct Small {
    driver: Driver,
    handle: Arc<Handle>,
}

impl Small {
    fn new() -> Self {
        let (driver, handle) = new(Clock::new(true), true).unwrap();
        Self { driver, handle }
    }

    fn paused() -> Self {
        let small = Self::new();
        small.handle.clock.pause();
        small
    }

    fn enter<R>(&self, inside: impl FnOnce() -> R) -> R {
        let before = context::bare_driver::enter(self.handle.clone());
        let result = inside();
        context::bare_driver::leave(before);
        result
    }

    fn block_on<F: Future>(&mut self, future: F) -> F::Output {
        let before = context::bare_driver::enter(self.handle.clone());
        let mut future = pin!(future);
        let woken = Arc::new(Count::default());
        let waker = Waker::from(woken.clone());
        let output = loop {
            let seen = woken.get();
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                break output;
            }
            while woken.get() == seen {
                self.driver.turn(Wait::Block);
            }
        };
        context::bare_driver::leave(before);
        output
    }
}

fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> bool {
    future.poll(&mut Context::from_waker(waker)).is_ready()
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn an_interrupt_ends_a_turn_that_waits_and_the_next_one_if_none_does() {
    let mut small = Small::new();
    small.handle.interrupt();
    small.handle.interrupt();
    assert_eq!(small.driver.turn(Wait::Block), 0);

    let handle = small.handle.clone();
    let interrupter = thread::spawn(move || {
        thread::sleep(millis(20));
        handle.interrupt();
    });
    assert_eq!(small.driver.turn(Wait::Block), 0);
    interrupter.join().unwrap();
}

#[test]
fn a_look_does_not_wait() {
    let mut small = Small::new();
    assert!(!small.handle.has_interest());
    let sleep = small.enter(|| time::sleep(Duration::from_secs(100)));
    let mut sleep = pin!(sleep);
    assert!(!poll_once(sleep.as_mut(), Waker::noop()));
    assert!(small.handle.has_interest());
    let start = Instant::now();
    assert_eq!(small.driver.turn(Wait::Look), 0);
    assert!(start.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_timer_is_never_early_and_not_always_late() {
    let mut small = Small::new();
    small.block_on(async {
        for micros in (50..5000).step_by(150) {
            // The machine may be busy. A wheel with an error in it is late by milliseconds, always.
            let mut late = millis(1);
            for _ in 0..1000 {
                let deadline = time::Instant::now() + Duration::from_micros(micros);
                time::sleep_until(deadline).await;
                let now = time::Instant::now();
                assert!(now >= deadline, "early by {:?}", deadline - now);
                late = now - deadline;
                if late < millis(1) {
                    break;
                }
            }
            assert!(late < millis(1), "{micros} us: {late:?}");
        }
    });
}

#[test]
fn a_timer_earlier_than_the_one_a_turn_waits_for_moves_its_alarm() {
    for later in [false, true] {
        let mut small = Small::new();
        let handle = small.handle.clone();
        let far = small.enter(|| time::sleep(Duration::from_secs(100)));
        let mut far = pin!(far);
        if later {
            assert!(!poll_once(far.as_mut(), Waker::noop()));
        }
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        let other = thread::spawn(move || {
            thread::sleep(millis(30));
            let before = context::bare_driver::enter(handle);
            let mut near = Box::pin(time::sleep(millis(10)));
            context::bare_driver::leave(before);
            poll_once(near.as_mut(), &waker);
            near
        });
        let start = Instant::now();
        while count.get() == 0 {
            small.driver.turn(Wait::Block);
        }
        assert!(start.elapsed() < Duration::from_secs(50));
        assert!(other.join().unwrap().is_elapsed());
    }
}

#[test]
fn a_lone_timer_takes_one_turn() {
    // On the way to its tick it passes the start of its slot on two levels.
    let mut small = Small::new();
    let sleep = small.enter(|| time::sleep(millis(400)));
    let mut sleep = pin!(sleep);
    assert!(!poll_once(sleep.as_mut(), Waker::noop()));
    assert_eq!(small.driver.turn(Wait::Block), 1);
    assert!(sleep.is_elapsed());
    assert!(!small.handle.has_interest());
}

#[test]
fn a_cancelled_timer_leaves_nothing_behind() {
    let mut small = Small::new();
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut sleeps: Vec<Pin<Box<Sleep>>> = (0..1000)
        .map(|i| small.enter(|| Box::pin(time::sleep(millis(i * 97 % 5000 + 60_000)))))
        .collect();
    for sleep in &mut sleeps {
        assert!(!poll_once(sleep.as_mut(), &waker));
    }
    assert_eq!(Arc::strong_count(&count), 1002);
    drop(sleeps);
    assert_eq!(Arc::strong_count(&count), 2, "wakers are kept");
    assert!(!small.handle.has_interest());
    assert_eq!(small.driver.turn(Wait::Look), 0);
    assert_eq!(count.get(), 0);
}

#[test]
fn a_paused_clock_jumps_from_timer_to_timer() {
    let mut small = Small::paused();
    let start = Instant::now();
    small.block_on(async {
        let begin = time::Instant::now();
        for _ in 0..100 {
            time::sleep(Duration::from_secs(36)).await;
        }
        assert_eq!(begin.elapsed(), Duration::from_secs(3600));
        time::resume();
        time::sleep(millis(1)).await;
        assert!(begin.elapsed() < Duration::from_secs(3700));
    });
    assert!(start.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_paused_clock_moves_as_far_as_it_is_told_to() {
    let mut small = Small::paused();
    small.block_on(async {
        let mut minute = pin!(time::sleep(Duration::from_secs(60)));
        let mut poll = || poll_once(minute.as_mut(), Waker::noop());
        assert!(!poll());
        time::advance(Duration::from_secs(59)).await;
        assert!(!poll());
        time::advance(Duration::from_secs(1)).await;
        assert!(poll());
    });
}

#[test]
fn a_held_clock_waits_for_what_the_runtime_cannot_see() {
    let mut small = Small::paused();
    let hold = small.handle.clone().hold_clock();
    let sleep = small.enter(|| time::sleep(Duration::from_secs(60)));
    let mut sleep = pin!(sleep);
    assert!(!poll_once(sleep.as_mut(), Waker::noop()));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(millis(20));
            over.store(true, Ordering::Relaxed);
            drop(hold);
        });
        // The end of the hold ends the turn, and the next one may jump.
        assert_eq!(small.driver.turn(Wait::Block), 0);
        assert!(over.load(Ordering::Relaxed));
    });
    assert!(!sleep.is_elapsed());
    assert_eq!(small.driver.turn(Wait::Block), 1);
    assert!(sleep.is_elapsed());
}

fn pair(small: &Small) -> (Registered<UnixStream>, Registered<UnixStream>) {
    let (left, right) = UnixStream::pair().unwrap();
    small.enter(|| {
        (
            Registered::new(left).unwrap(),
            Registered::new(right).unwrap(),
        )
    })
}

#[test]
fn a_socket_is_read_when_there_is_something() {
    let mut small = Small::new();
    let (left, right) = pair(&small);
    small.block_on(async {
        for round in 0..100u8 {
            let mut read = pin!(right.io(Way::Read, |mut socket| {
                let mut buffer = [0; 8];
                let length = socket.read(&mut buffer)?;
                Ok(buffer[..length].to_vec())
            }));
            assert!(!poll_once(read.as_mut(), Waker::noop()));
            left.io(Way::Write, |mut socket| socket.write(&[round; 3]))
                .await
                .unwrap();
            assert_eq!(read.await.unwrap(), [round; 3]);
        }
    });
}

#[test]
fn bug_34_a_second_reader_does_not_take_the_place_of_the_first() {
    let mut small = Small::new();
    let (left, right) = UnixDatagram::pair().unwrap();
    let (left, right) = small.enter(|| {
        (
            Registered::new(left).unwrap(),
            Registered::new(right).unwrap(),
        )
    });
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut readers: Vec<_> = (0..5)
        .map(|_| Box::pin(right.io(Way::Read, |socket| socket.recv(&mut [0; 8]))))
        .collect();
    for reader in &mut readers {
        assert!(!poll_once(reader.as_mut(), &waker));
    }
    // The one that was woken and is cancelled takes nothing with it.
    for datagrams in [1, 3] {
        for _ in 0..datagrams {
            left.send(b"x").unwrap();
        }
        let waiting = readers.len();
        let before = count.get();
        while count.get() == before {
            small.driver.turn(Wait::Block);
        }
        assert_eq!(count.get() - before, waiting, "all are woken");
        if datagrams == 1 {
            drop(readers.remove(0));
        }
        readers.retain_mut(|reader| !poll_once(reader.as_mut(), &waker));
        assert_eq!(readers.len(), if datagrams == 1 { 3 } else { 0 });
    }
}

#[test]
fn an_event_for_a_socket_that_is_gone_reaches_nobody_else() {
    let mut small = Small::new();
    let (left, right) = pair(&small);
    let key = right.key();
    // As if the turn that fetched the event went on after the socket was closed and another one opened.
    drop(right);
    let (other, _peer) = pair(&small);
    assert_ne!(other.key(), key);
    let mut batch = WakeBatch::new();
    small
        .handle
        .sources
        .dispatch([(key, Ready::READ_CLOSED)], &mut batch);
    small.driver.turn(Wait::Look);
    let seen = small.block_on(other.ready(Interest::WRITABLE)).unwrap();
    assert!(!seen.is_read_closed());
    let (third, _peer) = pair(&small);
    assert!([third.key(), _peer.key()].contains(&key), "keys are reused");
    drop(left);
}

#[test]
fn shutdown_lets_nobody_hang() {
    let mut small = Small::new();
    let (left, _right) = pair(&small);
    let sleep = small.enter(|| time::sleep(Duration::from_secs(1000)));
    let mut sleep = pin!(sleep);
    let mut read = pin!(left.io(Way::Read, |mut socket| socket.read(&mut [0; 8])));
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    assert!(!poll_once(sleep.as_mut(), &waker));
    assert!(!poll_once(read.as_mut(), &waker));
    small.driver.shutdown();
    assert_eq!(count.get(), 2);
    let panics = |poll: &mut dyn FnMut() -> bool| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(poll)).is_err()
    };
    // Neither over before its time nor for ever.
    assert!(panics(&mut || poll_once(sleep.as_mut(), &waker)));
    let mut cx = Context::from_waker(&waker);
    assert!(matches!(read.as_mut().poll(&mut cx), Poll::Ready(Err(_))));

    let late = small.enter(|| time::sleep(Duration::from_secs(1000)));
    let mut late = pin!(late);
    assert!(panics(&mut || poll_once(late.as_mut(), &waker)));
    let now = small.enter(|| time::sleep(Duration::ZERO));
    assert!(poll_once(pin!(now), &waker));
    let (one, _two) = UnixStream::pair().unwrap();
    assert!(small.enter(|| Registered::new(one).is_err()));
    let mut ready = pin!(poll_fn(|cx| left.poll_io(Way::Write, cx, |_| Ok(()))));
    assert!(matches!(ready.as_mut().poll(&mut cx), Poll::Ready(Err(_))));
}
