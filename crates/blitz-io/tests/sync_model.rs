//! Random sequences of operations against models that are a few lines long and obviously right.
//!
//! Futures are polled by hand on one thread, so each sequence is one interleaving of tasks: some wait, some are granted what they wait for and have not noticed, some are
//! dropped in either state. After each step the lock and its model agree on who has what.

mod common;

use blitz_io::sync::{Barrier, CancellationToken, Notify, RwLock, Semaphore};
use common::poll_once;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// What happens next; numbers are taken modulo what there is.
#[derive(Debug, Clone)]
enum Step {
    /// Somebody comes and asks for so much.
    Ask(u32),
    /// One of those who wait is polled.
    Poll(usize),
    /// One of those who wait goes away.
    Drop(usize),
    /// One of those who have something gives it back.
    Return(usize),
    /// So much is added, or taken away.
    Add(usize),
    Remove(usize),
    TryAsk(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..5u32).prop_map(Step::Ask),
        4 => any::<usize>().prop_map(Step::Poll),
        2 => any::<usize>().prop_map(Step::Drop),
        4 => any::<usize>().prop_map(Step::Return),
        1 => (0..4usize).prop_map(Step::Add),
        1 => (0..3usize).prop_map(Step::Remove),
        2 => (0..5u32).prop_map(Step::TryAsk),
    ];
    prop::collection::vec(step, 1..60)
}

/// Removes the element that a number stands for.
fn pick<T>(from: &mut Vec<T>, number: usize) -> Option<T> {
    (!from.is_empty()).then(|| from.remove(number % from.len()))
}

/// Who waits for how much, and has got how much; the sum of all is constant.
#[derive(Debug, Default)]
struct Line {
    free: usize,
    /// Name, wanted, got.
    waiting: VecDeque<(usize, usize, usize)>,
    /// Those who have got all, and have not noticed.
    granted: Vec<(usize, usize)>,
}

impl Line {
    /// Whether it gets it at once.
    fn ask(&mut self, name: usize, wanted: usize) -> bool {
        if self.free >= wanted {
            self.free -= wanted;
            return true;
        }
        self.waiting.push_back((name, wanted, 0));
        self.serve();
        false
    }

    fn give(&mut self, number: usize) {
        self.free += number;
        self.serve();
    }

    /// All that is free goes to the first, until it has enough.
    fn serve(&mut self) {
        while let Some((name, wanted, got)) = self.waiting.front_mut() {
            let part = self.free.min(*wanted - *got);
            *got += part;
            self.free -= part;
            if got < wanted {
                return;
            }
            self.granted.push((*name, *wanted));
            self.waiting.pop_front();
        }
    }

    /// Takes somebody out of the granted, if it is there.
    fn notices(&mut self, name: usize) -> bool {
        let before = self.granted.len();
        self.granted.retain(|(granted, _)| *granted != name);
        self.granted.len() < before
    }

    fn leave(&mut self, name: usize) {
        let granted = self.granted.iter().find(|(granted, _)| *granted == name);
        let mut back = granted.map_or(0, |(_, number)| *number);
        self.notices(name);
        if let Some(place) = self.waiting.iter().position(|(waits, ..)| *waits == name) {
            back += self.waiting.remove(place).unwrap().2;
        }
        self.give(back);
    }
}

/// Drives a lock that is made of permits. `ask` says what a request of a number is for.
fn drive<'a, P>(
    mut line: Line,
    steps: Vec<Step>,
    ask: impl Fn(u32) -> (usize, Pending<'a, P>),
    try_ask: impl Fn(u32) -> (usize, Option<P>),
    change: impl Fn(Step) -> Option<isize>,
    free: impl Fn() -> usize,
) {
    let mut waiting: Vec<(usize, usize, Pending<'a, P>)> = Vec::new();
    let mut holding: Vec<(usize, P)> = Vec::new();
    for (name, step) in steps.into_iter().enumerate() {
        match step {
            Step::Ask(number) => {
                let (wanted, mut future) = ask(number);
                match poll_once(future.as_mut()) {
                    Poll::Ready(permit) => {
                        assert!(line.ask(name, wanted));
                        holding.push((wanted, permit));
                    }
                    Poll::Pending => {
                        assert!(!line.ask(name, wanted));
                        waiting.push((name, wanted, future));
                    }
                }
            }
            Step::TryAsk(number) => {
                let (wanted, permit) = try_ask(number);
                assert_eq!(permit.is_some(), line.free >= wanted);
                if let Some(permit) = permit {
                    assert!(line.ask(name, wanted));
                    holding.push((wanted, permit));
                }
            }
            Step::Poll(number) => {
                if let Some((name, wanted, mut future)) = pick(&mut waiting, number) {
                    match poll_once(future.as_mut()) {
                        Poll::Ready(permit) => {
                            assert!(line.notices(name), "served too early");
                            holding.push((wanted, permit));
                        }
                        Poll::Pending => {
                            assert!(!line.notices(name), "served too late");
                            waiting.push((name, wanted, future));
                        }
                    }
                }
            }
            Step::Drop(number) => {
                if let Some((name, ..)) = pick(&mut waiting, number) {
                    line.leave(name);
                }
            }
            Step::Return(number) => {
                if let Some((wanted, permit)) = pick(&mut holding, number) {
                    drop(permit);
                    line.give(wanted);
                }
            }
            other => match change(other) {
                Some(more) if more >= 0 => line.give(more as usize),
                Some(fewer) => line.free -= fewer.unsigned_abs(),
                None => {}
            },
        }
        assert_eq!(free(), line.free);
    }
    // Everybody goes: all of it comes back.
    for (name, ..) in waiting.drain(..) {
        line.leave(name);
    }
    for (wanted, permit) in holding.drain(..) {
        drop(permit);
        line.give(wanted);
    }
    assert_eq!(free(), line.free);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_semaphore_does_what_a_line_of_people_would(steps in steps(), permits in 0..6usize) {
        let semaphore = &Semaphore::new(permits);
        drive(
            Line { free: permits, ..Line::default() },
            steps,
            |number| (number as usize, Box::pin(async move { semaphore.acquire_many(number).await.unwrap() })),
            |number| (number as usize, semaphore.try_acquire_many(number).ok()),
            |step| match step {
                Step::Add(number) => {
                    semaphore.add_permits(number);
                    Some(number as isize)
                }
                Step::Remove(number) => Some(-(semaphore.forget_permits(number) as isize)),
                _ => None,
            },
            || semaphore.available_permits(),
        );
    }

    /// With at most four readers, of which a writer needs all.
    #[test]
    fn a_read_write_lock_does_what_a_line_of_people_would(steps in steps()) {
        #[allow(dead_code, reason = "they are held")]
        enum Guard<'a> {
            Read(blitz_io::sync::RwLockReadGuard<'a, u32>),
            Write(blitz_io::sync::RwLockWriteGuard<'a, u32>),
        }
        let lock = &RwLock::with_max_readers(0, 4);
        drive(
            Line { free: 4, ..Line::default() },
            steps,
            |number| if number > 3 {
                (4, Box::pin(async { Guard::Write(lock.write().await) }) as Pending<'_, _>)
            } else {
                (1, Box::pin(async { Guard::Read(lock.read().await) }))
            },
            |number| if number > 3 {
                (4, lock.try_write().ok().map(Guard::Write))
            } else {
                (1, lock.try_read().ok().map(Guard::Read))
            },
            |_| None,
            || {
                // As many as can be had.
                let mut guards = Vec::new();
                while let Ok(guard) = lock.try_read() {
                    guards.push(guard);
                }
                guards.len()
            },
        );
    }

    /// The model: names of those who wait, and whether there is a permit.
    #[test]
    fn notifications_go_where_they_should(steps in steps()) {
        let notify = &Notify::new();
        let mut permit = false;
        let mut line: VecDeque<usize> = VecDeque::new();
        // Notified by a single notification, or with all others.
        let mut one: Vec<usize> = Vec::new();
        let mut all: Vec<usize> = Vec::new();
        let mut futures: Vec<(usize, Pin<Box<blitz_io::sync::futures::Notified<'_>>>)> = Vec::new();
        for (name, step) in steps.into_iter().enumerate() {
            let tell_one = |line: &mut VecDeque<usize>, one: &mut Vec<usize>, permit: &mut bool| {
                match line.pop_front() {
                    Some(first) => one.push(first),
                    None => *permit = true,
                }
            };
            match step {
                Step::Ask(_) | Step::TryAsk(_) => {
                    let mut future = Box::pin(notify.notified());
                    let ready = future.as_mut().enable();
                    prop_assert_eq!(ready, std::mem::take(&mut permit));
                    if !ready {
                        line.push_back(name);
                        futures.push((name, future));
                    }
                }
                Step::Poll(number) => if let Some((name, mut future)) = pick(&mut futures, number) {
                    let notified = one.contains(&name) || all.contains(&name);
                    prop_assert_eq!(poll_once(future.as_mut()).is_ready(), notified);
                    if notified {
                        one.retain(|other| *other != name);
                    } else {
                        futures.push((name, future));
                    }
                },
                Step::Drop(number) => if let Some((name, future)) = pick(&mut futures, number) {
                    drop(future);
                    line.retain(|other| *other != name);
                    if one.contains(&name) {
                        one.retain(|other| *other != name);
                        tell_one(&mut line, &mut one, &mut permit);
                    }
                },
                Step::Return(_) | Step::Remove(_) => {
                    notify.notify_one();
                    tell_one(&mut line, &mut one, &mut permit);
                }
                Step::Add(_) => {
                    notify.notify_waiters();
                    all.extend(line.drain(..));
                }
            }
        }
    }

    /// The model: names of those who have come in this round.
    #[test]
    fn a_barrier_opens_when_the_last_one_comes(steps in steps(), size in 1..5usize) {
        let barrier = &Barrier::new(size);
        let mut round: Vec<usize> = Vec::new();
        let mut futures: Vec<(usize, Pending<'_, _>)> = Vec::new();
        for (name, step) in steps.into_iter().enumerate() {
            match step {
                Step::Ask(_) | Step::TryAsk(_) | Step::Add(_) => {
                    let mut future: Pending<'_, _> = Box::pin(barrier.wait());
                    match poll_once(future.as_mut()) {
                        Poll::Ready(result) => {
                            prop_assert!(result.is_leader());
                            prop_assert_eq!(round.len() + 1, size);
                            round.clear();
                        }
                        Poll::Pending => {
                            round.push(name);
                            prop_assert!(round.len() < size);
                            futures.push((name, future));
                        }
                    }
                }
                Step::Drop(number) | Step::Remove(number) => {
                    if let Some((name, future)) = pick(&mut futures, number) {
                        drop(future);
                        round.retain(|other| *other != name);
                    }
                }
                Step::Poll(number) | Step::Return(number) => {
                    if let Some((name, mut future)) = pick(&mut futures, number) {
                        let polled = poll_once(future.as_mut());
                        prop_assert_eq!(polled.is_pending(), round.contains(&name));
                        if polled.is_pending() {
                            futures.push((name, future));
                        }
                    }
                }
            }
        }
    }

    /// The model: who is whose parent, and a walk up for each question.
    #[test]
    fn tokens_are_cancelled_with_those_above(steps in steps()) {
        struct Model {
            parent: Option<usize>,
            cancelled: bool,
        }
        let mut model = vec![Model { parent: None, cancelled: false }];
        let mut tokens = vec![(0, CancellationToken::new())];
        for step in steps {
            match step {
                Step::Ask(number) => if let Some((name, token)) = tokens.get(number as usize % tokens.len().max(1)) {
                    let (parent, child) = (Some(*name), token.child_token());
                    // A child of a cancelled one is cancelled by the walk.
                    tokens.push((model.len(), child));
                    model.push(Model { parent, cancelled: false });
                },
                Step::Poll(number) | Step::Drop(number) => drop(pick(&mut tokens, number)),
                Step::Return(number) => if let Some((name, token)) = pick(&mut tokens, number) {
                    token.cancel();
                    model[name].cancelled = true;
                    tokens.push((name, token));
                },
                Step::Add(_) | Step::Remove(_) | Step::TryAsk(_) => {
                    tokens.push((model.len(), CancellationToken::new()));
                    model.push(Model { parent: None, cancelled: false });
                }
            }
            for (name, token) in &tokens {
                let mut above = Some(*name);
                let mut cancelled = false;
                while let Some(name) = above {
                    cancelled |= model[name].cancelled;
                    above = model[name].parent;
                }
                prop_assert_eq!(token.is_cancelled(), cancelled);
            }
        }
    }
}
