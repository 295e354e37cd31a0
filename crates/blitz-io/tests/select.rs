//! `select!`, `join!`, `try_join!` and `race`: what comes first, what is dropped when, and that nothing is lost.

mod common;

use blitz_io::future::{race, race_all};
use blitz_io::task::{JoinSet, yield_now};
use blitz_io::time::{Instant, interval, sleep, timeout};
use blitz_io::{Builder, join, select, spawn, try_join};
use common::elsewhere::block_on;
use common::poll_once;
use common::run;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// The system's allocator, which counts for each thread how often it is asked.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn waiting_for_several_futures_allocates_nothing() {
    let mut whole = pin!(async {
        let first = select! {
            x = after_polls(5, 1) => x,
            _ = pending::<()>() => 0,
        };
        let (second, third) = join!(after_polls(3, 2), after_polls(4, 3));
        let fourth: Result<_, ()> = try_join!(after_polls(3, Ok(4)), after_polls(4, Ok(())));
        let fifth = race(after_polls(3, 5), pending()).await;
        (first, second, third, fourth, fifth)
    });
    let before = ALLOCATIONS.get();
    let output = loop {
        if let Poll::Ready(output) = poll_once(whole.as_mut()) {
            break output;
        }
    };
    assert_eq!(ALLOCATIONS.get(), before);
    assert_eq!(output, (1, 2, 3, Ok((4, ())), 5));
}

/// Counts how often it is dropped.
struct Dropped<'a>(&'a Cell<u32>);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// Ready in poll number `polls`, without waiting for anything.
async fn after_polls<T>(polls: u32, output: T) -> T {
    for _ in 1..polls {
        yield_now().await;
    }
    output
}

/// The least channel there is; a value is taken in the poll that returns it.
#[derive(Default)]
struct Queue(Mutex<(VecDeque<u32>, Option<Waker>)>);

impl Queue {
    fn send(&self, value: u32) {
        let mut inner = self.0.lock().unwrap();
        inner.0.push_back(value);
        if let Some(waker) = inner.1.take() {
            drop(inner);
            waker.wake();
        }
    }

    async fn recv(&self) -> u32 {
        poll_fn(|cx| {
            let mut inner = self.0.lock().unwrap();
            if let Some(value) = inner.0.pop_front() {
                return Poll::Ready(value);
            }
            inner.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

#[test]
fn the_first_future_that_is_ready_wins_and_the_others_are_dropped_before_the_handler_runs() {
    let drops = Cell::new(0);
    let seen = block_on(async {
        select! {
            _ = async { let _mark = Dropped(&drops); pending::<()>().await } => unreachable!(),
            word = after_polls(3, "three") => (word, drops.get()),
            _ = async { let _mark = Dropped(&drops); after_polls(9, ()).await } => unreachable!(),
        }
    });
    assert_eq!(seen, ("three", 2));
    assert_eq!(drops.get(), 2);
}

#[test]
fn bug_30_the_value_of_the_winner_reaches_its_handler_and_a_loser_consumes_none() {
    run(|| async {
        const ITEMS: u32 = 1000;
        let queues = Arc::new([const { Mutex::new((VecDeque::new(), None)) }; 2].map(Queue));
        let senders: Vec<_> = (0..2)
            .map(|side| {
                let queues = Arc::clone(&queues);
                spawn(async move {
                    for item in 0..ITEMS {
                        queues[side].send(item);
                        if item % 3 == side as u32 {
                            yield_now().await;
                        }
                    }
                })
            })
            .collect();
        let mut next = [0; 2];
        while next != [ITEMS; 2] {
            // Each value comes once and in order: one that a loser had taken would be missing.
            let (side, item) = select! {
                item = queues[0].recv() => (0, item),
                item = queues[1].recv() => (1, item),
            };
            assert_eq!(item, next[side]);
            next[side] += 1;
        }
        for sender in senders {
            sender.await.unwrap();
        }
    });
}

#[test]
fn bug_30_a_timeout_is_a_timeout_and_not_the_end_of_some_branch() {
    run(|| async {
        let queues = [const { Mutex::new((VecDeque::new(), None)) }; 2].map(Queue);
        let either = async {
            select! {
                item = queues[0].recv() => (0, item),
                item = queues[1].recv() => (1, item),
            }
        };
        let result = timeout(Duration::from_millis(5), either).await;
        assert!(result.is_err(), "no branch was ready");
        let selected = select! {
            _ = queues[0].recv() => "first",
            _ = queues[1].recv() => "second",
            () = sleep(Duration::from_millis(5)) => "time",
        };
        assert_eq!(selected, "time");
        // And whoever was given up upon has taken nothing.
        queues[1].send(7);
        assert_eq!(queues[1].recv().await, 7);
    });
}

#[test]
fn bug_36_all_combinators_nest_in_each_other_in_a_task_and_on_a_foreign_executor() {
    async fn nested() -> (u32, &'static str) {
        let first = race(after_polls(2, 1), pending());
        let second = async {
            select! {
                Ok::<_, ()>((a, b)) = async { try_join!(ready(Ok(2)), after_polls(3, Ok(3))) } => a * b,
                else => 0,
            }
        };
        let (first, second) = join!(first, second);
        (first + second, "nested")
    }
    assert_eq!(block_on(nested()), (7, "nested"));
    run(|| async {
        let task = spawn(timeout(Duration::from_secs(30), nested()));
        assert_eq!(task.await.unwrap(), Ok((7, "nested")));
        let mut set = JoinSet::new();
        set.spawn(nested());
        let ((), joined) = join!(sleep(Duration::from_millis(1)), set.join_next());
        assert_eq!(joined.unwrap().unwrap().0, 7);
    });
    // Timers fire by our runtime's driver whoever polls them.
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let entered = runtime.enter();
    let result = block_on(async {
        select! {
            () = sleep(Duration::from_millis(5)) => "time",
            () = pending() => unreachable!(),
        }
    });
    assert_eq!(result, "time");
    drop(entered);
}

#[test]
fn bug_36_the_waker_that_is_registered_is_the_one_of_the_last_poll() {
    let queue = Arc::new(Queue::default());
    let mut waiting = Box::pin({
        let queue = Arc::clone(&queue);
        async move {
            select! {
                item = queue.recv() => item,
                () = pending() => 0,
            }
        }
    });
    assert!(poll_once(waiting.as_mut()).is_pending());
    // It moves on to another executor, and is woken there.
    let sender = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(5));
        queue.send(5);
    });
    assert_eq!(block_on(waiting), 5);
    sender.join().unwrap();
}

#[test]
fn a_value_that_does_not_fit_disables_its_branch_and_the_others_go_on() {
    let result = block_on(async {
        select! {
            Some(number) = ready(None::<u32>) => number,
            Ok(number) = after_polls(3, Err::<u32, _>("no")) => number,
            number = after_polls(5, 5) => number,
        }
    });
    assert_eq!(result, 5);
    let result = block_on(async {
        select! {
            Some(_) = ready(None::<u32>) => "some",
            Ok(()) = after_polls(3, Err::<(), _>("no")) => "ok",
            else => "nothing fits",
        }
    });
    assert_eq!(result, "nothing fits");
}

#[test]
fn conditions_are_evaluated_once_and_disable_branches() {
    let (asked, made, polled) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let future = || {
        made.set(made.get() + 1);
        async { polled.set(polled.get() + 1) }
    };
    let condition = |answer| {
        asked.set(asked.get() + 1);
        answer
    };
    let result = block_on(async {
        select! {
            () = future(), if condition(false) => 1,
            () = after_polls(4, ()), if condition(true) => 2,
            () = future(), if condition(false) && condition(true) => 3,
        }
    });
    assert_eq!((result, asked.get()), (2, 3));
    assert_eq!(
        (made.get(), polled.get()),
        (2, 0),
        "made, as in tokio, but never polled"
    );
}

#[test]
#[should_panic(expected = "all branches are disabled, and there is no `else` branch")]
fn without_an_else_branch_it_panics_when_all_are_disabled() {
    block_on(async {
        select! {
            () = pending(), if false => {}
            Some(()) = ready(None) => {}
        }
    });
}

#[test]
fn handlers_are_code_of_the_function_around() {
    async fn search(queue: &Queue) -> Result<u32, String> {
        let mut sum = 0;
        let mut rounds = 0;
        let mut stop = pin!(after_polls(1000, ()));
        'rounds: loop {
            rounds += 1;
            select! {
                biased;
                1 = queue.recv() => continue 'rounds,
                2 | 3 = queue.recv() => {
                    yield_now().await;
                    sum += 100;
                }
                mut item @ 4..=9 = queue.recv(), if rounds > 1 => {
                    item += "1".parse::<u32>().map_err(|error| error.to_string())?;
                    sum += item
                },
                ref item = queue.recv(), if rounds > 5 => return Ok(sum + *item),
                () = &mut stop => break,
            };
        }
        Err(format!("stopped at {sum}"))
    }
    let queue = Queue::default();
    // Taken in turn by the branches, as long as the values do not fit; see the order of `biased`.
    for item in [1, 0, 2, 0, 0, 5, 0, 0, 5, 0, 0, 6, 10, 10, 10, 50] {
        queue.send(item);
    }
    let result = block_on(search(&queue));
    assert_eq!(result, Ok(100 + 6 + 6 + 7 + 50));
}

#[test]
fn biased_starts_with_the_first_branch_and_fair_with_any() {
    let mut wins = [0; 3];
    block_on(async {
        for _ in 0..600 {
            let winner = select! {
                _ = ready(()) => 0,
                _ = ready(()) => 1,
                _ = ready(()) => 2,
            };
            wins[winner] += 1;
            let winner = select! {
                biased;
                _ = pending::<()>() => 0,
                _ = ready(()) => 1,
                _ = ready(()) => 2,
            };
            assert_eq!(winner, 1);
        }
    });
    assert!(wins.iter().all(|&wins| wins > 100), "{wins:?}");
}

#[test]
fn the_seed_of_a_runtime_determines_who_wins() {
    fn winners(seed: u64) -> Vec<u32> {
        let mut builder = Builder::new_current_thread();
        builder.seed(seed).build().unwrap().block_on(async {
            let mut winners = Vec::new();
            for _ in 0..100 {
                winners.push(select! { _ = ready(()) => 0, _ = ready(()) => 1 });
                winners.push(race(ready(0), ready(1)).await);
            }
            winners
        })
    }
    assert_eq!(winners(7), winners(7));
    assert_ne!(winners(7), winners(8));
}

#[test]
fn a_future_outside_is_waited_for_across_rounds() {
    let mut builder = Builder::new_current_thread();
    builder.start_paused(true).build().unwrap().block_on(async {
        let mut beat = interval(Duration::from_secs(10));
        let mut end = pin!(sleep(Duration::from_secs(35)));
        let mut beats = 0;
        loop {
            select! {
                _ = beat.tick() => beats += 1,
                () = &mut end => break,
            }
        }
        assert_eq!(beats, 4, "at 0, 10, 20 and 30 seconds");
    });
}

#[test]
fn sixty_four_branches_and_one_are_no_problem() {
    let last = block_on(async {
        select! {
            1 = ready(0) => 1, 1 = ready(0) => 2, 1 = ready(0) => 3, 1 = ready(0) => 4, 1 = ready(0) => 5, 1 = ready(0) => 6,
            1 = ready(0) => 7, 1 = ready(0) => 8, 1 = ready(0) => 9, 1 = ready(0) => 10, 1 = ready(0) => 11, 1 = ready(0) => 12,
            1 = ready(0) => 13, 1 = ready(0) => 14, 1 = ready(0) => 15, 1 = ready(0) => 16, 1 = ready(0) => 17, 1 = ready(0) => 18,
            1 = ready(0) => 19, 1 = ready(0) => 20, 1 = ready(0) => 21, 1 = ready(0) => 22, 1 = ready(0) => 23, 1 = ready(0) => 24,
            1 = ready(0) => 25, 1 = ready(0) => 26, 1 = ready(0) => 27, 1 = ready(0) => 28, 1 = ready(0) => 29, 1 = ready(0) => 30,
            1 = ready(0) => 31, 1 = ready(0) => 32, 1 = ready(0) => 33, 1 = ready(0) => 34, 1 = ready(0) => 35, 1 = ready(0) => 36,
            1 = ready(0) => 37, 1 = ready(0) => 38, 1 = ready(0) => 39, 1 = ready(0) => 40, 1 = ready(0) => 41, 1 = ready(0) => 42,
            1 = ready(0) => 43, 1 = ready(0) => 44, 1 = ready(0) => 45, 1 = ready(0) => 46, 1 = ready(0) => 47, 1 = ready(0) => 48,
            1 = ready(0) => 49, 1 = ready(0) => 50, 1 = ready(0) => 51, 1 = ready(0) => 52, 1 = ready(0) => 53, 1 = ready(0) => 54,
            1 = ready(0) => 55, 1 = ready(0) => 56, 1 = ready(0) => 57, 1 = ready(0) => 58, 1 = ready(0) => 59, 1 = ready(0) => 60,
            1 = ready(0) => 61, 1 = ready(0) => 62, 1 = ready(0) => 63, 0 = ready(0) => 64,
        }
    });
    assert_eq!(last, 64);
    assert_eq!(
        block_on(async {
            select! { x = ready(1) => x }
        }),
        1
    );
    assert_eq!(
        block_on(async {
            select! { else => 2 }
        }),
        2
    );
}

#[test]
fn a_select_is_send_if_its_futures_are_and_little_larger_than_they_are() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let future = assert_send(async {
        select! {
            x = after_polls(2, 1) => x,
            _ = pending::<()>() => 0,
        }
    });
    assert!(size_of_val(&future) < 300, "{} bytes", size_of_val(&future));
    assert_eq!(block_on(future), 1);
}

#[test]
fn join_awaits_all_at_once_and_drops_each_as_soon_as_it_is_through() {
    let drops = Cell::new(0);
    let mut builder = Builder::new_current_thread();
    let runtime = builder.start_paused(true).build().unwrap();
    let outputs = runtime.block_on(async {
        let start = Instant::now();
        let outputs = join!(
            async {
                let _mark = Dropped(&drops);
                sleep(Duration::from_secs(1)).await;
                "one"
            },
            async {
                sleep(Duration::from_secs(2)).await;
                drops.get()
            },
            ready(vec![3]),
        );
        assert!(start.elapsed() < Duration::from_millis(2100), "at once");
        outputs
    });
    assert_eq!(outputs, ("one", 1, vec![3]));
    block_on(async {
        let (lone,) = join!(ready(1));
        assert_eq!(lone, 1);
        let () = join!();
        let (a, b) = join!(biased; ready(1), ready(2),);
        assert_eq!((a, b), (1, 2));
    });
}

#[test]
fn join_takes_turns_unless_it_is_biased() {
    fn order(future: impl Future<Output = ()>, order: &Mutex<String>) -> String {
        block_on(future);
        std::mem::take(&mut order.lock().unwrap())
    }
    async fn log(polls: u32, name: char, log: &Mutex<String>) {
        for _ in 0..polls {
            log.lock().unwrap().push(name);
            yield_now().await;
        }
    }
    let text = Mutex::new(String::new());
    let biased = async { ((), ()) = join!(biased; log(3, 'a', &text), log(3, 'b', &text)) };
    assert_eq!(order(biased, &text), "ababab");
    let fair = async { ((), ()) = join!(log(3, 'a', &text), log(3, 'b', &text)) };
    assert_eq!(order(fair, &text), "abbaab");
}

#[test]
fn try_join_ends_at_the_first_error_and_drops_the_rest() {
    let drops = Cell::new(0);
    let result: Result<((), (), u32), &str> = block_on(async {
        try_join!(
            async {
                let _mark = Dropped(&drops);
                pending().await
            },
            after_polls(3, Err("third poll")),
            after_polls(9, Err("ninth poll")),
        )
    });
    assert_eq!(result, Err("third poll"));
    assert_eq!(drops.get(), 1);
    let result: Result<_, ()> =
        block_on(async { try_join!(biased; ready(Ok(1)), after_polls(2, Ok("two"))) });
    assert_eq!(result, Ok((1, "two")));
}

#[test]
fn parts_that_run_out_of_budget_let_each_other_go_on() {
    // Each part could keep the whole budget busy; a task that waits for both must still get to the end of each.
    run(|| async {
        let counts = [const { AtomicUsize::new(0) }; 2];
        let work = |part: usize| {
            let count = &counts[part];
            async move {
                for _ in 0..1000 {
                    blitz_io::task::coop::consume_budget().await;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        join!(work(0), work(1));
        assert_eq!(counts.map(AtomicUsize::into_inner), [1000; 2]);
    });
}

#[test]
fn a_race_has_one_winner_and_drops_the_rest() {
    let drops = Cell::new(0);
    let marked = |polls| {
        let mark = Dropped(&drops);
        async move {
            let _mark = mark;
            after_polls(polls, polls).await
        }
    };
    assert_eq!(block_on(race(marked(3), marked(2))), 2);
    assert_eq!(drops.take(), 2);
    assert_eq!(block_on(race_all((2..50).rev().map(marked))), (2, 47));
    assert_eq!(drops.take(), 48);
    let mut wins = [0; 2];
    block_on(async {
        for _ in 0..400 {
            wins[race(ready(0), ready(1)).await] += 1;
            wins[race_all([ready(()), ready(())]).await.1] += 1;
        }
    });
    assert!(wins.iter().all(|&wins| wins > 200), "{wins:?}");
}

#[test]
#[should_panic(expected = "race_all: without any future nothing would ever be ready")]
fn a_race_of_nobody_is_refused() {
    drop(race_all([] as [std::future::Ready<()>; 0]));
}
