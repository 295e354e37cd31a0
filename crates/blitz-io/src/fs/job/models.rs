//! Loom models of writing to a file: what was accepted is written when a flush returns, and nobody waits for ever.
//! "Maximum number of branches" stands for a user who does.

use super::*;
use crate::modelling::{Woken, block_on};
use blitz_core::checking::model::{Race, oversleeping_race, race};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Wake;

/// A file: what has been written to it.
type File = Arc<Mutex<Vec<u8>>>;

/// The user of a file.
struct User {
    shared: Arc<Shared>,
    file: File,
    threads: Arc<Threads>,
}

/// The threads for jobs, of which there is one.
struct Threads {
    jobs: Mutex<VecDeque<Option<Job<File>>>>,
    told: Arc<Woken>,
}

impl Threads {
    fn push(&self, job: Option<Job<File>>) {
        self.jobs.lock().unwrap().push_back(job);
        self.told.clone().wake();
    }

    /// Does something with each job until there are no more.
    fn each(&self, mut run: impl FnMut(Job<File>)) {
        loop {
            let next = self.jobs.lock().unwrap().pop_front();
            match next {
                None => self.told.wait(),
                Some(None) => return,
                Some(Some(job)) => run(job),
            }
        }
    }
}

fn write_down(file: &File, bytes: &[u8]) -> io::Result<()> {
    file.lock().unwrap().extend_from_slice(bytes);
    Ok(())
}

impl User {
    fn new(flaws: Flaws<Flaw>, limit: usize) -> Self {
        let shared = Shared::with_flaws(flaws);
        shared.with(|state| state.limit = limit);
        User {
            shared,
            file: Arc::new(Mutex::new(Vec::new())),
            threads: Arc::new(Threads {
                jobs: Mutex::new(VecDeque::new()),
                told: Woken::new(),
            }),
        }
    }

    /// As a file does it.
    fn write(&self, byte: u8) -> io::Result<()> {
        let accepted = block_on(poll_fn(|cx| {
            self.shared.polling(cx, |state, waker| {
                let accepted = state.poll_accept(waker, &[IoSlice::new(&[byte])]);
                if accepted.is_ready() && state.under_way.is_none() {
                    let job = self.shared.begin(state, Work::Write, self.file.clone());
                    self.threads.push(Some(job));
                }
                accepted
            })
        }));
        accepted.map(|length| assert_eq!(length, 1))
    }

    fn flush(&self) -> io::Result<()> {
        block_on(poll_fn(|cx| {
            self.shared
                .polling(cx, |state, waker| state.poll_written(waker))
        }))
    }
}

/// A user who writes two bytes and flushes, and the thread that writes them.
fn user_and_thread(flaws: Flaws<Flaw>, limit: usize) -> Race<()> {
    let user = User::new(flaws, limit);
    let threads = user.threads.clone();
    Race::new(|_| {})
        .thread(move || {
            user.write(1).unwrap();
            user.write(2).unwrap();
            user.flush().unwrap();
            assert_eq!(*user.file.lock().unwrap(), [1, 2], "what flush promised");
            user.threads.push(None);
        })
        .thread(move || threads.each(|job| job.write_rounds(Ok(()), write_down)))
}

#[test]
fn loom_what_was_accepted_is_written_when_flush_returns() {
    race::<2, _>(|| user_and_thread(Flaws::NONE, 10));
}

#[test]
fn loom_whoever_waits_for_room_gets_it() {
    race::<2, _>(|| user_and_thread(Flaws::NONE, 1));
}

#[test]
fn loom_a_job_that_is_dropped_is_an_error_of_the_flush() {
    race::<2, _>(|| {
        let user = User::new(Flaws::NONE, 10);
        let threads = user.threads.clone();
        Race::new(|_| {})
            .thread(move || {
                user.write(1).unwrap();
                assert!(user.flush().is_err());
                user.flush().unwrap();
                user.threads.push(None);
            })
            .thread(move || threads.each(drop))
    });
}

#[test]
#[should_panic(expected = "what flush promised")]
fn loom_ending_in_two_steps_forgets_bytes() {
    race::<2, _>(|| user_and_thread(Flaws::only(Flaw::EndsInTwoSteps), 10));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_waking_before_the_change_leaves_somebody_behind() {
    oversleeping_race::<2, _>(|flawed| {
        user_and_thread(Flaws::only_if(flawed, Flaw::WakesBeforeChange), 10)
    });
}
