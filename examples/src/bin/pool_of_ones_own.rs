//! A library with a pool of its own: it starts with the library, blocks without losing threads, and is gone when the library is.
//!
//! The pool sits in a struct that anybody may share. Its jobs ask a slow service, one answer at a time, through a lock of the standard library: `block_in_place` lets other
//! threads of the pool's kind work meanwhile. `close` finishes what is there, joins the threads, and says so if somebody does not stop.

use blitz::{ThreadPool, ThreadPoolBuilder, block_in_place};
use blitz_examples::Recipe;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Answers one question at a time, and takes its time for it.
#[derive(Default)]
struct Service(Mutex<u64>);

impl Service {
    fn ask(&self, number: u64) -> u64 {
        let mut asked = self.0.lock().expect("nobody panics");
        thread::sleep(Duration::from_micros(100));
        *asked += 1;
        number * number
    }
}

struct Library {
    pool: ThreadPool,
    service: Arc<Service>,
}

impl Library {
    fn open() -> Self {
        // An error would say which thread could not be started, and leave none.
        let pool = ThreadPoolBuilder::new().num_threads(2).build();
        Library {
            pool: pool.expect("two threads"),
            service: Arc::default(),
        }
    }

    fn request(&self, number: u64, answers: Sender<(u64, u64)>) {
        let service = Arc::clone(&self.service);
        self.pool.spawn(move || {
            let square = block_in_place(|| service.ask(number));
            // This part computes, on as many threads as the pool has.
            let digits = (0..2000).fold(square, |sum, n| sum.wrapping_mul(31) ^ n);
            answers.send((number, digits)).expect("somebody listens");
        });
    }

    fn close(&self) {
        while !self.pool.shutdown_timeout(Duration::from_secs(10)) {
            println!("  still waiting for the last answers");
        }
    }
}

fn main() {
    let recipe = Recipe::start("A pool of one's own: blocking, and an end");
    let requests = recipe.size(2000, 200) as u64;
    let library = Library::open();
    let (answers, receiver) = channel();
    for number in 0..requests {
        library.request(number, answers.clone());
    }
    drop(answers);
    library.close();
    // Nobody sends any more: the pool is gone.
    let mut numbers: Vec<u64> = receiver.iter().map(|(number, _)| number).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..requests), "every answer, once");
    assert_eq!(*library.service.0.lock().expect("nobody panics"), requests);
    println!("  {requests} answers, and no thread left");
}
