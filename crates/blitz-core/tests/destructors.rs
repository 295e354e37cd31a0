//! Destructors that compute while their thread unwinds, because it was stopped or has panicked: nothing stops them, on whichever thread their work runs. If something did, the process would abort.
#![cfg(not(loom))]

use blitz_core::{
    CancelToken, ThreadPool, ThreadPoolBuilder, checkpoint, fork, in_place_scope, is_cancelled,
    join, scope, spawn_handle,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap()
}

/// Calls its closure when it is dropped.
struct AtTheEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtTheEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Lasts until another thread has begun `right`, or, on a pool without another, for a while.
fn stolen(right: impl FnOnce() + Send) {
    let begun = AtomicBool::new(false);
    let patience = Duration::from_secs(10);
    join(
        || {
            let start = Instant::now();
            while !begun.load(Ordering::SeqCst) && start.elapsed() < patience {
                thread::yield_now();
            }
        },
        || {
            begun.store(true, Ordering::SeqCst);
            right();
        },
    );
}

type Work = fn(&AtomicUsize);

/// What destructors do here: each counts 3, and has check points on other threads.
const WORKS: [(&str, Work); 8] = [
    ("a join", |count| {
        checkpoint();
        stolen(|| {
            checkpoint();
            count.fetch_add(3, Ordering::SeqCst);
        });
    }),
    ("joins in joins", |count| {
        stolen(|| {
            count.fetch_add(1, Ordering::SeqCst);
            stolen(|| {
                checkpoint();
                count.fetch_add(1, Ordering::SeqCst);
                stolen(|| {
                    checkpoint();
                    assert!(!is_cancelled());
                    count.fetch_add(1, Ordering::SeqCst);
                });
            });
        });
    }),
    ("a scope", |count| {
        scope(|s| {
            for _ in 0..3 {
                s.spawn(|_| {
                    checkpoint();
                    count.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
    }),
    ("a scope in place", |count| {
        in_place_scope(|s| {
            s.spawn(|s| {
                s.spawn(|_| {
                    checkpoint();
                    count.fetch_add(3, Ordering::SeqCst);
                });
            });
        });
    }),
    ("a handle", |count| {
        let task = spawn_handle(|| {
            checkpoint();
            3
        });
        count.fetch_add(task.join().unwrap(), Ordering::SeqCst);
    }),
    ("a fork", |count| {
        let three = || {
            checkpoint();
            3
        };
        count.fetch_add(fork(three, |three| three.join()), Ordering::SeqCst);
    }),
    ("another pool", |count| {
        let three = || {
            checkpoint();
            stolen(checkpoint);
            3
        };
        count.fetch_add(pool(2).install(three), Ordering::SeqCst);
    }),
    ("a token of its own", |count| {
        let token = CancelToken::new();
        let done = token.run(|| {
            stolen(checkpoint);
            3
        });
        count.fetch_add(done.unwrap(), Ordering::SeqCst);
        let stopped = token.run(|| {
            token.cancel();
            checkpoint();
        });
        assert!(stopped.is_err());
    }),
];

#[test]
fn what_a_destructor_starts_is_not_stopped_with_the_code_that_it_ends() {
    for (what, work) in WORKS {
        for threads in [2, 3] {
            let (token, count) = (CancelToken::new(), AtomicUsize::new(0));
            let stopped = pool(threads).install(|| {
                token.run(|| {
                    let _here = AtTheEnd(|| work(&count));
                    join(
                        || {
                            let _in_a_half = AtTheEnd(|| work(&count));
                            token.cancel();
                            checkpoint();
                        },
                        || (),
                    );
                })
            });
            assert!(stopped.is_err(), "{what}");
            assert_eq!(count.into_inner(), 6, "{what}");
        }
    }
}

#[test]
fn a_destructor_outside_of_the_pool_is_not_stopped_either() {
    for (what, work) in WORKS {
        let (token, count) = (CancelToken::new(), AtomicUsize::new(0));
        let stopped = token.run(|| {
            let _here = AtTheEnd(|| work(&count));
            token.cancel();
            checkpoint();
        });
        assert!(stopped.is_err(), "{what}");
        assert_eq!(count.into_inner(), 3, "{what}");
    }
}

#[test]
fn the_same_goes_for_what_another_thread_has_been_stopped_in() {
    for (what, work) in WORKS {
        let (token, count) = (CancelToken::new(), AtomicUsize::new(0));
        let stopped = pool(2).install(|| {
            token.run(|| {
                // This thread hears of it when it joins.
                let _here = AtTheEnd(|| work(&count));
                stolen(|| {
                    let _there = AtTheEnd(|| work(&count));
                    token.cancel();
                    checkpoint();
                });
            })
        });
        assert!(stopped.is_err(), "{what}");
        assert_eq!(count.into_inner(), 6, "{what}");
        let (token, count) = (CancelToken::new(), AtomicUsize::new(0));
        let stopped = pool(2).install(|| {
            token.run(|| {
                let _here = AtTheEnd(|| work(&count));
                scope(|s| {
                    s.spawn(|_| {
                        let _there = AtTheEnd(|| work(&count));
                        token.cancel();
                        checkpoint();
                    });
                });
            })
        });
        assert!(stopped.is_err(), "{what}");
        assert_eq!(count.into_inner(), 6, "{what}");
    }
}

#[test]
fn a_token_that_is_cancelled_while_a_panic_unwinds_stops_no_destructor() {
    for (what, work) in WORKS {
        let (token, count) = (CancelToken::new(), AtomicUsize::new(0));
        let result = pool(2).install(|| {
            catch_unwind(AssertUnwindSafe(|| {
                token.run(|| {
                    let _outer = AtTheEnd(|| work(&count));
                    join(
                        || {
                            let _cancels = AtTheEnd(|| token.cancel());
                            std::panic::resume_unwind(Box::new("a panic"));
                        },
                        || (),
                    );
                })
            }))
        });
        assert_eq!(result.unwrap_err().downcast_ref(), Some(&"a panic"));
        assert_eq!(count.into_inner(), 3, "{what}");
    }
}

/// Whoever catches the unwinding can be stopped again.
#[test]
fn code_after_a_catch_has_its_token_again() {
    let (token, halves) = (CancelToken::new(), AtomicUsize::new(0));
    let stopped = pool(2).install(|| {
        token.run(|| {
            let caught = catch_unwind(|| {
                token.cancel();
                checkpoint();
            });
            assert!(caught.is_err() && is_cancelled());
            join(
                || halves.fetch_add(1, Ordering::SeqCst),
                || {
                    checkpoint();
                    halves.fetch_add(1, Ordering::SeqCst)
                },
            );
        })
    });
    assert!(stopped.is_err());
    assert_eq!(halves.into_inner(), 1);
}

/// Other parts of the computation are stopped while one of its destructors takes its time, also those that are stolen meanwhile.
#[test]
fn what_was_forked_before_is_stopped() {
    let pool = pool(2);
    for _ in 0..20 {
        let (token, slow) = (CancelToken::new(), AtomicBool::new(false));
        let stopped = pool.install(|| {
            token.run(|| {
                join(
                    || {
                        let _takes_its_time = AtTheEnd(|| {
                            slow.store(true, Ordering::SeqCst);
                            thread::sleep(Duration::from_millis(2));
                        });
                        token.cancel();
                        checkpoint();
                    },
                    || {
                        // Begun before or during that, or never.
                        while !slow.load(Ordering::SeqCst) {
                            thread::yield_now();
                        }
                        loop {
                            checkpoint();
                            thread::yield_now();
                        }
                    },
                );
            })
        });
        assert!(stopped.is_err());
    }
}
