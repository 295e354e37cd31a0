//! Things that come to be where others were; faults of threads that have not run.

use super::*;

/// It begins when others have all CPUs.
#[test]
fn a_relief_thread_that_has_not_run_is_not_at_fault() {
    let fault = |worker, relief_thread| {
        let server = Server {
            number: 2,
            worker,
            relief_thread,
            polling: None,
        };
        let mut core = CoreSeen {
            progress: 1,
            spawned: None,
            was_looked_up: false,
            since: 0.0,
            behind: 0,
            long: None,
            ran: None,
        };
        core.is_at_fault(&server, None)
    };
    // Nobody knows.
    assert!(fault(Some(1), None));
    assert!(!fault(None, None));
    // This one wants a CPU, and has not run since anybody asked.
    use std::sync::atomic::{AtomicBool, Ordering};
    let goes_on = &AtomicBool::new(true);
    std::thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        scope.spawn(move || {
            tell.send(engine::thread_number()).unwrap();
            while goes_on.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let thread = told.recv().unwrap();
        // It may be in the middle of telling.
        std::thread::sleep(Duration::from_millis(20));
        let faults = fault(None, Some(thread));
        goes_on.store(false, Ordering::Relaxed);
        assert!(!faults);
    });
}

fn nobody_is_there() {
    while !engine::pools().is_empty() {
        std::thread::yield_now();
    }
}

/// The two are the same memory, now and then.
#[test]
fn a_pool_in_the_place_of_another_is_another() {
    let pool = |threads| {
        blitz::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    };
    let mut met = 0;
    for _ in 0..100 {
        let mut seen = Seen::new();
        seen.open();
        let first = pool(9);
        let key = engine::pools()[0].key();
        seen.sample(0.0, 4.0);
        seen.fill(&mut Frame::default());
        first.shutdown();
        drop(first);
        nobody_is_there();
        // One of them is where the first one was, mostly.
        let others: Vec<_> = (0..8).map(|_| pool(1)).collect();
        met += u32::from(engine::pools().iter().any(|pool| pool.key() == key));
        let mut frame = Frame::default();
        seen.fill(&mut frame);
        for (index, pool) in frame.pools.iter().enumerate() {
            assert_eq!(pool.workers.len(), 1);
            assert_eq!(pool.name, format!("#{}", index + 2), "the name of another");
        }
        others.iter().for_each(blitz::ThreadPool::shutdown);
        drop(others);
        nobody_is_there();
    }
    assert_eq!(met, 0, "two pools had the same key");
}

/// They are the same memory, mostly, and spawned by the same line.
#[test]
fn a_task_in_the_place_of_another_inherits_nothing() {
    let runtime = blitz_io::Builder::new_current_thread().build().unwrap();
    let mut seen = Seen::new();
    seen.open();
    let (mut addresses, mut numbers) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let named = blitz_io::task::Builder::new().name("one after the other");
        let forever = std::future::pending::<()>();
        let task = named.spawn_on(forever, runtime.handle()).unwrap();
        runtime.block_on(blitz_io::task::yield_now());
        let mut frame = Frame::default();
        seen.fill(&mut frame);
        let named = |task: &&Task| task.name == "one after the other";
        let shown = frame.tasks.iter().find(named).unwrap();
        assert_eq!((shown.polls, shown.busy), (1, 0.0));
        let mut known = seen.tasks.iter_mut();
        let (&address, known) = known.find(|(_, known)| known.number == shown.id).unwrap();
        known.busy = 1000.0;
        addresses.push(address);
        numbers.push(shown.id);
        // Seen again, it is the same.
        let mut frame = Frame::default();
        seen.fill(&mut frame);
        let shown = frame.tasks.iter().find(named).unwrap();
        assert_eq!(Some(&shown.id), numbers.last());
        task.abort();
        runtime.block_on(async { task.await.unwrap_err() });
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 50, "two tasks had the same number");
    addresses.sort_unstable();
    addresses.dedup();
    println!("different addresses: {}", addresses.len());
}

#[test]
fn polls_are_counted_beyond_what_tasks_can_count() {
    let runtime = blitz_io::Builder::new_current_thread().build().unwrap();
    let _task = runtime.spawn(async {});
    let mut view = None;
    for runtime in io::runtimes() {
        runtime.tasks(1, |task| view = Some(task));
    }
    let mut view = view.unwrap();
    view.polls = u32::MAX - 1;
    let mut seen = TaskSeen::new(&view, 0.0);
    for polls in u64::from(u32::MAX) - 1..(1 << 32) + 3 {
        view.polls = polls as u32;
        seen.update(&view);
        assert_eq!(seen.polls, polls);
    }
}

#[test]
fn a_scheduler_in_the_place_of_another_is_another() {
    let runtime = || {
        let mut builder = blitz_io::Builder::new_current_thread();
        builder.name("one of many").build().unwrap()
    };
    let address = || {
        let all = io::runtimes().into_iter();
        let own = all.filter(|runtime| runtime.name() == Some("one of many"));
        own.map(|runtime| runtime.scheduler()).next()
    };
    let mut met = 0;
    for _ in 0..100 {
        let mut seen = Seen::new();
        seen.open();
        let first = runtime();
        let place = address();
        seen.sample(0.0, 4.0);
        drop(first);
        let _other = runtime();
        met += u32::from(address() == place);
        let shown = |seen: &mut Seen| {
            let mut frame = Frame::default();
            seen.fill(&mut frame);
            let mut own = frame.runtimes.into_iter();
            let own = own.find(|runtime| runtime.name.starts_with("one of many"));
            own.unwrap().relief
        };
        assert_eq!(shown(&mut seen), [0.0; 3]);
        seen.sample(8.0, 4.0);
        assert_eq!(shown(&mut seen), [0.0, 0.0, 4.0]);
    }
    println!("in the same place: {met} times");
}
