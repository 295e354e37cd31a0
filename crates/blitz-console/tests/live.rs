//! A program with known behaviour, and what is seen of it.

mod common;

use blitz_console::json::Value;
use blitz_io::task::Builder;
use common::Events;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// One test at a time: they look at the same process.
fn alone() -> (MutexGuard<'static, ()>, SocketAddr) {
    static ALONE: Mutex<()> = Mutex::new(());
    static PAGE: OnceLock<SocketAddr> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let page = PAGE.get_or_init(|| blitz_console::serve("127.0.0.1:0").unwrap().local_addr());
    (alone, *page)
}

fn runtime(name: &str) -> blitz_io::Runtime {
    let builder = blitz_io::Builder::new_multi_thread()
        .worker_threads(2)
        .name(name)
        .build();
    builder.unwrap()
}

/// The one with this name.
fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let found = list
        .items()
        .iter()
        .find(|item| item.at("name").text() == name);
    found.unwrap_or(&Value::Null)
}

/// The one of this line.
fn of_line(list: &Value, line: u32) -> &Value {
    let place = format!("live.rs:{line}");
    let found = list
        .items()
        .iter()
        .find(|item| item.at("at").text().ends_with(&place));
    found.unwrap_or(&Value::Null)
}

/// Until it is told to stop.
struct Going(Arc<AtomicBool>);

impl Going {
    fn new() -> (Self, Arc<AtomicBool>) {
        let going = Arc::new(AtomicBool::new(true));
        (Going(Arc::clone(&going)), going)
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn tasks_are_shown_with_name_line_state_and_polls() {
    let (_alone, page) = alone();
    let runtime = runtime("counted");
    for _ in 0..3 {
        drop(
            Builder::new()
                .name("sleeper")
                .spawn_on(std::future::pending::<()>(), runtime.handle()),
        );
    }
    let line = line!() + 1;
    runtime.spawn(async {
        for _ in 0..9 {
            blitz_io::task::yield_now().await;
        }
        std::future::pending::<()>().await;
    });
    let mut events = Events::open(page);
    let frame = events.until("idle tasks", |frame| {
        of_line(frame.at("spawns"), line).at("idle").number() == 1.0
    });
    let sleepers = named(frame.at("spawns"), "sleeper");
    assert_eq!(sleepers.at("alive").number(), 3.0);
    assert_eq!(sleepers.at("idle").number(), 3.0);
    assert_eq!(sleepers.at("polls").number(), 3.0);
    assert_eq!(of_line(frame.at("spawns"), line).at("polls").number(), 10.0);
    let tasks = frame.at("tasks").items();
    let mine = tasks
        .iter()
        .filter(|task| task.at("runtime").text() == "counted");
    assert_eq!(mine.count(), 4);
    let seen = named(frame.at("runtimes"), "counted");
    assert_eq!(seen.at("alive").number(), 4.0);
    drop(runtime);
    events.until("the end of the runtime", |frame| {
        *named(frame.at("runtimes"), "counted") == Value::Null
            && named(frame.at("spawns"), "sleeper").at("alive").number() == 0.0
    });
}

#[test]
fn tasks_that_are_through_are_counted_while_somebody_looks() {
    let (_alone, page) = alone();
    let runtime = runtime("done");
    let mut events = Events::open(page);
    drop(events.next_frame());
    let line = line!() + 1;
    let tasks: Vec<_> = (0..50).map(|_| runtime.spawn(async {})).collect();
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    let frame = events.until("fifty tasks", |frame| {
        of_line(frame.at("spawns"), line).at("done").number() == 50.0
    });
    assert_eq!(of_line(frame.at("spawns"), line).at("polls").number(), 50.0);
    assert_eq!(of_line(frame.at("spawns"), line).at("wakes").number(), 0.0);
    let yields = line!() + 1;
    let task = runtime.spawn(async {
        for _ in 0..9 {
            blitz_io::task::yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
    let frame = events.until("a task that was woken", |frame| {
        of_line(frame.at("spawns"), yields).at("done").number() == 1.0
    });
    assert_eq!(
        of_line(frame.at("spawns"), yields).at("wakes").number(),
        9.0
    );
    drop(runtime);
    events.until("the same without the runtime", |frame| {
        *named(frame.at("runtimes"), "done") == Value::Null
            && of_line(frame.at("spawns"), line).at("done").number() == 50.0
    });
}

#[test]
fn timers_sockets_and_blocking_threads_are_counted() {
    let (_alone, page) = alone();
    let runtime = runtime("waits");
    runtime.block_on(async {
        for _ in 0..5 {
            blitz_io::spawn(blitz_io::time::sleep(Duration::from_secs(3600)));
        }
    });
    let listener = runtime
        .block_on(blitz_io::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let (going, stop) = Going::new();
    let blocking = runtime.spawn_blocking(move || {
        while stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let mut events = Events::open(page);
    events.until("five timers, a socket, a thread", |frame| {
        let seen = named(frame.at("runtimes"), "waits");
        let blocking = seen.at("blocking").items();
        seen.at("timers").number() == 5.0
            && seen.at("sockets").number() == 1.0
            && blocking
                .first()
                .is_some_and(|threads| threads.number() >= 1.0)
    });
    drop(listener);
    drop(going);
    runtime.block_on(blocking).unwrap();
}

/// Until it is known that somebody looks.
fn looked_at(page: SocketAddr) -> Events {
    let mut events = Events::open(page);
    drop(events.next_frame());
    events
}

#[test]
fn loops_are_shown_at_the_users_line_with_calls_and_items() {
    use blitz::prelude::*;
    let (_alone, page) = alone();
    let pool = blitz_core::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let mut events = looked_at(page);
    let mut list: Vec<u64> = (0..1000).collect();
    let (mut loop_line, mut inner_line, mut sort_line) = (0, 0, 0);
    pool.install(|| {
        for _ in 0..7 {
            loop_line = line!() + 1;
            list.par_iter_mut().for_each(|n| *n += 1);
            sort_line = line!() + 1;
            list.par_sort_unstable();
        }
        // A loop in a loop is a call of its own.
        (0..10).into_par_iter().for_each(|_| {
            let sum: u64 = list.par_iter().sum();
            assert!(sum > 0);
        });
        inner_line = line!() - 3;
    });
    let frame = events.until("all calls", |frame| {
        of_line(frame.at("sites"), inner_line).at("calls").number() == 10.0
    });
    let site = of_line(frame.at("sites"), loop_line);
    assert_eq!(site.at("calls").number(), 7.0, "{site:?}");
    assert_eq!(site.at("items").number(), 7000.0, "{site:?}");
    assert!(site.at("time").number() > 0.0);
    assert_eq!(
        of_line(frame.at("sites"), sort_line).at("calls").number(),
        7.0
    );
    let inner = of_line(frame.at("sites"), inner_line);
    assert_eq!(inner.at("items").number(), 10_000.0, "{inner:?}");
}

/// Most consumers are made of others, which are no calls of the user's.
#[test]
fn a_loop_of_any_kind_is_one_call() {
    use blitz::prelude::*;
    let (_alone, page) = alone();
    let mut events = looked_at(page);
    let mut lines = Vec::new();
    macro_rules! call {
        ($call:expr) => {
            lines.push((line!(), stringify!($call)));
            let _ = std::hint::black_box($call);
        };
    }
    let list: Vec<u32> = (0..2000).collect();
    let mut other = list.clone();
    let numbers = || list.par_iter().copied();
    call!(numbers().for_each(|_| ()));
    call!(numbers().sum::<u32>());
    call!(numbers().map(f64::from).product::<f64>());
    call!(numbers().count());
    call!(numbers().max());
    call!(numbers().min_by_key(|n| n ^ 1));
    call!(numbers().max_by(u32::cmp));
    call!(numbers().reduce(|| 0, |a, b| a ^ b));
    call!(numbers().reduce_with(|a, b| a ^ b));
    call!(numbers().fold(|| 0, |a, b| a ^ b).sum::<u32>());
    call!(numbers().try_for_each(|_| Some(())));
    call!(numbers().any(|n| n == 1999));
    call!(numbers().all(|n| n < 5000));
    call!(numbers().find_any(|n| *n == 77));
    call!(numbers().find_first(|n| *n == 77));
    call!(numbers().find_map_last(Some));
    call!(numbers().position_any(|n| n == 77));
    call!(numbers().collect::<Vec<_>>());
    call!(numbers().filter(|n| n % 2 == 0).collect::<Vec<_>>());
    call!(numbers().collect::<std::collections::HashSet<_>>());
    call!(numbers().map(Some).collect::<Option<Vec<_>>>());
    call!(numbers().partition::<Vec<_>, Vec<_>, _>(|n| n % 2 == 0));
    call!(numbers().map(|n| (n, n)).unzip::<_, _, Vec<_>, Vec<_>>());
    call!(numbers().flat_map(|n| [n, n]).collect::<Vec<_>>());
    call!(numbers().cmp(list.par_iter().copied()));
    call!(numbers().eq(list.par_iter().copied()));
    call!(numbers().collect_into_vec(&mut other));
    call!(other.par_extend(&list));
    call!(other.par_sort());
    call!(other.par_sort_unstable_by_key(|n| n ^ 5));
    call!(other.par_sort_by_cached_key(|n| n ^ 5));
    call!(list.iter().par_bridge().count());
    let found = |frame: &Value, line| of_line(frame.at("sites"), line).at("calls").number();
    let last = lines.last().unwrap().0;
    let frame = events.until("the last call", |frame| found(frame, last) > 0.0);
    let wrong = lines.iter().filter(|(line, _)| found(&frame, *line) != 1.0);
    let wrong: Vec<_> = wrong
        .map(|(line, call)| format!("{call}: {}", found(&frame, *line)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Goes down with a loop at each level.
fn descend(depth: u32) -> u32 {
    use blitz::prelude::*;
    if depth == 0 {
        return 1;
    }
    DESCENT_LINE.store(line!() + 1, Ordering::Relaxed);
    (0..3).into_par_iter().map(|_| descend(depth - 1)).sum()
}

static DESCENT_LINE: AtomicU32 = AtomicU32::new(0);

#[test]
fn a_loop_that_calls_itself_is_counted_at_each_level() {
    let (_alone, page) = alone();
    let pool = blitz_core::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let mut events = looked_at(page);
    assert_eq!(pool.install(|| descend(4)), 81);
    let line = DESCENT_LINE.load(Ordering::Relaxed);
    let frame = events.until("the loop", |frame| {
        of_line(frame.at("sites"), line).at("calls").number() > 0.0
    });
    let site = of_line(frame.at("sites"), line);
    assert_eq!(site.at("calls").number(), 40.0, "{site:?}");
    assert_eq!(site.at("items").number(), 120.0, "{site:?}");
}

static FIB_LINE: AtomicU32 = AtomicU32::new(0);

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    FIB_LINE.store(line!() + 1, Ordering::Relaxed);
    let (a, b) = blitz::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn joins_are_shown_by_the_outermost_one_and_threads_that_took_part() {
    let (_alone, page) = alone();
    let pool = blitz_core::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let mut events = looked_at(page);
    fib(2);
    let line = FIB_LINE.load(Ordering::Relaxed);
    let (going, stop) = Going::new();
    let calls = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = Arc::clone(&calls);
    let thread = std::thread::spawn(move || {
        while stop.load(Ordering::Relaxed) {
            pool.install(|| fib(22));
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    events.until("two threads", |frame| {
        of_line(frame.at("sites"), line).at("most_threads").number() == 2.0
    });
    drop(going);
    thread.join().unwrap();
    // And the first one.
    let calls = 1.0 + calls.load(Ordering::Relaxed) as f64;
    let frame = events.until("all calls", |frame| {
        of_line(frame.at("sites"), line).at("calls").number() == calls
    });
    let site = of_line(frame.at("sites"), line);
    assert_eq!(site.at("kind").text(), "join");
    let threads = site.at("threads").number();
    assert!((1.0..=2.0).contains(&threads), "{site:?}");
}

#[test]
fn a_loop_that_panics_leaves_no_thread_at_its_line() {
    use blitz::prelude::*;
    let (_alone, page) = alone();
    let pool = blitz_core::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let mut events = looked_at(page);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        pool.install(|| {
            (0..1000).into_par_iter().for_each(|n| {
                if n == 500 {
                    std::panic::resume_unwind(Box::new(()));
                }
            });
        });
    }));
    assert!(panicked.is_err());
    let (going, stop) = Going::new();
    // Not the loop's any more.
    pool.spawn(move || {
        while stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let of_two = |frame: &Value| {
        let pools = frame.at("pools").items().iter();
        let mine = pools.filter(|pool| pool.at("name").text().starts_with('#'));
        mine.flat_map(|pool| pool.at("workers").items().to_vec())
            .find(|worker| worker.at("shares").items()[0].number() > 100.0)
    };
    let frame = events.until("a worker that computes", |frame| of_two(frame).is_some());
    assert_eq!(of_two(&frame).unwrap().at("at").text(), "");
    drop(going);
}

#[test]
fn a_long_poll_is_named_and_warned_of() {
    let (_alone, page) = alone();
    let runtime = runtime("held");
    let mut events = Events::open(page);
    drop(events.next_frame());
    let (going, stop) = Going::new();
    let rude = Builder::new().name("rude").spawn_on(
        async move {
            while stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        },
        runtime.handle(),
    );
    let frame = events.until("a long poll", |frame| {
        named(frame.at("polls"), "rude").at("time").number() >= 50.0
    });
    let poll = named(frame.at("polls"), "rude");
    assert!(poll.at("goes_on").flag());
    assert!(poll.at("worker").text().starts_with("worker "));
    let is_about_it = |warning: &&Value| {
        warning.at("kind").text() == "poll" && warning.at("text").text().contains("“rude”")
    };
    assert!(
        frame
            .at("warnings")
            .items()
            .iter()
            .any(|warning| is_about_it(&warning))
    );
    let busy = named(frame.at("spawns"), "rude").at("busy").number();
    assert!(busy >= 40.0, "{busy}");
    drop(going);
    runtime.block_on(rude.unwrap()).unwrap();
    events.until("its end", |frame| {
        !named(frame.at("polls"), "rude").at("goes_on").flag()
    });
}

/// Nothing was written down then but the task.
#[test]
fn a_poll_that_began_before_anybody_looked_is_named() {
    let (_alone, page) = alone();
    while blitz_core::console::is_looked_at() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let runtime = runtime("hung");
    let (going, stop) = Going::new();
    let (tell, told) = std::sync::mpsc::channel();
    let rude = Builder::new().name("hangs").spawn_on(
        async move {
            tell.send(()).unwrap();
            while stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        },
        runtime.handle(),
    );
    told.recv().unwrap();
    let mut events = Events::open(page);
    events.until("a long poll", |frame| {
        named(frame.at("polls"), "hangs").at("time").number() >= 50.0
    });
    events.until("a busy task", |frame| {
        named(frame.at("tasks"), "hangs").at("busy").number() >= 50.0
    });
    drop(going);
    runtime.block_on(rude.unwrap()).unwrap();
}

/// Whoever is in such a poll says so itself: a worker, of which there are more than in the beginning, or the relief thread, which nobody takes for a worker that is held.
#[test]
fn a_long_poll_is_of_the_thread_that_is_in_it() {
    use blitz_io::runtime::worker_index;
    const THREADS: usize = 3;
    let (_alone, page) = alone();
    let runtime = runtime("grown");
    runtime.pool().unwrap().set_num_threads(THREADS).unwrap();
    let mut events = looked_at(page);
    let (going, stop) = Going::new();
    let mut polls = Vec::new();
    let mut expected = Vec::new();
    // The last one finds all workers in a poll.
    for name in ["one", "two", "three", "four"] {
        let (tell, told) = std::sync::mpsc::channel();
        let stop = Arc::clone(&stop);
        let rude = async move {
            tell.send(worker_index()).unwrap();
            while stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let task = Builder::new().name(name);
        polls.push(task.spawn_on(rude, runtime.handle()).unwrap());
        let worker = told.recv_timeout(Duration::from_secs(60)).unwrap();
        expected.push(worker.map_or("relief thread".into(), |index| format!("worker {index}")));
        let shown = |frame: &Value| {
            named(frame.at("polls"), name)
                .at("worker")
                .text()
                .to_string()
        };
        let frame = events.until(name, |frame| !shown(frame).is_empty());
        assert_eq!(shown(&frame), expected[expected.len() - 1], "{name}");
        let warnings = frame.at("warnings").items().iter();
        let mut about_it =
            warnings.filter(|warning| warning.at("text").text().contains(&format!("“{name}”")));
        let text = about_it.next().unwrap().at("text").text().to_string();
        assert_eq!(text.contains("held a worker"), worker.is_some(), "{text}");
        assert_eq!(
            text.contains("held the relief thread"),
            worker.is_none(),
            "{text}"
        );
    }
    expected.sort();
    expected.dedup();
    assert_eq!(expected.len(), 4, "{expected:?}");
    drop(going);
    for poll in polls {
        runtime.block_on(poll).unwrap();
    }
}

/// A relief thread that was replaced, since it was stuck, leaves its core only when it says that it blocks. Nobody may ever come to that core again.
#[test]
fn a_poll_on_a_relief_thread_that_was_replaced_has_an_end() {
    use blitz_io::runtime::worker_index;
    use std::sync::mpsc;
    let (_alone, page) = alone();
    let runtime = runtime("replaced");
    let mut events = looked_at(page);
    let (going, stop) = Going::new();
    let mut tasks = Vec::new();
    let (tell, told) = mpsc::channel();
    // Whoever is last finds both workers in a poll.
    for _ in 0..2 {
        let (stop, tell) = (Arc::clone(&stop), tell.clone());
        tasks.push(runtime.spawn(async move {
            tell.send(worker_index()).unwrap();
            while stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        }));
        told.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    let (go_on, waits) = mpsc::channel::<()>();
    let replaced = Builder::new().name("was replaced").spawn_on(
        async move {
            tell.send(worker_index()).unwrap();
            // Says nothing of it: another thread takes its place.
            waits.recv().unwrap();
            blitz_io::block_in_place(|| ());
        },
        runtime.handle(),
    );
    let worker = told.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(worker, None);
    tasks.push(runtime.spawn(async move { go_on.send(()).unwrap() }));
    tasks.push(replaced.unwrap());
    events.until("its end", |frame| {
        named(frame.at("spawns"), "was replaced")
            .at("done")
            .number()
            >= 1.0
    });
    drop(going);
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    // What was under way when it ended.
    drop(events.next_frame());
    let mut busy = || {
        let frame = events.next_frame();
        named(frame.at("spawns"), "was replaced")
            .at("busy")
            .number()
    };
    let before = busy();
    assert_eq!(before, busy());
}

/// Each poll is one entry of the list, whichever runtime it belongs to and however many samples meet it.
#[test]
fn a_long_poll_of_another_runtime_is_listed_once() {
    let (_alone, page) = alone();
    let runtimes = [runtime("first"), runtime("second"), runtime("third")];
    let mut events = looked_at(page);
    let (going, stop) = Going::new();
    let polls: Vec<_> = runtimes
        .iter()
        .map(|runtime| {
            let stop = Arc::clone(&stop);
            let rude = async move {
                while stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            let task = Builder::new().name("slow");
            task.spawn_on(rude, runtime.handle()).unwrap()
        })
        .collect();
    let all = |frame: &Value| -> Vec<Value> {
        let polls = frame.at("polls").items().iter();
        let mine = polls.filter(|poll| poll.at("name").text() == "slow");
        mine.cloned().collect()
    };
    let frame = events.until("three long polls", |frame| {
        let long = |poll: &&Value| poll.at("time").number() >= 100.0 && poll.at("goes_on").flag();
        all(frame).iter().filter(long).count() >= 3
    });
    assert_eq!(all(&frame).len(), 3, "{:?}", all(&frame));
    let frame = events.next_frame();
    assert_eq!(all(&frame).len(), 3, "{:?}", all(&frame));
    drop(going);
    for (poll, runtime) in polls.into_iter().zip(&runtimes) {
        runtime.block_on(poll).unwrap();
    }
    // Also where nobody is left of whom something could be seen.
    drop(runtimes);
    events.until("their end", |frame| {
        all(frame).iter().all(|poll| !poll.at("goes_on").flag())
    });
}

/// The page and Prometheus know pools and runtimes by their names only.
#[test]
fn pools_and_runtimes_of_one_name_are_told_apart() {
    let (_alone, page) = alone();
    let _runtimes = ["twin", "twin", "global", "global"].map(runtime);
    // There is a global pool.
    assert_eq!(blitz_core::join(|| 1, || 2), (1, 2));
    let mut events = looked_at(page);
    let frame = events.next_frame();
    for list in ["pools", "runtimes"] {
        let list = frame.at(list).items().iter();
        let mut names: Vec<_> = list.map(|item| item.at("name").text()).collect();
        names.sort_unstable();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(names.contains(&"twin"), "{names:?}");
        assert!(names.contains(&"twin (2)"), "{names:?}");
    }
    let later = events.next_frame();
    for list in ["pools", "runtimes"] {
        let names = |frame: &Value| -> Vec<String> {
            let list = frame.at(list).items().iter();
            list.map(|item| item.at("name").text().to_string())
                .collect()
        };
        assert_eq!(names(&frame), names(&later), "they keep their names");
    }
}

#[test]
fn calls_from_one_line_are_one_line() {
    let (_alone, page) = alone();
    let mut events = looked_at(page);
    use blitz::prelude::*;
    let line = line!() + 2;
    #[rustfmt::skip]
    let both = ((0..1000).into_par_iter().sum::<u32>(), (0..3000).into_par_iter().max());
    assert_eq!(both, (499_500, Some(2999)));
    let place = format!("live.rs:{line}");
    let of_line = |frame: &Value| -> Vec<Value> {
        let sites = frame.at("sites").items().iter();
        let mine = sites.filter(|site| site.at("at").text().ends_with(&place));
        mine.cloned().collect()
    };
    let frame = events.until("two loops", |frame| !of_line(frame).is_empty());
    let found = of_line(&frame);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].at("calls").number(), 2.0);
    assert_eq!(found[0].at("items").number(), 4000.0);
}

/// A frame goes to everybody who looks, four times a second.
#[test]
fn a_name_without_an_end_is_cut() {
    let (_alone, page) = alone();
    let name = "ü".repeat(1 << 19);
    let runtime = runtime(&name);
    for _ in 0..20 {
        let task = Builder::new().name(&name);
        drop(task.spawn_on(std::future::pending::<()>(), runtime.handle()));
    }
    let mut events = looked_at(page);
    let has_it = |frame: &Value| {
        let spawns = frame.at("spawns").items().iter();
        let mut mine = spawns.filter(|spawn| spawn.at("name").text().starts_with("üüü"));
        mine.any(|spawn| spawn.at("alive").number() == 20.0)
    };
    events.until("the tasks", has_it);
    let length = events.next_text().len();
    assert!(length < 500_000, "{length}");
}

#[test]
fn workers_are_shown_at_what_they_do() {
    let (_alone, page) = alone();
    let pool = blitz_core::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    let mut events = Events::open(page);
    let (going, stop) = Going::new();
    // One computes, the others have nothing to do.
    pool.spawn(move || {
        while stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let of_three = |frame: &Value| {
        let pools = frame.at("pools").items().iter();
        let mut mine = pools.filter(|pool| pool.at("workers").items().len() == 3);
        mine.next().cloned()
    };
    let share = |worker: &Value, state: usize| {
        let shares = worker.at("shares").items();
        let all: f64 = shares.iter().map(Value::number).sum();
        shares.get(state).map_or(0.0, Value::number) / all.max(1e-9)
    };
    events.until("one that computes and two that sleep", |frame| {
        of_three(frame).is_some_and(|pool| {
            let workers = pool.at("workers").items();
            let count = |state| {
                workers
                    .iter()
                    .filter(|worker| share(worker, state) > 0.8)
                    .count()
            };
            count(0) == 1 && count(6) == 2
        })
    });
    drop(going);
    drop(pool);
    events.until("the pool's end", |frame| of_three(frame).is_none());
}

/// Needs to know where threads are in the kernel.
#[cfg(target_os = "linux")]
#[test]
fn a_lock_that_all_workers_wait_for_is_warned_of() {
    if std::fs::read_to_string("/proc/thread-self/syscall").is_err() {
        println!("skipped: this system does not say where threads are in the kernel");
        return;
    }
    let (_alone, page) = alone();
    let pool = blitz_core::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let lock = Arc::new(Mutex::new(()));
    let held = lock.lock().unwrap();
    for _ in 0..2 {
        let lock = Arc::clone(&lock);
        pool.spawn(move || drop(lock.lock().unwrap()));
    }
    let mut events = Events::open(page);
    let is_lock = |frame: &Value| {
        let warnings = frame.at("warnings").items();
        warnings
            .iter()
            .any(|warning| warning.at("kind").text() == "lock")
    };
    events.until("a warning about the lock", is_lock);
    drop(held);
    pool.wait_idle();
}

#[test]
fn when_nobody_looks_any_more_nothing_is_recorded() {
    let (_alone, page) = alone();
    let mut events = Events::open(page);
    drop(events.next_frame());
    assert!(blitz_core::console::is_looked_at());
    drop(events);
    let end = Instant::now() + common::LONG;
    while blitz_core::console::is_looked_at() {
        assert!(Instant::now() < end, "still looked at");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn pools_and_runtimes_come_and_go_while_somebody_looks() {
    let (_alone, page) = alone();
    let mut events = looked_at(page);
    let maker = std::thread::spawn(|| {
        for round in 0..40 {
            let pool = blitz_core::ThreadPoolBuilder::new()
                .num_threads(1 + round % 16)
                .build()
                .unwrap();
            assert_eq!(pool.install(|| fib(10)), 55);
            let runtime = runtime("short");
            let sum = runtime.block_on(async { blitz_io::spawn(async { 1 + 1 }).await.unwrap() });
            assert_eq!(sum, 2);
        }
    });
    while !maker.is_finished() {
        drop(events.next_frame());
    }
    maker.join().unwrap();
    events.until("the end of all of them", |frame| {
        *named(frame.at("runtimes"), "short") == Value::Null
    });
}

#[test]
fn very_many_tasks_are_not_looked_at_one_by_one() {
    let (_alone, page) = alone();
    let runtime = runtime("many");
    for _ in 0..50_000 {
        runtime.spawn(std::future::pending::<()>());
    }
    let mut events = looked_at(page);
    let frame = events.until("all tasks", |frame| {
        named(frame.at("runtimes"), "many").at("alive").number() == 50_000.0
    });
    let looked_at = frame.at("looked_at").number();
    assert!((200.0..50_000.0).contains(&looked_at), "{looked_at}");
    assert_eq!(frame.at("tasks").items().len(), 200);
}
