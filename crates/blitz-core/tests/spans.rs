//! Spans of the crate `tracing` that work inherits.
#![cfg(all(feature = "tracing", not(loom)))]

use blitz_core::{ThreadPoolBuilder, in_span, join};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

thread_local! {
    static INSIDE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Knows which spans each thread is inside of.
#[derive(Default)]
struct Keeper(AtomicU64);

impl Subscriber for Keeper {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        INSIDE.with_borrow_mut(|inside| inside.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        let left = INSIDE.with_borrow_mut(Vec::pop);
        assert_eq!(left, Some(span.into_u64()));
    }
}

fn innermost() -> Option<u64> {
    INSIDE.with_borrow(|inside| inside.last().copied())
}

#[test]
fn forks_and_tasks_are_in_the_span_of_whoever_started_them() {
    tracing::subscriber::set_global_default(Keeper::default()).unwrap();
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let span = tracing::info_span!("request");
    let id = span.id().map(|id| id.into_u64());
    assert!(id.is_some());
    let task = in_span(span.clone(), || {
        pool.install(|| {
            assert_eq!(innermost(), id);
            let stolen = AtomicBool::new(false);
            let here = thread::current().id();
            while !stolen.load(Ordering::SeqCst) {
                let right = || {
                    assert_eq!(innermost(), id);
                    stolen.fetch_or(thread::current().id() != here, Ordering::SeqCst);
                };
                join(
                    || thread::sleep(std::time::Duration::from_micros(100)),
                    right,
                );
            }
        });
        pool.spawn_handle(innermost)
    });
    assert_eq!(innermost(), None);
    assert_eq!(task.join().unwrap(), id);
    // Nobody stays in it.
    assert_eq!(pool.broadcast(|_| innermost()), [None, None]);
}
