//! Runs a future on a runtime of its own, and does not wait for ever.
#![allow(dead_code)]

pub mod chaos;
pub mod elsewhere;

use blitz_io::task::yield_now;
use blitz_io::time::timeout;
use blitz_io::{Builder, Runtime, spawn};
use std::collections::HashSet;
use std::future::Future;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

/// What a test may take, at the very most.
const LIMIT: Duration = Duration::from_secs(60);

pub fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).build().unwrap()
}

/// Runs what `test` returns on two workers.
pub fn run<F, T>(test: impl FnOnce() -> F + Send + 'static) -> T
where
    F: Future<Output = T>,
    T: Send + 'static,
{
    run_on(|| runtime(2), test)
}

/// As [`run`], on another runtime. A second watch, outside, is for the case that it is the runtime that hangs.
pub fn run_on<F, T>(
    runtime: impl FnOnce() -> Runtime + Send + 'static,
    test: impl FnOnce() -> F + Send + 'static,
) -> T
where
    F: Future<Output = T>,
    T: Send + 'static,
{
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let result = runtime().block_on(async { test().await });
        sender.send(result).unwrap();
    });
    match receiver.recv_timeout(LIMIT) {
        Ok(result) => {
            thread.join().unwrap();
            result
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().unwrap_err())
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the runtime hangs"),
    }
}

/// Runs `test` on a thread of its own, which must come back.
pub fn within_a_minute(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(test));
        done.send(()).unwrap();
        result
    });
    is_done.recv_timeout(LIMIT).expect("hangs");
    if let Err(panic) = thread.join().unwrap() {
        std::panic::resume_unwind(panic);
    }
}

/// Awaits something that must not take long.
pub async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future)
        .await
        .expect("takes too long")
}

/// Runs `body` in `number` tasks, and returns on how many threads they ran.
pub async fn in_tasks<F>(number: usize, body: impl Fn(usize) -> F) -> usize
where
    F: Future<Output = ()> + Send + 'static,
{
    // They begin together, and more than one worker is wanted: whoever is alone yields until another one has come.
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let tasks: Vec<_> = (0..number)
        .map(|index| {
            let (seen, body) = (seen.clone(), body(index));
            spawn(async move {
                while seen.lock().unwrap().len() < 2 {
                    seen.lock().unwrap().insert(thread::current().id());
                    yield_now().await;
                }
                body.await;
                seen.lock().unwrap().insert(thread::current().id());
            })
        })
        .collect();
    for task in tasks {
        soon(task).await.unwrap();
    }
    seen.lock().unwrap().len()
}

/// Polls a future once, with a waker that does nothing.
pub fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Runs the calling test, called `test`, once more in a process of its own, in which `variable` is set. Returns the first line with `words` that it writes to the standard error; then it is killed.
pub fn line_of_child(test: &str, variable: &str, words: &str) -> Option<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(variable, "1")
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let errors = BufReader::new(child.stderr.take().unwrap());
    let mut lines = errors.lines().map_while(Result::ok);
    let told = lines.find(|line| line.contains(words));
    child.kill().unwrap();
    child.wait().unwrap();
    told
}
