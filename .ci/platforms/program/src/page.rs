//! A page in a browser with threads: a pool whose threads are workers of the page (`spawn_handler`), used from the page's own thread, which must never block.
//! Neither the standard library nor this program can start a worker, so the host (`page.mjs`) does: each of its workers calls `page::thread`.
//!
//! Ends with a trap if something is wrong.

#[cfg(not(all(
    target_family = "wasm",
    target_os = "unknown",
    target_feature = "atomics"
)))]
fn main() {
    println!("only for pages with threads");
}

#[cfg(all(
    target_family = "wasm",
    target_os = "unknown",
    target_feature = "atomics"
))]
fn main() {}

#[cfg(all(
    target_family = "wasm",
    target_os = "unknown",
    target_feature = "atomics"
))]
mod page {
    use rayon::prelude::*;
    use std::collections::{HashSet, VecDeque};
    use std::hint::black_box;
    use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
    use std::sync::{Arc, Condvar, Mutex};

    /// Threads of pools that no worker has begun yet.
    static WAITING: Mutex<VecDeque<rayon::ThreadBuilder>> = Mutex::new(VecDeque::new());
    static CALL: Condvar = Condvar::new();
    /// What a worker of the host has ended.
    static ENDED: AtomicU32 = AtomicU32::new(0);

    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        /// Shows a text.
        fn say(text: *const u8, bytes: usize);
    }

    fn says(text: &str) {
        // SAFETY: a text of this length, which the host reads meanwhile.
        unsafe { say(text.as_ptr(), text.len()) };
    }

    /// For a worker's stack and its thread-locals; never freed.
    #[unsafe(no_mangle)]
    extern "C" fn room(bytes: usize) -> *mut u8 {
        Box::leak(vec![0_u128; bytes.div_ceil(16)].into_boxed_slice())
            .as_mut_ptr()
            .cast()
    }

    /// The life of a worker: one thread of a pool after the other.
    #[unsafe(no_mangle)]
    extern "C" fn thread() {
        loop {
            let mut waiting = WAITING.lock().unwrap();
            let thread = loop {
                match waiting.pop_front() {
                    Some(thread) => break thread,
                    None => waiting = CALL.wait(waiting).unwrap(),
                }
            };
            drop(waiting);
            thread.run();
            ENDED.fetch_add(1, Ordering::Release);
        }
    }

    /// A worker of the host takes it. The lock is never held for long, and this thread may not wait for it.
    fn spawn(thread: rayon::ThreadBuilder) -> std::io::Result<()> {
        let mut waiting = loop {
            if let Ok(waiting) = WAITING.try_lock() {
                break waiting;
            }
        };
        waiting.push_back(thread);
        CALL.notify_one();
        Ok(())
    }

    /// Everything, on the page's own thread. There are workers for two pools of so many threads.
    #[unsafe(no_mangle)]
    extern "C" fn check(threads: usize) {
        std::panic::set_hook(Box::new(|info| says(&info.to_string())));
        let builder = || rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder().spawn_handler(spawn).build_global().unwrap();
        assert_eq!(rayon::current_num_threads(), threads);
        says("the global pool has its threads");
        everything();
        says("computations of the global pool are right");
        let pool = builder().spawn_handler(spawn).build().unwrap();
        pool.install(everything);
        let indices = pool.broadcast(|context| context.index());
        assert!(indices.into_iter().eq(0..threads));
        says("and so are those of another");
        drop(pool);
        while ENDED.load(Ordering::Acquire) < threads as u32 {
            std::hint::spin_loop();
        }
        says("whose threads have ended");
        shares(threads);
        says("dear work is shared");
        contention();
        says("nobody minds who else wants a lock");
        while_all_are_busy();
        says("nor whether all others are busy");
    }

    fn fib(n: u32) -> u64 {
        if n < 2 {
            return n.into();
        }
        let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
        a + b
    }

    fn everything() {
        assert_eq!(fib(22), 17_711);
        let sum = AtomicUsize::new(0);
        rayon::scope(|scope| {
            for i in 0..1000 {
                let sum = &sum;
                scope.spawn(move |_| _ = sum.fetch_add(i, Ordering::Relaxed));
            }
        });
        assert_eq!(sum.into_inner(), 499_500);
        let v: Vec<u64> = (0..300_000_u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
            .collect();
        let mut sorted = v.clone();
        sorted.sort_unstable();
        let mut ours = v.clone();
        ours.par_sort_unstable();
        assert_eq!(ours, sorted);
        let mut ours = v.clone();
        ours.par_sort_by_key(|n| std::cmp::Reverse(*n));
        assert!(ours.iter().eq(sorted.iter().rev()));
        let even: Vec<u64> = v.par_iter().copied().filter(|n| n % 2 == 0).collect();
        assert!(even.iter().eq(v.iter().filter(|n| *n % 2 == 0)));
        assert_eq!(v.par_iter().position_first(|n| *n == v[777]), Some(777));
        let results: Result<Vec<u64>, u64> = v
            .par_iter()
            .map(|n| if *n == v[9] { Err(*n) } else { Ok(*n) })
            .collect();
        assert_eq!(results, Err(v[9]));
        let done = Arc::new(AtomicU32::new(0));
        for _ in 0..100 {
            let done = Arc::clone(&done);
            rayon::spawn(move || _ = done.fetch_add(1, Ordering::Release));
        }
        while done.load(Ordering::Acquire) < 100 {
            // On a pool's thread: one of them may wait in its own deque.
            rayon::yield_now();
        }
    }

    /// A few milliseconds, if not optimised away.
    fn dear() -> u64 {
        (0..2_000_000_u64).fold(1, |a, b| black_box(a ^ b))
    }

    /// Threads that sleep are woken for a loop of dear items: what it costs is measured.
    fn shares(threads: usize) {
        let mut loops = 0;
        for _ in 0..20 {
            // Long enough for them to fall asleep.
            (0..20).for_each(|_| _ = black_box(dear()));
            let helpers: HashSet<_> = (0..4 * threads)
                .into_par_iter()
                .map(|_| {
                    black_box(dear());
                    rayon::current_thread_index()
                })
                .collect();
            loops += u32::from(helpers.len() > 1);
        }
        // A thread may not get a CPU in time, now and then.
        assert!(loops >= 10, "others took part in {loops} loops of 20");
    }

    /// No thread of the pool has time for a while, so that the page's thread has to wait, or to do it all itself.
    fn while_all_are_busy() {
        let busy = Arc::new(AtomicUsize::new(0));
        for _ in 0..rayon::current_num_threads() {
            let busy = Arc::clone(&busy);
            rayon::spawn(move || {
                busy.fetch_add(1, Ordering::Release);
                (0..100).for_each(|_| _ = black_box(dear()));
            });
        }
        while busy.load(Ordering::Acquire) < rayon::current_num_threads() {
            std::hint::spin_loop();
        }
        assert_eq!(fib(15), 610);
        says("joins");
        assert_eq!((0..100_000_u64).into_par_iter().sum::<u64>(), 4_999_950_000);
        rayon::scope(|scope| scope.spawn(|_| _ = black_box(fib(10))));
        says("scope");
        let all = rayon::broadcast(|_| ());
        assert_eq!(all.len(), rayon::current_num_threads());
    }

    /// The page's thread in the same places as all others, again and again.
    fn contention() {
        for round in 0..2000_u32 {
            let hits = AtomicU32::new(0);
            rayon::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|scope| {
                        hits.fetch_add(1, Ordering::Relaxed);
                        scope.spawn(|_| _ = hits.fetch_add(1, Ordering::Relaxed));
                    });
                }
            });
            assert_eq!(hits.into_inner(), 16);
            if round % 50 == 0 {
                let all = rayon::broadcast(|_| black_box(dear() & 1));
                assert_eq!(all.len(), rayon::current_num_threads());
            }
        }
    }
}
