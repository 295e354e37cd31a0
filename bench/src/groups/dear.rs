//! Group `dear`: few dear items on more threads than this machine may have CPUs.
//!
//! An item sleeps for 5 ms, so that any number of threads can run at the same time. With twice as many items as threads, a
//! thread that has nothing to do for the time of one item costs half of the speed: whoever waits for a part of the loop
//! has to help with the others, and thieves have to take large parts. `seq` is what the items would take if every thread
//! always had one: the bound, not a measurement.
//!
//! Then loops whose items are not what they were: the same code has run over cheap ones a thousand times just before, the dear ones come last, or it is
//! not the items that are dear but the clones that the threads are given. And the first run of a loop in a process, when nobody knows what its items take: dear ones, and a
//! thousand numbers after that.

use std::time::Duration;

use crate::args::Options;
use crate::arms::{Cpus, Lib};
use crate::child;
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;

/// How long an item takes.
const ITEM: Duration = Duration::from_millis(5);

/// Items and threads.
const SHAPES: [(u64, usize); 5] = [(4, 4), (16, 16), (16, 8), (24, 8), (32, 16)];

/// Loops in a loop: how many, of how many items, on how many threads.
const NESTED: (u64, u64, usize) = (4, 8, 8);

macro_rules! arm {
    ($library:ident, $threads:expr, $expected:expr, $loop:expr) => {{
        let builder = $library::ThreadPoolBuilder::new().num_threads($threads);
        let pool = builder.build().expect("threads can be started");
        Arm::new(stringify!($library), move |calls| {
            timed(calls, $expected, || pool.install($loop))
        })
    }};
}

/// Runs the group.
pub fn run(options: &Options, _cpus: &Cpus) -> Vec<Row> {
    let mut session = Session::new("dear", options.clone());
    for (items, threads) in SHAPES {
        flat(&mut session, items, threads);
    }
    nested(&mut session);
    changing(&mut session);
    first_runs(&mut session);
    session.into_rows()
}

fn item(number: u64) -> u64 {
    std::thread::sleep(ITEM);
    number
}

/// A loop over dear items.
macro_rules! items {
    ($library:ident, $items:expr) => {{
        use $library::prelude::*;
        (0..$items).into_par_iter().map(item).sum::<u64>()
    }};
}

/// Loops over dear items in a loop.
macro_rules! loops {
    ($library:ident, $loops:expr, $items:expr) => {{
        use $library::prelude::*;
        let loops = (0..$loops).into_par_iter();
        loops.map(|_| items!($library, $items)).sum::<u64>()
    }};
}

fn bound(items: u64, threads: usize, expected: u64) -> Arm<'static> {
    let rounds = items.div_ceil(threads as u64);
    Arm::new("seq", move |calls| {
        timed(calls, expected, || {
            (0..rounds).for_each(|_| std::thread::sleep(ITEM));
            expected
        })
    })
}

fn flat(session: &mut Session, items: u64, threads: usize) {
    let expected = items * (items - 1) / 2;
    let arms = vec![
        bound(items, threads, expected),
        arm!(blitz, threads, expected, || items!(blitz, items)),
        arm!(rayon, threads, expected, || items!(rayon, items)),
    ];
    let name = format!("on {threads} threads");
    session.bench(&name, items, Gap::BackToBack, arms);
}

fn nested(session: &mut Session) {
    let (loops, items, threads) = NESTED;
    let expected = loops * (items * (items - 1) / 2);
    let arms = vec![
        bound(loops * items, threads, expected),
        arm!(blitz, threads, expected, || loops!(blitz, loops, items)),
        arm!(rayon, threads, expected, || loops!(rayon, loops, items)),
    ];
    let name = format!("nested, on {threads} threads");
    session.bench(&name, loops * items, Gap::BackToBack, arms);
}

/// Loops of each library for items that change. A loop is compiled once for all of its items, cheap or dear: what is remembered of it is about both.
macro_rules! changing_arms {
    ($library:ident, $threads:expr, $rows:expr) => {{
        use $library::prelude::*;

        fn over(items: u64, item: &(dyn Fn(u64) -> u64 + Sync)) -> u64 {
            (0..items).into_par_iter().map(|number| item(number)).sum()
        }

        fn inner(items: u64, item: &(dyn Fn(u64) -> u64 + Sync)) -> u64 {
            let sums = (0..2u64).into_par_iter().map(|_| over(items, item));
            sums.sum::<u64>() / 2
        }

        fn halves(items: u64, item: &(dyn Fn(u64) -> u64 + Sync)) -> u64 {
            let cut = |range: std::ops::Range<u64>| {
                let middle = range.start.midpoint(range.end);
                if middle == range.start {
                    (range, None)
                } else {
                    (range.start..middle, Some(middle..range.end))
                }
            };
            let parts = $library::iter::split(0..items, cut);
            parts.map(|range| range.map(item).sum::<u64>()).sum()
        }

        /// Two loops of sixteen items each, behind four hundred loops over nothing that are tiny.
        fn last_of_loops(item: &(dyn Fn(u64) -> u64 + Sync)) -> u64 {
            let inner = |outer: u64| {
                let items = (0..16u64).into_par_iter();
                items
                    .map(|number| if outer < 400 { 0 } else { item(number) })
                    .sum::<u64>()
            };
            (0..402u64).into_par_iter().map(inner).sum::<u64>() / 2
        }

        fn clones(items: u64) -> u64 {
            let numbers = (0..items).into_par_iter();
            numbers.map_with(Slow, |_, number| item(number)).sum()
        }

        fn call(row: Changing) -> u64 {
            let warm_up = |run: fn(u64, &(dyn Fn(u64) -> u64 + Sync)) -> u64| {
                (0..1000).map(|_| run(4, &|_| 0)).sum::<u64>() + run(16, &item)
            };
            match row {
                Changing::Nested => warm_up(inner),
                Changing::Split => warm_up(halves),
                Changing::DearLast => over(2000, &|number| match number {
                    1984.. => item(number - 1984),
                    _ => 0,
                }),
                Changing::LastOfLoops => {
                    let cheap = (0..200).map(|_| last_of_loops(&|_| 0)).sum::<u64>();
                    cheap + (0..3).map(|_| last_of_loops(&item)).sum::<u64>() / 3
                }
                Changing::Clones => clones(16),
            }
        }

        $rows.map(|row| arm!($library, $threads, 120, move || call(row)))
    }};
}

/// What changes.
#[derive(Clone, Copy)]
enum Changing {
    Nested,
    Split,
    DearLast,
    LastOfLoops,
    Clones,
}

/// Takes as long to clone as an item.
struct Slow;

impl Clone for Slow {
    fn clone(&self) -> Self {
        std::thread::sleep(ITEM);
        Slow
    }
}

fn changing(session: &mut Session) {
    const THREADS: usize = 8;
    let rows = [
        ("nested, tiny before", Changing::Nested),
        ("split, tiny before", Changing::Split),
        ("the last of 2000", Changing::DearLast),
        ("the last of 402 loops, three runs", Changing::LastOfLoops),
        ("clones", Changing::Clones),
    ];
    let which = rows.map(|(_, row)| row);
    let blitz = changing_arms!(blitz, THREADS, which);
    let rayon = changing_arms!(rayon, THREADS, which);
    for (((name, row), blitz), rayon) in rows.into_iter().zip(blitz).zip(rayon) {
        // Two loops of sixteen at once; or sixteen, of which each thread has two; or those, after the first clones.
        let items = match row {
            Changing::Nested => 32,
            Changing::LastOfLoops => 3 * 32,
            Changing::Split | Changing::DearLast | Changing::Clones => 16,
        };
        let arms = vec![bound(items, THREADS, 120), blitz, rayon];
        session.bench(name, items, Gap::BackToBack, arms);
    }
}

/// First word of the hidden measurement.
pub const CHILD: &str = "dear";

const FIRST: &str = "first run, on 4 threads";
const FIRST_CHEAP: &str = "first run, cheap";

fn first_runs(session: &mut Session) {
    if !session.wants(FIRST) && !session.wants(FIRST_CHEAP) {
        return;
    }
    let libs = [Lib::Seq, Lib::Blitz, Lib::Rayon];
    let programs = libs.map(|lib| vec![CHILD.to_string(), lib.name().to_string()]);
    let rounds = if session.options.quick { 11 } else { 31 };
    let rows = child::interleaved(&session.options, rounds, programs.into_iter());
    let wanted = rows.into_iter().filter(|row| session.wants(&row.bench));
    let wanted: Vec<Row> = wanted.collect();
    wanted.into_iter().for_each(|row| session.push(row));
}

/// The hidden measurement: `LIB`.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let [lib] = words else {
        return Err("dear needs LIB".into());
    };
    let (items, threads) = (4, 4);
    let values: Vec<u64> = (0..1000).collect();
    let (dear, cheap) = (items * (items - 1) / 2, values.iter().map(|x| x + 1).sum());
    macro_rules! first {
        ($library:ident) => {{
            use $library::prelude::*;
            let builder = $library::ThreadPoolBuilder::new().num_threads(threads);
            let pool = builder.build().expect("threads can be started");
            // The pool is awake and asleep again, and no loop has run.
            pool.install(|| $library::join(|| item(0), || item(1)));
            std::thread::sleep(ITEM);
            let slow = timed(1, dear, || pool.install(|| items!($library, items)));
            std::thread::sleep(ITEM);
            let sum = || values.par_iter().map(|x| x + 1).sum::<u64>();
            (slow, pool.install(|| timed(1, cheap, sum)))
        }};
    }
    let (slow, quick) = match Lib::named(lib).ok_or("no such library")? {
        Lib::Seq => {
            let sum = || values.iter().map(|x| x + 1).sum::<u64>();
            (ITEM, timed(1, cheap, sum))
        }
        Lib::Blitz => first!(blitz),
        Lib::Rayon => first!(rayon),
        _ => return Err("no loops in that library".into()),
    };
    let row = |bench: &str, size, time: Duration| Row {
        group: "dear".into(),
        bench: bench.into(),
        size,
        lib: lib.clone(),
        ns: time.as_nanos() as f64,
        spread: 0.0,
        usage: None,
        unpinned: None,
    };
    Ok(vec![row(FIRST, items, slow), row(FIRST_CHEAP, 1000, quick)])
}
