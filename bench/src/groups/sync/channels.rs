//! mpsc, mpmc, oneshot, broadcast, watch.

use super::{ALONE, alone, inside};
use crate::executors::{Blitz, Executor, Tokio};
use crate::measure::{Gap, Session};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Messages of each producer of a bench with several.
const MESSAGES: u64 = 2500;
/// Room in the channel of those, so that producers wait often.
const ROOM: usize = 100;
const PRODUCERS: u64 = 4;
const CONSUMERS: u64 = 4;
/// Sum of what one producer sends.
const SENT: u64 = MESSAGES * (MESSAGES - 1) / 2;
const ASYNC_CHANNEL: &str = "async-channel";
const FLUME: &str = "flume";
const ALONE_SUM: u64 = ALONE * (ALONE - 1) / 2;

/// The sum of all messages until there are no more; they come wrapped in `$message`.
macro_rules! sum_of {
    ($message:ident in $receive:expr) => {{
        let mut sum = 0;
        while let $message(message) = $receive.await {
            sum += message;
        }
        sum
    }};
}

/// Programs for channels with tokio's names.
macro_rules! programs_of {
    ($library:ident) => {
        pub mod $library {
            use super::*;
            use ::$library::sync::{broadcast, mpsc, oneshot, watch};

            pub async fn mpsc_send() -> u64 {
                let (sender, receiver) = mpsc::channel(ALONE as usize);
                let mut sent = 0;
                for message in 0..ALONE {
                    sent += u64::from(sender.try_send(message).is_ok());
                }
                drop(receiver);
                sent
            }

            pub async fn mpsc_turn() -> u64 {
                let (sender, mut receiver) = mpsc::channel(1);
                let mut sum = 0;
                for message in 0..ALONE {
                    sender.send(message).await.unwrap();
                    sum += receiver.recv().await.unwrap();
                }
                sum
            }

            pub async fn mpsc_fill() -> u64 {
                let (sender, mut receiver) = mpsc::channel(ALONE as usize);
                for message in 0..ALONE {
                    sender.send(message).await.unwrap();
                }
                drop(sender);
                sum_of!(Some in receiver.recv())
            }

            pub async fn unbounded_fill() -> u64 {
                let (sender, mut receiver) = mpsc::unbounded_channel();
                for message in 0..ALONE {
                    sender.send(message).unwrap();
                }
                drop(sender);
                sum_of!(Some in receiver.recv())
            }

            pub async fn oneshot() -> u64 {
                let mut sum = 0;
                for message in 0..ALONE {
                    let (sender, receiver) = oneshot::channel();
                    sender.send(black_box(message)).unwrap();
                    sum += receiver.await.unwrap();
                }
                sum
            }

            pub async fn broadcast() -> u64 {
                let (sender, receiver) = broadcast::channel(ALONE as usize);
                let mut receivers = vec![
                    receiver,
                    sender.subscribe(),
                    sender.subscribe(),
                    sender.subscribe(),
                ];
                for message in 0..ALONE {
                    sender.send(message).unwrap();
                }
                let mut sum = 0;
                for receiver in &mut receivers {
                    for _ in 0..ALONE {
                        sum += receiver.recv().await.unwrap();
                    }
                }
                sum / 4
            }

            pub async fn watch() -> u64 {
                let (sender, mut receiver) = watch::channel(0);
                let mut sum = 0;
                for message in 0..ALONE {
                    sender.send(message).unwrap();
                    sum += *receiver.borrow_and_update();
                }
                sum
            }

            /// A task sends to four others, and waits until they have ended.
            pub async fn broadcast_tasks<E: Executor>() -> u64 {
                let (sender, _) = broadcast::channel(MESSAGES as usize);
                let sum = Arc::new(AtomicU64::new(0));
                let listen = |_| {
                    let (mut receiver, sum) = (sender.subscribe(), Arc::clone(&sum));
                    E::spawn(async move {
                        sum.fetch_add(sum_of!(Ok in receiver.recv()), Ordering::Relaxed);
                    })
                };
                let listeners: Vec<_> = (0..CONSUMERS).map(listen).collect();
                for message in 0..MESSAGES {
                    sender.send(message).unwrap();
                }
                drop(sender);
                for listener in listeners {
                    listener.await;
                }
                sum.load(Ordering::Relaxed)
            }

            /// Four tasks send to the one that runs this.
            pub async fn mpsc_tasks<E: Executor>() -> u64 {
                let (sender, mut receiver) = mpsc::channel(ROOM);
                for _ in 0..PRODUCERS {
                    let sender = sender.clone();
                    E::detach(E::spawn(async move {
                        for message in 0..MESSAGES {
                            sender.send(message).await.unwrap();
                        }
                    }));
                }
                drop(sender);
                sum_of!(Some in receiver.recv())
            }

            /// Requests with their own reply channels, one after the other.
            pub async fn request_reply<E: Executor>() -> u64 {
                let (sender, mut receiver) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(10);
                E::detach(E::spawn(async move {
                    while let Some((number, reply)) = receiver.recv().await {
                        reply.send(number).unwrap();
                    }
                }));
                let mut sum = 0;
                for number in 0..ALONE {
                    let (reply, answer) = oneshot::channel();
                    sender.send((number, reply)).await.unwrap();
                    sum += answer.await.unwrap();
                }
                sum
            }
        }
    };
}

programs_of!(blitz_io);
programs_of!(tokio);

/// Programs for channels with many receivers; `$send` and `$receive` are the two methods' names.
macro_rules! shared_programs_of {
    ($module:ident, $bounded:path, $send:ident, $receive:ident) => {
        mod $module {
            use super::*;

            pub async fn fill() -> u64 {
                let (sender, receiver) = $bounded(ALONE as usize);
                for message in 0..ALONE {
                    sender.$send(message).await.unwrap();
                }
                drop(sender);
                sum_of!(Ok in receiver.$receive())
            }

            pub async fn turn() -> u64 {
                let (sender, receiver) = $bounded(1);
                let mut sum = 0;
                for message in 0..ALONE {
                    sender.$send(message).await.unwrap();
                    sum += receiver.$receive().await.unwrap();
                }
                sum
            }

            /// Four tasks send to four others.
            pub async fn tasks<E: Executor>() -> u64 {
                let (sender, receiver) = $bounded(ROOM);
                let sum = Arc::new(AtomicU64::new(0));
                let consume = |_| {
                    let (receiver, sum) = (receiver.clone(), Arc::clone(&sum));
                    E::spawn(async move {
                        sum.fetch_add(sum_of!(Ok in receiver.$receive()), Ordering::Relaxed);
                    })
                };
                let produce = |_| {
                    let sender = sender.clone();
                    E::spawn(async move {
                        for message in 0..MESSAGES {
                            sender.$send(message).await.unwrap();
                        }
                    })
                };
                let mut all: Vec<_> = (0..CONSUMERS).map(consume).collect();
                all.extend((0..PRODUCERS).map(produce));
                drop((sender, receiver));
                for task in all {
                    task.await;
                }
                sum.load(Ordering::Relaxed)
            }
        }
    };
}

shared_programs_of!(shared_blitz, ::blitz_io::sync::mpmc::bounded, send, recv);
shared_programs_of!(shared_async_channel, ::async_channel::bounded, send, recv);
shared_programs_of!(shared_flume, ::flume::bounded, send_async, recv_async);

pub(super) fn bench_alone(session: &mut Session) {
    bench_alone!(session, "mpsc/send/alone", ALONE, mpsc_send);
    bench_alone!(session, "mpsc/turn/alone", ALONE_SUM, mpsc_turn);
    bench_alone!(session, "mpsc/fill/alone", ALONE_SUM, mpsc_fill);
    bench_alone!(session, "mpsc/unbounded/alone", ALONE_SUM, unbounded_fill);
    bench_alone!(session, "oneshot/alone", ALONE_SUM, oneshot);
    bench_alone!(session, "broadcast/4/alone", ALONE_SUM, broadcast);
    bench_alone!(session, "watch/alone", ALONE_SUM, watch);
    macro_rules! shared {
        ($name:literal, $program:ident) => {
            let arms = vec![
                alone(Blitz::NAME, ALONE_SUM, shared_blitz::$program),
                alone(ASYNC_CHANNEL, ALONE_SUM, shared_async_channel::$program),
                alone(FLUME, ALONE_SUM, shared_flume::$program),
            ];
            session.bench($name, ALONE, Gap::BackToBack, arms);
        };
    }
    shared!("mpmc/turn/alone", turn);
    shared!("mpmc/fill/alone", fill);
}

pub(super) fn bench_together(session: &mut Session) {
    let all = PRODUCERS * SENT;
    bench_together!(session, "mpsc/4p1c", PRODUCERS * MESSAGES, all, mpsc_tasks);
    bench_together!(
        session,
        "broadcast/1p4c",
        MESSAGES,
        CONSUMERS * SENT,
        broadcast_tasks
    );
    bench_together!(session, "request-reply", ALONE, ALONE_SUM, request_reply);
    let arms = vec![
        inside::<Blitz, _>(Blitz::NAME, all, shared_blitz::tasks::<Blitz>),
        inside::<Tokio, _>(
            "async-channel-on-tokio",
            all,
            shared_async_channel::tasks::<Tokio>,
        ),
        inside::<Tokio, _>("flume-on-tokio", all, shared_flume::tasks::<Tokio>),
        inside::<Tokio, _>("blitz-on-tokio", all, shared_blitz::tasks::<Tokio>),
        inside::<Blitz, _>(
            "async-channel-on-blitz",
            all,
            shared_async_channel::tasks::<Blitz>,
        ),
    ];
    session.bench("mpmc/4p4c", PRODUCERS * MESSAGES, Gap::BackToBack, arms);
}
