use super::tokens::{Take, Tokens};
use super::*;
use blitz_primitives::flaw::Flaws;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};

type Taking<'a> = Pin<Box<Take<'a>>>;

fn take(tokens: &Tokens) -> Taking<'_> {
    Box::pin(tokens.take(Flaws::NONE))
}

fn poll(taking: &mut Taking<'_>) -> Poll<bool> {
    taking
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn tokens_go_to_those_who_wait_in_the_order_in_which_they_came() {
    let tokens = Tokens::new(1);
    let mut takers: Vec<_> = (0..4).map(|_| take(&tokens)).collect();
    assert_eq!(poll(&mut takers[0]), Poll::Ready(true));
    for taker in &mut takers[1..] {
        assert_eq!(poll(taker), Poll::Pending);
    }
    for next in 1..4 {
        tokens.give();
        for taker in &mut takers[next + 1..] {
            assert_eq!(poll(taker), Poll::Pending);
        }
        assert_eq!(poll(&mut takers[next]), Poll::Ready(true));
    }
    tokens.give();
    assert_eq!(tokens.left(), 1);
}

#[test]
fn bug_29b_a_grant_of_a_future_that_is_dropped_goes_to_the_next() {
    let tokens = Tokens::new(0);
    let mut takers: Vec<_> = (0..3).map(|_| take(&tokens)).collect();
    for taker in &mut takers {
        assert_eq!(poll(taker), Poll::Pending);
    }
    tokens.give();
    drop(takers.remove(0));
    // The last one was only waiting, and takes nothing with it.
    drop(takers.pop());
    assert_eq!(poll(&mut takers[0]), Poll::Ready(true));
    drop(takers);
    assert_eq!(tokens.left(), 0);
}

#[test]
fn anybody_may_leave_the_line_wherever_it_stands() {
    for leaver in 0..3 {
        let tokens = Tokens::new(0);
        let mut takers: Vec<_> = (0..3).map(|_| take(&tokens)).collect();
        for taker in &mut takers {
            assert_eq!(poll(taker), Poll::Pending);
        }
        drop(takers.remove(leaver));
        for mut taker in takers {
            tokens.give();
            assert_eq!(poll(&mut taker), Poll::Ready(true));
        }
        assert_eq!(tokens.left(), 0);
    }
}

/// A waker that does something when it is called, or cloned, or dropped: here, it comes back to the same line.
struct Reenter {
    tokens: Arc<Tokens>,
    calls: AtomicUsize,
}

impl Reenter {
    fn come_back(&self) {
        let mut taking = take(&self.tokens);
        let _ = poll(&mut taking);
    }
}

impl Wake for Reenter {
    fn wake(self: Arc<Self>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.come_back();
    }
}

impl Drop for Reenter {
    fn drop(&mut self) {
        self.come_back();
    }
}

#[test]
fn bug_27_a_waker_may_come_back_to_the_line_that_calls_or_drops_it() {
    let tokens = Arc::new(Tokens::new(0));
    let reenter = || {
        Arc::new(Reenter {
            tokens: tokens.clone(),
            calls: AtomicUsize::new(0),
        })
    };
    let (first, last) = (reenter(), reenter());
    let waker = Waker::from(first.clone());
    let mut called = take(&tokens);
    let mut replaced = take(&tokens);
    let mut dropped = take(&tokens);
    assert!(
        called
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    for taking in [&mut replaced, &mut dropped] {
        let waker = Waker::from(reenter());
        assert!(
            taking
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    // The list has the last reference to both.
    let waker = Waker::from(last.clone());
    assert!(
        replaced
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(dropped);
    tokens.give();
    assert_eq!(first.calls.load(Ordering::Relaxed), 1);
    assert_eq!(poll(&mut called), Poll::Ready(true));
    tokens.dismiss_all();
    assert_eq!(last.calls.load(Ordering::Relaxed), 1);
    assert_eq!(poll(&mut replaced), Poll::Ready(false));
}

/// A task that waits again on the spot when it is woken.
struct Insatiable {
    tokens: Arc<Tokens>,
    taking: std::sync::Mutex<Option<Taking<'static>>>,
    calls: AtomicUsize,
}

impl Insatiable {
    fn wait(self: &Arc<Self>) {
        // SAFETY: the tokens live as long as this, which drops the future first.
        let tokens = unsafe { &*Arc::as_ptr(&self.tokens) };
        let mut taking = take(tokens);
        let waker = Waker::from(self.clone());
        assert!(
            taking
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        let before = self.taking.lock().unwrap().replace(taking);
        drop(before);
    }
}

impl Wake for Insatiable {
    fn wake(self: Arc<Self>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.wait();
    }
}

#[test]
fn bug_31_waking_all_ends_though_all_come_back_at_once() {
    let tokens = Arc::new(Tokens::new(0));
    // More than one batch.
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            Arc::new(Insatiable {
                tokens: tokens.clone(),
                taking: std::sync::Mutex::new(None),
                calls: AtomicUsize::new(0),
            })
        })
        .collect();
    for task in &tasks {
        task.wait();
    }
    tokens.dismiss_all();
    for task in &tasks {
        assert_eq!(task.calls.load(Ordering::Relaxed), 1);
    }
    // All wait again.
    tokens.dismiss_all();
    for task in &tasks {
        assert_eq!(task.calls.load(Ordering::Relaxed), 2);
        let taking = task.taking.lock().unwrap().take();
        drop(taking);
    }
    tokens.give();
    assert_eq!(tokens.left(), 1);
}

#[test]
fn those_who_are_about_to_be_released_may_go_away() {
    // A waker that drops futures of the same line, some of which are already in the list of those who leave.
    struct DropOthers(std::sync::Mutex<Vec<Taking<'static>>>);
    impl Wake for DropOthers {
        fn wake(self: Arc<Self>) {
            let others = std::mem::take(&mut *self.0.lock().unwrap());
            drop(others);
        }
    }
    static TOKENS: std::sync::OnceLock<Tokens> = std::sync::OnceLock::new();
    let tokens = TOKENS.get_or_init(|| Tokens::new(0));
    for keep in [0, 1, 40, 98] {
        let dropper = Arc::new(DropOthers(std::sync::Mutex::new(Vec::new())));
        let mut first = take(tokens);
        let waker = Waker::from(dropper.clone());
        assert!(
            first
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        let mut others: Vec<_> = (0..100).map(|_| take(tokens)).collect();
        for other in &mut others {
            assert!(poll(other).is_pending());
        }
        let mut kept = others.remove(keep);
        *dropper.0.lock().unwrap() = others;
        tokens.dismiss_all();
        assert_eq!(poll(&mut kept), Poll::Ready(false));
        assert_eq!(poll(&mut first), Poll::Ready(false));
        assert_eq!(tokens.left(), 0);
    }
}

#[test]
fn a_future_that_moves_to_another_task_wakes_that_one() {
    let tokens = Arc::new(Tokens::new(0));
    let task = || {
        Arc::new(Insatiable {
            tokens: Arc::new(Tokens::new(0)),
            taking: std::sync::Mutex::new(None),
            calls: AtomicUsize::new(0),
        })
    };
    let (old, new) = (task(), task());
    let mut taking = take(&tokens);
    for task in [&old, &old, &new] {
        let waker = Waker::from(task.clone());
        assert!(
            taking
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    tokens.give();
    assert_eq!(old.calls.load(Ordering::Relaxed), 0);
    assert_eq!(new.calls.load(Ordering::Relaxed), 1);
    // The waker's own future refers to itself.
    new.taking.lock().unwrap().take();
}
