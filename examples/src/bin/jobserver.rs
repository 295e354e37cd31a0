//! A pool that is a good neighbour: as many of its threads run as make's jobserver allows.
//!
//! `make -j8` and `cargo build -j8` start programs that have threads of their own, and hand out eight tokens: whoever wants to run a second thread takes a token, and
//! gives it back when that has nothing to do. Here the handlers of the pool do so: a thread that is about to block gives its token back, and one that goes on takes
//! one, or waits until there is one. The program itself has one token for nothing, as every program under make does; the first thread that runs has that one.
//!
//! This program is its own make: it makes a jobserver with fewer tokens than the pool has threads, and checks that never more of them run.

use blitz::ThreadPoolBuilder;
use blitz::prelude::*;
use blitz_examples::Recipe;
use jobserver::{Acquired, Client};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the threads of a pool that run hold.
struct Tokens {
    client: Client,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// The token that every program has from the beginning is in use.
    implicit: bool,
    explicit: Vec<Acquired>,
}

impl Tokens {
    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread goes on.
    fn take(&self) {
        {
            let mut held = self.held();
            if !held.implicit {
                held.implicit = true;
                return;
            }
        }
        // Without the lock: it may take a while.
        let token = self.client.acquire().expect("make is still there");
        self.held().explicit.push(token);
    }

    /// A thread is about to block.
    fn give_back(&self) {
        let mut held = self.held();
        if held.explicit.pop().is_none() {
            held.implicit = false;
        }
    }
}

fn main() {
    let recipe = Recipe::start("a pool under make's jobserver");
    let (threads, explicit) = (4, 1);
    // A program that make has started uses `Client::from_env` instead.
    let client = Client::new(explicit).expect("the system has pipes");
    let tokens = Arc::new(Tokens {
        client,
        held: Mutex::default(),
    });
    let (taking, giving) = (Arc::clone(&tokens), Arc::clone(&tokens));
    let starting = Arc::clone(&tokens);
    let ending = Arc::clone(&tokens);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(move |_| starting.take())
        .park_handler(move |_| giving.give_back())
        .unpark_handler(move |_| taking.take())
        .exit_handler(move |_| ending.give_back())
        .build()
        .expect("the system has threads");

    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let collatz = |n: u64| {
        let now = running.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(now, Ordering::SeqCst);
        let (mut x, mut steps) = (n, 0_u64);
        while x != 1 {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            steps += 1;
        }
        running.fetch_sub(1, Ordering::SeqCst);
        steps
    };
    let numbers = 1..recipe.size(1_000_000, 50_000) as u64;
    let expected: u64 = numbers.clone().map(collatz).sum();
    let sum: u64 = pool.install(|| numbers.into_par_iter().map(collatz).sum());
    assert_eq!(sum, expected);
    let most = most.into_inner();
    assert!(most <= explicit + 1, "{most} threads ran at the same time");
    println!(
        "  {threads} threads, {} tokens: {most} ran at the same time at most; same result",
        explicit + 1
    );
}
