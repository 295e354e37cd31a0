//! Channels: by one task alone, and between tasks.

use crate::{Program, timed};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

pub const PROGRAMS: &[(&str, Program)] = &[
    ("oneshot", one_value),
    ("mpsc/alone", mpsc_alone),
    ("mpsc/1", mpsc_from_one),
    ("mpsc/8", mpsc_from_many),
    ("mpsc/full", mpsc_full),
    ("mpsc/unbounded", mpsc_unbounded),
    ("mpsc/round-trip", round_trip),
    ("broadcast", to_many),
    ("watch", latest_value),
];

const MESSAGES: u64 = 20_000;
const SUM: u64 = MESSAGES * (MESSAGES - 1) / 2;

fn one_value(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, MESSAGES, async {
        for number in 0..MESSAGES {
            let (sender, receiver) = oneshot::channel();
            sender.send(number).unwrap();
            assert_eq!(receiver.await.unwrap(), number);
        }
    })
}

fn mpsc_alone(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, MESSAGES, async {
        let (sender, mut receiver) = mpsc::channel(16);
        for number in 0..MESSAGES {
            sender.send(number).await.unwrap();
            assert_eq!(receiver.recv().await, Some(number));
        }
    })
}

async fn from_many(senders: u64, capacity: usize) {
    let (sender, mut receiver) = mpsc::channel(capacity);
    for first in 0..senders {
        let sender = sender.clone();
        tokio::spawn(async move {
            for number in (first..MESSAGES).step_by(senders as usize) {
                sender.send(number).await.unwrap();
            }
        });
    }
    drop(sender);
    let mut sum = 0;
    while let Some(number) = receiver.recv().await {
        sum += number;
    }
    assert_eq!(sum, SUM);
}

fn mpsc_from_one(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, MESSAGES, from_many(1, 1024))
}

fn mpsc_from_many(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, MESSAGES, from_many(8, 1024))
}

/// Room for one message: everybody waits for everybody.
fn mpsc_full(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, MESSAGES, from_many(8, 1))
}

fn mpsc_unbounded(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, MESSAGES, async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for number in 0..MESSAGES {
                sender.send(number).unwrap();
            }
        });
        let mut sum = 0;
        while let Some(number) = receiver.recv().await {
            sum += number;
        }
        assert_eq!(sum, SUM);
    })
}

/// A request with a oneshot channel for its answer, as actors have it.
fn round_trip(runtime: &Runtime) -> (u64, Duration) {
    const TRIPS: u64 = 5000;
    timed(runtime, TRIPS, async {
        let (sender, mut requests) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(16);
        let actor = tokio::spawn(async move {
            while let Some((number, answer)) = requests.recv().await {
                answer.send(number + 1).unwrap();
            }
        });
        for number in 0..TRIPS {
            let (answer, answered) = oneshot::channel();
            sender.send((number, answer)).await.unwrap();
            assert_eq!(answered.await.unwrap(), number + 1);
        }
        drop(sender);
        actor.await.unwrap();
    })
}

fn to_many(runtime: &Runtime) -> (u64, Duration) {
    const RECEIVERS: u64 = 4;
    const ROUND: u64 = 64;
    timed(runtime, RECEIVERS * MESSAGES, async {
        let (sender, _) = broadcast::channel(2 * ROUND as usize);
        let (done, mut rounds_done) = mpsc::channel(RECEIVERS as usize);
        for _ in 0..RECEIVERS {
            let (mut receiver, done) = (sender.subscribe(), done.clone());
            tokio::spawn(async move {
                for number in 0..MESSAGES {
                    assert_eq!(receiver.recv().await.unwrap(), number);
                    if number % ROUND == ROUND - 1 {
                        done.send(()).await.unwrap();
                    }
                }
            });
        }
        for number in 0..MESSAGES {
            sender.send(number).unwrap();
            // Nobody falls behind by more than a round.
            if number % ROUND == ROUND - 1 {
                for _ in 0..RECEIVERS {
                    rounds_done.recv().await.unwrap();
                }
            }
        }
        drop(done);
        while rounds_done.recv().await.is_some() {}
    })
}

fn latest_value(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, MESSAGES, async {
        let (sender, mut receiver) = watch::channel(0);
        let watching = tokio::spawn(async move {
            while receiver.changed().await.is_ok() {}
            *receiver.borrow()
        });
        for number in 1..=MESSAGES {
            sender.send(number).unwrap();
        }
        drop(sender);
        assert_eq!(watching.await.unwrap(), MESSAGES);
    })
}
