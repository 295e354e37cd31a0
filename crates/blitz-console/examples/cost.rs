//! What the hooks cost: forks and tasks, nobody looking and somebody looking. Run it with and without `--features hooks`, in turns:
//!
//! ```sh
//! cargo run --release -p blitz-console --example cost
//! cargo run --release -p blitz-console --features hooks --example cost
//! ```
//!
//! Each figure is the shortest of many short rounds, so that other programs disturb it little.
//!
//! With arguments it does one thing so many times and prints nothing, for valgrind to count instructions, which no other program disturbs: what one costs is the difference of two runs, divided by
//! that of their numbers. `tasks` are spawned and awaited a hundred at a time, `polls` are of one task, `joins` are those of Fibonacci numbers; `tasks-here` and `polls-here` are on a current-thread
//! runtime, where nothing depends on how threads meet, and the count is the same each time. `looked-at` behind that, and somebody looks meanwhile (with `--separate-threads=yes`, since the one
//! who looks costs as well).
//!
//! ```sh
//! valgrind --tool=callgrind target/release/examples/cost tasks-here 200000
//! ```

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = blitz_core::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Nanoseconds of one of `count`, in the best of `rounds`.
fn best(rounds: u32, count: u64, mut run: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e9 / count as f64
    };
    (0..rounds).map(round).fold(f64::INFINITY, f64::min)
}

fn measure(what: &str) {
    let pool = blitz_core::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    // fib(16) forks 1596 times.
    let join = pool.install(|| {
        best(20_000, 1596, || {
            black_box(fib(16));
        })
    });
    let runtime = blitz_io::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let (spawn, turn, many) = runtime.block_on(async {
        let tasks = blitz_io::spawn(async {
            let mut shortest = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
            for round in 0..10_000 {
                let start = Instant::now();
                let tasks: Vec<_> = (0..100)
                    .map(|n| blitz_io::spawn(async move { n }))
                    .collect();
                for task in tasks {
                    black_box(task.await.unwrap());
                }
                let spawned = start.elapsed().as_secs_f64() * 1e9 / 100.0;
                let start = Instant::now();
                for _ in 0..100 {
                    blitz_io::task::yield_now().await;
                }
                let turned = start.elapsed().as_secs_f64() * 1e9 / 100.0;
                let mut crowd = f64::INFINITY;
                if round % 20 == 0 {
                    let start = Instant::now();
                    let tasks: Vec<_> = (0..10_000)
                        .map(|n| blitz_io::spawn(async move { n }))
                        .collect();
                    for task in tasks {
                        black_box(task.await.unwrap());
                    }
                    crowd = start.elapsed().as_secs_f64() * 1e9 / 10_000.0;
                }
                shortest = (
                    shortest.0.min(spawned),
                    shortest.1.min(turned),
                    shortest.2.min(crowd),
                );
            }
            shortest
        });
        tasks.await.unwrap()
    });
    println!(
        "{what:<24} {join:>6.2} ns a join {spawn:>7.1} ns a task {many:>7.1} ns one of 10,000 {turn:>6.1} ns a poll"
    );
}

/// Does `what` about `count` times, on one thread.
fn only(what: &str, count: u64) {
    let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1);
    let run = |rounds: u64, polls: bool, here: bool| {
        let runtime = if here {
            blitz_io::Builder::new_current_thread().build().unwrap()
        } else {
            let mut builder = blitz_io::Builder::new_multi_thread();
            builder.worker_threads(1).build().unwrap()
        };
        runtime.block_on(async {
            let outer = blitz_io::spawn(async move {
                for _ in 0..rounds {
                    if polls {
                        blitz_io::task::yield_now().await;
                        continue;
                    }
                    let tasks: Vec<_> = (0..100)
                        .map(|n| blitz_io::spawn(async move { n }))
                        .collect();
                    for task in tasks {
                        black_box(task.await.unwrap());
                    }
                }
            });
            outer.await.unwrap();
        });
    };
    match what {
        "tasks" => run(count / 100, false, false),
        "tasks-here" => run(count / 100, false, true),
        "polls" => run(count, true, false),
        "polls-here" => run(count, true, true),
        "joins" => pool.build().unwrap().install(|| {
            for _ in 0..count / 1596 {
                black_box(fib(16));
            }
        }),
        other => panic!("what are '{other}'?"),
    }
}

fn look(console: &blitz_console::Serving) {
    let mut stream = TcpStream::connect(console.local_addr()).unwrap();
    stream
        .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    std::thread::spawn(move || while stream.read(&mut [0; 65536]).is_ok_and(|read| read > 0) {});
    std::thread::sleep(std::time::Duration::from_millis(600));
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [what, count, rest @ ..] = &words[..] {
        let console = (!rest.is_empty()).then(|| blitz_console::serve("127.0.0.1:0").unwrap());
        console.iter().for_each(look);
        return only(what, count.parse().expect("how many?"));
    }
    let hooks = cfg!(feature = "hooks");
    let console = blitz_console::serve("127.0.0.1:0").unwrap();
    measure(if hooks {
        "hooks, nobody looks"
    } else {
        "no hooks"
    });
    if !hooks {
        return;
    }
    look(&console);
    measure("hooks, somebody looks");
}
